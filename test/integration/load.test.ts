// Loading the real addon: lazily, in workers, twice in one process, from bundles, by a named path.
// Method: most cases run in a child process, since what is tested happens once per process; the
// child runs lib/addon/load.ts bundled by esbuild into a folder of its own, as users' bundlers do.
// Not here: what failing looks like (test/unit/addon/load.test.ts), the installed tarball.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadNative } from '../../lib/addon/load.ts';
import { ROOT } from '../support/root.ts';

let folder: string;
let addonPath: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-load-test-'));
  const load = loadNative();
  if (load.path === undefined) throw new Error(`no addon here: ${JSON.stringify(load.attempts)}`);
  addonPath = load.path;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Bundles lib/addon/load.ts to `outfile`, far away from the package. */
function bundle(outfile: string, format: 'esm' | 'cjs'): string {
  const path = join(folder, outfile);
  mkdirSync(join(path, '..'), { recursive: true });
  buildSync({
    entryPoints: [join(ROOT, 'lib', 'addon', 'load.ts')],
    outfile: path,
    bundle: true,
    format,
    platform: 'node',
    // CommonJS output has no import.meta: esbuild warns, and the code copes.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return path;
}

/** Runs ESM source in a child; what it prints last is JSON. */
function run(source: string, env: Record<string, string> = {}, flags: string[] = []): unknown {
  const script = join(folder, 'main.mjs');
  writeFileSync(script, source);
  const output = execFileSync(process.execPath, [...flags, script], {
    encoding: 'utf8',
    env: { ...process.env, NEPHRITE_NATIVE_PATH: '', ...env },
  });
  return JSON.parse(output);
}

describe('native load: the real addon', () => {
  it('load: finds the addon of this checkout and gives the same object again', () => {
    const load = loadNative();
    expect(load.addon).toBeTypeOf('object');
    expect(load.remedy).toBe('');
    expect(loadNative().addon).toBe(load.addon);
  });

  it('load: an addon that does not fit is refused with the reason, and not kept', () => {
    const refused = loadNative({ path: addonPath, verify: () => 'layout 2, wanted 1' });
    expect(refused.addon).toBeUndefined();
    expect(refused.attempts).toEqual([
      { path: `${addonPath} (given path)`, reason: 'layout 2, wanted 1' },
    ]);
    expect(loadNative({ path: addonPath }).addon).toBeTypeOf('object');
  });

  it.each(['esm', 'cjs'] as const)('load: a %s bundle loads it by a named path', (format) => {
    const file = bundle(`app-${format}/bundle.${format === 'esm' ? 'mjs' : 'cjs'}`, format);
    const found = run(
      `import * as bundle from ${JSON.stringify(file)};
       const { loadNative, setNativePath } = bundle.default ?? bundle;
       const without = loadNative();
       setNativePath(${JSON.stringify(addonPath)});
       const load = loadNative();
       console.log(JSON.stringify({
         without: without.addon === undefined && without.attempts.length > 0,
         path: load.path, isLoaded: typeof load.addon }));`,
    );
    expect(found).toEqual({ without: true, path: addonPath, isLoaded: 'object' });
  });

  it('load: NEPHRITE_NATIVE_PATH names the file, and nothing replaces a wrong one', () => {
    const file = bundle('env/bundle.mjs', 'esm');
    const source = `import { loadNative } from ${JSON.stringify(file)};
      const { path, attempts } = loadNative();
      console.log(JSON.stringify({ path, attempts: attempts.map((one) => one.path) }));`;
    expect(run(source, { NEPHRITE_NATIVE_PATH: addonPath })).toEqual({
      path: addonPath,
      attempts: [],
    });
    expect(run(source, { NEPHRITE_NATIVE_PATH: '/gone.node' })).toEqual({
      attempts: ['/gone.node (NEPHRITE_NATIVE_PATH)'],
    });
  });

  it('load: 20 workers load it at once, and inherit a named path', () => {
    const file = bundle('workers/bundle.mjs', 'esm');
    const found = run(
      `import { Worker, isMainThread, parentPort } from 'node:worker_threads';
       import { loadNative, setNativePath } from ${JSON.stringify(file)};
       if (isMainThread) {
         setNativePath(${JSON.stringify(addonPath)});
         const start = () => new Promise((done, failed) => {
           const worker = new Worker(new URL(import.meta.url));
           worker.once('message', done).once('error', failed);
         });
         const types = await Promise.all(Array.from({ length: 20 }, start));
         console.log(JSON.stringify(types));
       } else {
         parentPort.postMessage(typeof loadNative().addon);
       }`,
    );
    expect(found).toEqual(Array.from({ length: 20 }, () => 'object'));
  });

  it('load: two copies of the package in one process each load their own file', () => {
    const first = bundle('copy-a/bundle.mjs', 'esm');
    const second = bundle('copy-b/bundle.mjs', 'esm');
    const addonCopy = join(folder, 'copy-b', 'nephrite.node');
    copyFileSync(addonPath, addonCopy);
    const found = run(
      `import * as a from ${JSON.stringify(first)};
       import * as b from ${JSON.stringify(second)};
       a.setNativePath(${JSON.stringify(addonPath)});
       b.setNativePath(${JSON.stringify(addonCopy)});
       console.log(JSON.stringify([a.loadNative(), b.loadNative()].map((load) => load.path)));`,
    );
    expect(found).toEqual([addonPath, addonCopy]);
  });

  it('load: one file loaded by two copies gives each its own exports', () => {
    const first = bundle('same-a/bundle.mjs', 'esm');
    const second = bundle('same-b/bundle.mjs', 'esm');
    const found = run(
      `import * as a from ${JSON.stringify(first)};
       import * as b from ${JSON.stringify(second)};
       const path = ${JSON.stringify(addonPath)};
       const [left, right] = [a.loadNative({ path }).addon, b.loadNative({ path }).addon];
       console.log(JSON.stringify([typeof left, typeof right, left !== right]));`,
    );
    expect(found).toEqual(['object', 'object', true]);
  });

  it('load: a process without native addons gets a remedy that names the flag', () => {
    const file = bundle('noaddons/bundle.mjs', 'esm');
    const found = run(
      `import { loadNative } from ${JSON.stringify(file)};
       const { addon, remedy } = loadNative({ path: ${JSON.stringify(addonPath)} });
       console.log(JSON.stringify({ isLoaded: addon !== undefined, remedy }));`,
      {},
      ['--no-addons'],
    );
    expect(found).toMatchObject({ isLoaded: false });
    expect(found).toHaveProperty('remedy', expect.stringContaining('--no-addons'));
  });

  it('load: importing opens no file of the package and maps no addon', () => {
    const file = bundle('lazy/bundle.mjs', 'esm');
    const found = run(
      `import { loadNative } from ${JSON.stringify(file)};
       const isMapped = () => process.report.getReport().sharedObjects
         .some((name) => name === ${JSON.stringify(addonPath)});
       const before = isMapped();
       loadNative({ path: ${JSON.stringify(addonPath)} });
       console.log(JSON.stringify({ before, after: isMapped() }));`,
    );
    expect(found).toEqual({ before: false, after: true });
  });
});
