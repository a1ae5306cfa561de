// Loading the addon when it cannot be loaded: never a throw, always a reason and a remedy.
// Not here: loading the real one, workers, two copies (test/integration/load.test.ts).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { detectLibc } from '../../../lib/addon/libc.ts';
import { loadNative, setNativePath } from '../../../lib/addon/load.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-load-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('native load: arguments', () => {
  it.each([
    [42, 'ERR_INVALID_ARG_TYPE'],
    [undefined, 'ERR_INVALID_ARG_TYPE'],
    ['./nephrite.node', 'ERR_INVALID_ARG_VALUE'],
    ['', 'ERR_INVALID_ARG_VALUE'],
  ])('load: setNativePath refuses %j', (path, code) => {
    expect(() => setNativePath(path as string)).toThrow(expect.objectContaining({ code }));
  });
});

describe('native load: failures', () => {
  it('load: a named path that does not exist is the only thing tried', () => {
    const path = join(folder, 'gone.node');
    const load = loadNative({ path });
    expect(load.addon).toBeUndefined();
    expect(load.path).toBeUndefined();
    expect(load.attempts).toEqual([{ path: `${path} (given path)`, reason: 'no such file' }]);
    expect(load.remedy).toMatch(/npm rebuild nephrite/);
  });

  it('load: a file that is no shared object gives the reason of the dynamic loader', () => {
    const path = join(folder, 'garbage.node');
    writeFileSync(path, 'not an ELF file');
    const load = loadNative({ path });
    expect(load.addon).toBeUndefined();
    expect(load.attempts).toHaveLength(1);
    expect(load.attempts[0]?.reason).toMatch(/garbage\.node|not a valid|invalid ELF/);
  });

  it('load: the report names platform, architecture and C library', () => {
    const load = loadNative({ path: join(folder, 'gone.node') });
    expect(load.platform).toBe(process.platform);
    expect(load.arch).toBe(process.arch);
    expect(load.libc).toBe(detectLibc());
  });

  it.runIf(process.platform === 'linux')('libc: names the library and its version', () => {
    expect(detectLibc()).toMatch(/^glibc \d+\.\d+$|^musl$/);
  });
});
