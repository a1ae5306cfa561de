// Builds the addon for development into build/Release/nephrite.node through node-gyp, the same
// way an install from source does. Node's headers come from npm's `nodedir` or from beside the
// running node; nothing is downloaded.
// Not here: unit tests and sanitizers (scripts/test_native.js, CMake), prebuilds (prebuild.js).
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findNodeDir, findNodeGyp } from './node_headers.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const mode = process.argv.includes('--debug') ? '--debug' : '--release';
const { command, args } = findNodeGyp();
/** @param {string[]} step */
const run = (step) => {
  const result = spawnSync(
    command,
    [...args, ...step, `--nodedir=${findNodeDir()}`, '--jobs=max', mode],
    { cwd: root, stdio: 'inherit', env: { ...process.env, npm_config_loglevel: 'error' } },
  );
  if (result.status !== 0) process.exit(result.status ?? 1);
};
run(['configure']);
run(['build']);
