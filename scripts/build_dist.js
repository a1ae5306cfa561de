// Builds dist/: one bundled file per entry point, what they share in chunks, and declarations.
// Invariants: state that must exist once per thread (the poller) lives in a shared chunk, so
// `nephrite` and `nephrite/fs` see the same one: esbuild splitting does that, never turn it off.
// Packages stay external except development ones (the histogram of the command line), which are
// bundled. dist/ is replaced in one step at the end: a running test never sees half of it.
// An entry whose source does not exist is left out and named.
// Not here: native code (scripts/build_native.js).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const entries = {
  index: 'lib/index.ts',
  fs: 'lib/fs.ts',
  cli: 'lib/cli/main.ts',
  worker_main: 'lib/worker_main.ts',
};

const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const external = Object.keys(packageJson.dependencies);
const present = Object.fromEntries(
  Object.entries(entries).filter(([, source]) => existsSync(join(root, source))),
);

const staging = join(root, 'out', `dist-${process.pid}`);
mkdirSync(staging, { recursive: true });
process.once('exit', () => rmSync(staging, { recursive: true, force: true }));
if (Object.keys(present).length > 0) {
  await build({
    absWorkingDir: root,
    entryPoints: present,
    outdir: staging,
    bundle: true,
    splitting: true,
    chunkNames: 'shared-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external,
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: false,
    logLevel: 'warning',
  });
  emitTypes();
}
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(staging, join(root, 'dist'));
for (const [name, source] of Object.entries(entries)) {
  if (!(name in present)) console.warn(`dist/${name}.js not built: ${source} does not exist yet`);
}

function emitTypes() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', 'tsconfig.types.json', '--outDir', join(staging, 'types')];
  const result = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exitCode = 1;
}
