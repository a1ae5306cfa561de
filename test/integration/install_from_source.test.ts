// Installs without a prebuild: npm's install script compiles where it can, and where it cannot the
// installation succeeds all the same and the package works on the `node` backend.
// Method: the tarball installed offline with scripts on; "cannot" is a PATH without a compiler.
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findNodeDir } from '../../scripts/node_headers.js';
import { InstalledApp } from '../support/installed_app.ts';

const INSTALL_TIMEOUT_MS = 240_000;
const READ = `
  import { readFile } from 'nephrite/fs';
  console.log(JSON.parse(await readFile('package.json', 'utf8')).name);
`;
const nodedir = { npm_config_nodedir: findNodeDir() };
let app: InstalledApp | undefined;
afterEach(() => app?.remove());

describe('install from source', () => {
  it(
    'install: compiles the addon where no prebuild fits',
    () => {
      app = new InstalledApp({ hasPrebuild: false, runsScripts: true, env: nodedir });
      expect(existsSync(join(app.packagePath, 'build', 'Release', 'nephrite.node'))).toBe(true);
      expect(app.run(READ).trim()).toBe('an-app');
    },
    INSTALL_TIMEOUT_MS,
  );

  it.skipIf(process.platform === 'win32')(
    'install: without a compiler it is a notice, and the node backend works',
    () => {
      const tools = mkdtempSync(join(tmpdir(), 'nephrite-path-'));
      try {
        // Node and what npm itself calls, but no make, no compiler and no python.
        mkdirSync(join(tools, 'bin'));
        for (const tool of ['sh', 'tar', 'env']) {
          const found = findOnPath(tool);
          if (found !== undefined) symlinkSync(found, join(tools, 'bin', tool));
        }
        symlinkSync(process.execPath, join(tools, 'bin', 'node'));
        const npm = findOnPath('npm');
        if (npm !== undefined) symlinkSync(npm, join(tools, 'bin', 'npm'));
        const env = { ...nodedir, PATH: join(tools, 'bin'), npm_config_python: '/gone' };
        app = new InstalledApp({ hasPrebuild: false, runsScripts: true, env });
        expect(app.installOutput).toContain('npm rebuild nephrite');
        expect(existsSync(join(app.packagePath, 'build', 'Release', 'nephrite.node'))).toBe(false);
        expect(app.run(READ).trim()).toBe('an-app');
      } finally {
        rmSync(tools, { recursive: true, force: true });
      }
    },
    INSTALL_TIMEOUT_MS,
  );
});

function findOnPath(tool: string): string | undefined {
  const folders = [dirname(process.execPath), ...(process.env.PATH ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, tool)).find((path) => existsSync(path));
}
