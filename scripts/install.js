// Runs at `npm install`: takes the prebuilt addon if one loads here, else compiles from native/.
// Invariants: an installed package never fails here. Without an addon Nephrite still works on its
// `node` backend, so a missing compiler is a notice. In a source checkout (lib/ is not published),
// or where the caller asked to build from source, a failure is an error.
// Not here: what fits (node-gyp-build decides), the lookup at run time (lib/addon/load.ts).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const isStrict =
  existsSync(join(root, 'lib')) || process.env.npm_config_build_from_source === 'true';

// Platforms with a native backend (native/backend/select_*.cc). Elsewhere there is nothing to
// build.
if (process.platform !== 'linux') {
  console.error(
    `nephrite: no native backend for ${process.platform} yet; the "node" backend serves`,
  );
  process.exit(0);
}

// node-gyp-build first runs `node-gyp-build-test`, which must be found on PATH: npm sees to that.
const bin = join(dirname(require.resolve('node-gyp-build/package.json')), 'bin.js');
const result = spawnSync(process.execPath, [bin], {
  cwd: root,
  stdio: 'inherit',
  // Compiles on all cores, unless the user chose.
  env: { npm_config_jobs: 'max', ...process.env },
});
if (result.status !== 0) {
  console.error(
    'nephrite: no prebuilt addon fits this machine and compiling it failed (see above).\n' +
      'nephrite: it works without one, slower, on its "node" backend. To get the addon, install\n' +
      'nephrite: a C++20 compiler, make and python3, then run `npm rebuild nephrite`.',
  );
  process.exitCode = isStrict ? 1 : 0;
}
