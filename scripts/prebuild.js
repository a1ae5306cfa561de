// Fills prebuilds/<platform>-<arch>/ of this machine: `npm run prebuild` (prebuildify: Node-API,
// stripped, tagged with the C library). Headers come from this machine; nothing is downloaded.
//   --out=DIR    writes DIR/prebuilds/... instead of the repository's own folder
// Invariants: compiles in a temporary copy of what the tarball carries, so a prebuild proves that
// an install from source works, and build/ is left alone (node-gyp would delete it).
// Not here: cross compiling; each platform's prebuild is made on that platform.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNodeDir, findNodeGyp } from './node_headers.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const prebuildify = createRequire(import.meta.url)('prebuildify');

/**
 * Compiles for this machine; resolves with the folder that holds the .node file.
 * @param {string} outDir
 */
export async function prebuild(outDir) {
  const cwd = mkdtempSync(join(tmpdir(), 'nephrite-prebuild-'));
  try {
    for (const name of ['package.json', 'binding.gyp', 'native']) {
      cpSync(join(root, name), join(cwd, name), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'), 'junction');
    process.env.npm_config_nodedir = findNodeDir();
    process.env.npm_config_loglevel = 'error';
    process.env.npm_config_jobs = 'max';
    mkdirSync(outDir, { recursive: true });
    /** @type {Promise<void>} */
    const built = new Promise((done, failed) => {
      prebuildify(
        {
          cwd,
          out: outDir,
          cache: join(cwd, 'cache'),
          targets: [process.versions.node],
          napi: true,
          strip: true,
          tagLibc: true,
          nodeGyp: findNodeGyp().script,
        },
        (/** @type {Error | null | undefined} */ error) => (error ? failed(error) : done()),
      );
    });
    await built;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
  return join(outDir, 'prebuilds', `${process.platform}-${process.arch}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = process.argv.find((argument) => argument.startsWith('--out='))?.slice(6);
  console.log(await prebuild(out === undefined ? root : resolve(out)));
}
