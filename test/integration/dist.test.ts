// What importing the built package does, and does not: few files, no heavy builtins, no system
// resource, one state for all entries.
// Method: a child process imports dist/ and reports about itself. How long it takes is measured by
// bench/cases/import.ts; here are the causes, which do not depend on the machine's load.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/root.ts';

const FS_URL = pathToFileURL(join(ROOT, 'dist', 'fs.js')).href;
const INDEX_URL = pathToFileURL(join(ROOT, 'dist', 'index.js')).href;

const FILES_MAX = 6;
const { exports: publicExports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { default: string }>;
};
const ENTRIES = Object.values(publicExports).flatMap((one) =>
  typeof one === 'string' ? [] : [one.default.replace('./dist/', '')],
);

/** The files of dist/ that importing one of them loads with it. */
function staticImports(name: string): string[] {
  const text = readFileSync(join(ROOT, 'dist', name), 'utf8');
  return [...text.matchAll(/\b(?:from|import)\s*["']\.\/([\w-]+\.js)["']/g)].map(
    ([, file]) => file,
  );
}

beforeAll(() => {
  if (!existsSync(join(ROOT, 'dist', 'fs.js'))) throw new Error('no dist/: npm run build:dist');
});

function run(source: string): unknown {
  const args = ['--input-type=module', '--eval', source];
  const env = { ...process.env, NEPHRITE_BACKEND: '', NEPHRITE_NATIVE_PATH: '' };
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', env }));
}

describe('dist', () => {
  it.each(ENTRIES)('dist: importing %s loads a few files, not a hundred', (entry) => {
    const loaded = new Set([entry]);
    for (const name of loaded) for (const chunk of staticImports(name)) loaded.add(chunk);
    // Itself and what it shares with each set of other entries; a file costs about half a ms.
    expect(loaded.size, [...loaded].join(' ')).toBeLessThanOrEqual(FILES_MAX);
  });

  it('dist: the lint plugin and the library are loaded without each other', () => {
    const url = pathToFileURL(join(ROOT, 'dist', 'eslint_plugin.js')).href;
    const found = run(`
      const { default: plugin } = await import(${JSON.stringify(url)});
      console.log(JSON.stringify({ meta: plugin.meta, rules: Object.keys(plugin.rules) }));
    `);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(found).toEqual({
      meta: { name: 'nephrite', version },
      rules: ['no-bare-yield', 'no-forgotten-operation'],
    });
    expect(staticImports('eslint_plugin.js')).toEqual([]);
    for (const name of readdirSync(join(ROOT, 'dist')).filter((one) => one.endsWith('.js'))) {
      expect(staticImports(name)).not.toContain('eslint_plugin.js');
    }
  });

  it('dist: importing nephrite/fs loads neither worker_threads nor streams of the web', () => {
    const loaded = run(`
      const before = new Set(process.moduleLoadList);
      await import(${JSON.stringify(FS_URL)});
      console.log(JSON.stringify(process.moduleLoadList.filter((name) => !before.has(name))));
    `) as string[];
    const heavy = /worker_threads|internal\/worker$|webstreams|undici|internal\/crypto/;
    expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'dist: importing opens no descriptor and maps no addon; the first operation does',
    () => {
      const found = run(`
        import { readdirSync, readlinkSync } from 'node:fs';
        const look = () => ({
          rings: readdirSync('/proc/self/fd').flatMap((fd) => {
            try { return [readlinkSync('/proc/self/fd/' + fd)]; } catch { return []; }
          }).filter((target) => /io_uring|eventfd|eventpoll/.test(target)).length,
          addons: process.report.getReport().sharedObjects
            .filter((name) => /nephrite[^/]*\\.node$/.test(name)).length,
        });
        const before = look();
        const { open } = await import(${JSON.stringify(FS_URL)});
        const imported = look();
        await (await open('/')).close();
        const used = look();
        console.log(JSON.stringify({
          isUnchanged: imported.rings === before.rings,
          addons: [imported.addons, used.addons],
        }));
      `);
      expect(found).toEqual({ isUnchanged: true, addons: [0, 1] });
    },
  );

  it('dist: nephrite and nephrite/fs are the same library, with one poller', () => {
    const found = run(`
      const fs = await import(${JSON.stringify(FS_URL)});
      const main = await import(${JSON.stringify(INDEX_URL)});
      const operation = fs.open(${JSON.stringify(ROOT)});
      const file = await operation;
      let code = 'configure() was accepted';
      try { main.configure({}); } catch (error) { code = error.code; }
      await file.close();
      console.log(JSON.stringify({ isOperation: operation instanceof main.Operation, code }));
    `);
    expect(found).toEqual({ isOperation: true, code: 'ERR_BACKEND_STARTED' });
  });

  it('dist: a worker terminated while it loads the addon and opens its poller ends quietly', () => {
    // It aborted the process: nothing can be thrown, or read from an object, in a thread that is
    // being terminated. 120 terminations within 4 ms of the import met that every time; a busy
    // machine, where each takes half a second, makes fewer.
    const found = run(`
      import { Worker } from 'node:worker_threads';
      const source = \`
        import { parentPort } from 'node:worker_threads';
        import { open } from ${JSON.stringify(FS_URL)};
        parentPort.postMessage('imported');
        const file = await open(${JSON.stringify(ROOT)});
        for (;;) await file.stat();
      \`;
      let ended = 0;
      const stopMs = performance.now() + 20_000;
      for (let i = 0; i < 120 && performance.now() < stopMs; i++) {
        const worker = new Worker(source, { eval: true });
        await new Promise((done) => worker.once('message', done));
        const untilMs = performance.now() + (i % 40) / 10;
        while (performance.now() < untilMs);
        await worker.terminate();
        ended++;
      }
      console.log(JSON.stringify(ended));
    `);
    expect(found).toBeGreaterThan(0);
  }, 60_000);
});
