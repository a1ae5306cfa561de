// The package as users get it: packed with a prebuild, installed with --ignore-scripts, used.
// The second half looks at what the prebuilt addon needs of the system it is loaded on, as binutils
// (which the compiler needs itself) print it: npm's users have older systems than we build on.
// Not here: installs that compile (install_from_source.test.ts).
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { detectLibc } from '../../lib/addon/libc.ts';
import { loadNative } from '../../lib/addon/load.ts';
import { InstalledApp, RUNTIME_DEPENDENCIES } from '../support/installed_app.ts';
import { ROOT } from '../support/root.ts';

/** What Node 20's own Linux binaries need: a lower bound here would help nobody. */
const GLIBC_MAX = '2.28';
const SYSTEM_LIBRARIES = /^(libc|libpthread|libdl|libm|librt|ld-linux[\w-]*)\.so\.\d+$/;
const isGlibc = process.platform === 'linux' && detectLibc() !== 'musl';

let app: InstalledApp;

beforeAll(() => {
  app = new InstalledApp({ hasPrebuild: true, runsScripts: false });
}, 240_000);
afterAll(() => app.remove());

const READ_AND_NAME = `
  import { writeFileSync } from 'node:fs';
  import { backend } from 'nephrite';
  import { readFile } from 'nephrite/fs';
  writeFileSync('input.txt', 'jade');
  const text = await readFile('input.txt', 'utf8');
  const { name, refused } = backend();
  console.log(JSON.stringify({ text, name, refused }));
`;

interface Answer {
  text: string;
  name: string;
  refused: { name: string; reason: string }[];
}

describe('tarball', () => {
  it('tarball: carries what runs and what an install from source needs, nothing else', () => {
    expect(readdirSync(app.packagePath).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin',
      'binding.gyp',
      'dist',
      'native',
      'package.json',
      'prebuilds',
      'scripts',
    ]);
    expect(readdirSync(join(app.packagePath, 'scripts'))).toEqual(['install.js']);
    expect(existsSync(join(app.packagePath, 'dist', 'types', 'fs.d.ts'))).toBe(true);
  });

  it('tarball: brings two small packages besides itself, for installs from source', () => {
    const modules = readdirSync(join(app.path, 'node_modules'));
    const visible = modules.filter((name) => !name.startsWith('.')).sort();
    expect(visible).toEqual(['nephrite', 'node-addon-api', 'node-gyp-build']);
    expect(visible).toEqual(['nephrite', ...RUNTIME_DEPENDENCIES].sort());
  });

  it('tarball: reads a file through the prebuilt addon', () => {
    const answer = JSON.parse(app.run(READ_AND_NAME)) as Answer;
    expect(answer.text).toBe('jade');
    expect(['io_uring', 'epoll', 'kqueue', 'iocp']).toContain(answer.name);
  });

  it('tarball: the command line runs', () => {
    const bin = join(app.path, 'node_modules', '.bin', 'nephrite');
    const result = spawnSync(bin, ['--version'], { cwd: app.path, encoding: 'utf8' });
    expect(result.stderr).toBe('');
    expect(result.stdout).toMatch(/\d+\.\d+\.\d+/);
    expect(result.status).toBe(0);
  });

  it('tarball: without prebuilds it works on the node backend and says why', () => {
    const prebuilds = join(app.packagePath, 'prebuilds');
    const aside = join(app.path, 'prebuilds-aside');
    renameSync(prebuilds, aside);
    try {
      const answer = JSON.parse(app.run(READ_AND_NAME)) as Answer;
      expect(answer.text).toBe('jade');
      expect(answer.name).toBe('node');
      const reasons = answer.refused.map(({ reason }) => reason).join('\n');
      expect(reasons).toContain('prebuilds');
      expect(reasons).toContain(process.arch);
    } finally {
      renameSync(aside, prebuilds);
    }
  });

  it('tarball: the types resolve for a strict consumer', () => {
    writeFileSync(
      join(app.path, 'typed.ts'),
      `import { open, readFile } from 'nephrite/fs';
       export async function size(path: string): Promise<number> {
         const file = await open(path);
         await file.close();
         const bytes: Uint8Array = await readFile(path);
         return bytes.byteLength;
       }`,
    );
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const types = join(ROOT, 'node_modules', '@types');
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023'];
    const args = [tsc, ...flags, '--typeRoots', types, '--types', 'node', 'typed.ts'];
    const result = spawnSync(process.execPath, args, { cwd: app.path, encoding: 'utf8' });
    expect(result.stdout).toBe('');
    expect(result.status).toBe(0);
  });
});

describe.runIf(isGlibc)('prebuild', () => {
  let addonPath: string;
  beforeAll(() => {
    const target = `${process.platform}-${process.arch}`;
    const folder = join(app.packagePath, 'prebuilds', target);
    const [file] = readdirSync(folder);
    addonPath = join(folder, file ?? 'nothing was built');
  });

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
