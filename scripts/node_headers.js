// Where Node's headers and node-gyp are on this machine. One home for both build scripts.
// Invariants: looks at what is installed, never downloads.
import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder above include/node/node_api.h. Throws with what was looked at. */
export function findNodeDir() {
  const looked = [];
  for (const candidate of candidateNodeDirs()) {
    if (!candidate) continue;
    looked.push(candidate);
    if (existsSync(join(candidate, 'include', 'node', 'node_api.h'))) return candidate;
  }
  throw new Error(
    `Node's headers (include/node/node_api.h) were not found below: ${looked.join(', ')}. ` +
      'Point npm at them: npm config set nodedir <folder>',
  );
}

function* candidateNodeDirs() {
  yield process.env.npm_config_nodedir;
  yield dirname(dirname(realpathSync(process.execPath)));
  yield npm(['config', 'get', 'nodedir']);
}

/** node-gyp as a command: the one npm carries, which always fits the running Node. */
export function findNodeGyp() {
  const npmRoot = dirname(dirname(realpathSync(npmCli())));
  const script = join(npmRoot, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  if (!existsSync(script)) throw new Error(`node-gyp was not found at ${script}`);
  return { command: process.execPath, args: [script], script };
}

function npmCli() {
  if (process.env.npm_execpath) return process.env.npm_execpath;
  const beside = join(dirname(realpathSync(process.execPath)), 'npm');
  if (existsSync(beside)) return beside;
  const globalRoot = npm(['root', '--global']);
  return join(globalRoot, 'npm', 'bin', 'npm-cli.js');
}

/** @param {string[]} args */
function npm(args) {
  return execFileSync('npm', args, {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  }).trim();
}
