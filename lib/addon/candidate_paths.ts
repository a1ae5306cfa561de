// Where the addon can lie when nobody named a path: an ordered list of files to try.
// Invariants: only reads folders; order is node-gyp-build's answer first, then what it may have
// passed over, so that a broken local build does not hide a working prebuild.
// Not here: opening the files (load.ts).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NativeLoadAttempt } from './load.ts';

/** lib/addon/load.ts is two folders below the root, dist/*.js one; users' bundles may be deeper. */
const FOLDERS_UP_MAX = 4;

/** The folder of this package, or undefined when this code was bundled away from it. */
export function findPackageRoot(
  moduleUrl: string,
  attempts: NativeLoadAttempt[],
): string | undefined {
  let folder = dirname(fileURLToPath(moduleUrl));
  const start = folder;
  for (let i = 0; i < FOLDERS_UP_MAX; i++) {
    if (isPackageRoot(folder)) return folder;
    folder = dirname(folder);
  }
  const installed = join(start, 'node_modules', 'nephrite');
  if (isPackageRoot(installed)) return installed;
  attempts.push({ path: start, reason: 'the package folder of nephrite is not above this file' });
  return undefined;
}

function isPackageRoot(folder: string): boolean {
  try {
    const text = readFileSync(join(folder, 'package.json'), 'utf8');
    return (JSON.parse(text) as { name?: unknown }).name === 'nephrite';
  } catch {
    return false;
  }
}

/** Files to try, best first, without repetition. `attempts` gets a line for each empty place. */
export function candidatePaths(
  root: string | undefined,
  require: NodeJS.Require,
  attempts: NativeLoadAttempt[],
): string[] {
  const paths = new Set<string>();
  if (root !== undefined) {
    const resolved = resolveByNodeGypBuild(root, require, attempts);
    if (resolved !== undefined) paths.add(resolved);
    addPrebuilds(paths, root, attempts);
    for (const place of ['build/Release', 'build/Debug', 'build/cmake/Release']) {
      const path = join(root, place, 'nephrite.node');
      if (existsSync(path)) paths.add(path);
      else attempts.push({ path, reason: 'no such file' });
    }
  }
  return [...paths];
}

function resolveByNodeGypBuild(
  root: string,
  require: NodeJS.Require,
  attempts: NativeLoadAttempt[],
): string | undefined {
  try {
    // Loaded at first use only: it reads the machine's properties when it is required.
    const nodeGypBuild: { resolve(folder: string): string } = require('node-gyp-build');
    return nodeGypBuild.resolve(root);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    attempts.push({ path: 'node-gyp-build', reason });
    return undefined;
  }
}

function addPrebuilds(paths: Set<string>, root: string, attempts: NativeLoadAttempt[]): void {
  const folder = join(root, 'prebuilds', `${process.platform}-${process.arch}`);
  try {
    const files = readdirSync(folder).filter((file) => file.endsWith('.node'));
    if (files.length === 0) attempts.push({ path: folder, reason: 'no prebuilt addon inside' });
    for (const file of files) paths.add(join(folder, file));
  } catch {
    attempts.push({ path: folder, reason: 'no prebuilt addon for this platform' });
  }
}
