// The package as users get it: packed with a prebuild, installed with --ignore-scripts, used.
// Not here: installs that compile (install_from_source.test.ts), what the prebuild needs of the
// system (prebuild.test.ts).
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InstalledApp } from '../support/installed_app.ts';
import { ROOT } from '../support/root.ts';

let app: InstalledApp;

beforeAll(() => {
  app = new InstalledApp({ hasPrebuild: true, runsScripts: false });
}, 240_000);
afterAll(() => app.remove());

const READ_AND_NAME = `
  import { writeFileSync } from 'node:fs';
  import { backend } from 'nephrite';
  import { readFile } from 'nephrite/fs';
  writeFileSync('input.txt', 'jade');
  const text = await readFile('input.txt', 'utf8');
  const { name, refused } = backend();
  console.log(JSON.stringify({ text, name, refused }));
`;

interface Answer {
  text: string;
  name: string;
  refused: { name: string; reason: string }[];
}

describe('tarball', () => {
  it('tarball: carries what runs and what an install from source needs, nothing else', () => {
    expect(readdirSync(app.packagePath).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin',
      'binding.gyp',
      'dist',
      'native',
      'package.json',
      'prebuilds',
      'scripts',
    ]);
    expect(readdirSync(join(app.packagePath, 'scripts'))).toEqual(['install.js']);
    expect(existsSync(join(app.packagePath, 'dist', 'types', 'fs.d.ts'))).toBe(true);
  });

  it('tarball: brings one package besides itself', () => {
    const modules = readdirSync(join(app.path, 'node_modules'));
    expect(modules.filter((name) => !name.startsWith('.')).sort()).toEqual([
      'nephrite',
      'node-gyp-build',
    ]);
  });

  it('tarball: reads a file through the prebuilt addon', () => {
    const answer = JSON.parse(app.run(READ_AND_NAME)) as Answer;
    expect(answer.text).toBe('jade');
    expect(['io_uring', 'epoll', 'kqueue', 'iocp']).toContain(answer.name);
  });

  it('tarball: the command line runs', () => {
    const bin = join(app.path, 'node_modules', '.bin', 'nephrite');
    const result = spawnSync(bin, ['--version'], { cwd: app.path, encoding: 'utf8' });
    expect(result.stderr).toBe('');
    expect(result.stdout).toMatch(/\d+\.\d+\.\d+/);
    expect(result.status).toBe(0);
  });

  it('tarball: without prebuilds it works on the node backend and says why', () => {
    const prebuilds = join(app.packagePath, 'prebuilds');
    const aside = join(app.path, 'prebuilds-aside');
    renameSync(prebuilds, aside);
    try {
      const answer = JSON.parse(app.run(READ_AND_NAME)) as Answer;
      expect(answer.text).toBe('jade');
      expect(answer.name).toBe('node');
      const reasons = answer.refused.map(({ reason }) => reason).join('\n');
      expect(reasons).toContain('prebuilds');
      expect(reasons).toContain(process.arch);
    } finally {
      renameSync(aside, prebuilds);
    }
  });

  it('tarball: the types resolve for a strict consumer', () => {
    writeFileSync(
      join(app.path, 'typed.ts'),
      `import { open, readFile } from 'nephrite/fs';
       export async function size(path: string): Promise<number> {
         const file = await open(path);
         await file.close();
         const bytes: Uint8Array = await readFile(path);
         return bytes.byteLength;
       }`,
    );
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const types = join(ROOT, 'node_modules', '@types');
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023'];
    const args = [tsc, ...flags, '--typeRoots', types, '--types', 'node', 'typed.ts'];
    const result = spawnSync(process.execPath, args, { cwd: app.path, encoding: 'utf8' });
    expect(result.stdout).toBe('');
    expect(result.status).toBe(0);
  });
});
