// What the prebuilt addon needs from the system it is loaded on: npm's users have older ones.
// Method: a real prebuild into a temporary folder, then its dynamic section and symbol versions as
// binutils (which the compiler needs itself) print them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNative } from '../../lib/addon/load.ts';
import { ROOT } from '../support/root.ts';

/** What Node 20's own Linux binaries need: a lower bound here would help nobody. */
const GLIBC_MAX = '2.28';
const SYSTEM_LIBRARIES = /^(libc|libpthread|libdl|libm|librt|ld-linux[\w-]*)\.so\.\d+$/;

const isGlibc = process.platform === 'linux' && loadNative({ path: '/gone' }).libc !== 'musl';
let folder: string;
let addonPath: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-prebuild-test-'));
  const script = join(ROOT, 'scripts', 'prebuild.js');
  execFileSync(process.execPath, [script, `--out=${folder}`], { stdio: 'pipe' });
  const target = join(folder, 'prebuilds', `${process.platform}-${process.arch}`);
  const [file] = readdirSync(target);
  addonPath = join(target, file ?? 'nothing was built');
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.runIf(isGlibc)('prebuild', () => {
  it('prebuild: is named after the C library, so that others do not try it', () => {
    expect(addonPath).toMatch(/nephrite\.glibc\.node$/);
  });

  it('prebuild: loads', () => {
    const load = loadNative({ path: addonPath });
    expect(load.attempts).toEqual([]);
    expect(load.addon).toBeTypeOf('object');
  });

  it('prebuild: needs nothing but the C library, neither libstdc++ nor liburing', () => {
    const dynamic = execFileSync('readelf', ['--dynamic', '--wide', addonPath], {
      encoding: 'utf8',
    });
    const needed = [...dynamic.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map((match) => match[1] ?? '');
    expect(needed).toContain('libc.so.6');
    expect(needed.filter((library) => !SYSTEM_LIBRARIES.test(library))).toEqual([]);
  });

  it(`prebuild: needs no glibc newer than ${GLIBC_MAX}`, () => {
    const symbols = execFileSync('objdump', ['--dynamic-syms', addonPath], { encoding: 'utf8' });
    const versions = [...symbols.matchAll(/\(?GLIBC_([\d.]+)\)?\s+(\S+)/g)];
    expect(versions.length).toBeGreaterThan(10);
    const tooNew = versions.filter((match) => isNewer(match[1] ?? '', GLIBC_MAX));
    expect(tooNew.map((match) => `${match[2]} ${match[1]}`)).toEqual([]);
  });

  it('prebuild: exports only what Node asks for', () => {
    const symbols = execFileSync('objdump', ['--dynamic-syms', addonPath], { encoding: 'utf8' });
    const exported = [...symbols.matchAll(/^\w+ g.*\s(\S+)$/gm)].map((match) => match[1] ?? '');
    expect(exported).toContain('napi_register_module_v1');
    expect(exported.filter((name) => !/^(napi_|node_api_|_init$|_fini$)/.test(name))).toEqual([]);
  });
});

function isNewer(version: string, limit: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [limitMajor = 0, limitMinor = 0] = limit.split('.').map(Number);
  return major > limitMajor || (major === limitMajor && minor > limitMinor);
}
