// Runs a TypeScript entry: `node scripts/run_ts.js <entry.ts> [arguments]`.
// Node 20 cannot strip types, so the entry is bundled with esbuild into one file below
// node_modules/.cache/nephrite and imported in this process. Packages stay external; this package's
// own name, as examples import it, is what its exports say (dist/, which must be built).
// Invariants: the bundle keeps the folder of its source as `import.meta.url`, so code that looks
// for files beside itself works; two runs at once never write the same file.
// Not here: type checking (npm run lint), tests (vitest).
import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const [entry, ...rest] = process.argv.slice(2);
if (entry === undefined) {
  console.error('usage: node scripts/run_ts.js <entry.ts> [arguments]');
  process.exit(2);
}

const entryPath = resolve(entry);
const cacheDir = join(root, 'node_modules', '.cache', 'nephrite');
mkdirSync(cacheDir, { recursive: true });
const outfile = join(cacheDir, `run-${process.pid}-${Date.now().toString(36)}.mjs`);

// Every source sees its own URL, as it would unbundled.
/** @type {import('esbuild').Plugin} */
const ownUrl = {
  name: 'own-url',
  setup(pluginBuild) {
    pluginBuild.onLoad({ filter: /\.ts$/ }, async (args) => {
      const { readFile } = await import('node:fs/promises');
      const source = await readFile(args.path, 'utf8');
      return {
        contents: source.replaceAll(
          'import.meta.url',
          JSON.stringify(pathToFileURL(args.path).href),
        ),
        loader: 'ts',
        resolveDir: dirname(args.path),
      };
    });
  },
};

// Node finds a package by its own name from within it only, not from below node_modules.
const requireFromHere = createRequire(import.meta.url);
/** @type {import('esbuild').Plugin} */
const ownName = {
  name: 'own-name',
  setup(pluginBuild) {
    pluginBuild.onResolve({ filter: /^nephrite($|\/)/ }, ({ path }) => ({
      path: pathToFileURL(requireFromHere.resolve(path)).href,
      external: true,
    }));
  },
};

await build({
  absWorkingDir: root,
  entryPoints: [entryPath],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  sourcemap: 'inline',
  plugins: [ownUrl, ownName],
  logLevel: 'warning',
});
process.setSourceMapsEnabled(true);
process.argv = [process.argv[0], entryPath, ...rest];
process.once('exit', () => rmSync(outfile, { force: true }));
await import(pathToFileURL(outfile).href);
