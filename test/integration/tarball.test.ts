// The package as users get it: packed, installed with --ignore-scripts into an empty folder, used.
// Method: `npm pack` of this checkout, a real prebuild added as the release does, packed again, then
// installed offline (the one dependency is packed from node_modules). Nothing reaches the network.
// Not here: installs that compile (test/integration/install_from_source.test.ts).
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/root.ts';

const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

let folder: string;
/** An application's folder with the package installed in node_modules. */
let app: string;
let installed: string;

beforeAll(() => {
  if (!existsSync(join(ROOT, 'dist', 'fs.js')))
    throw new Error('dist/ is missing: npm run build:dist');
  folder = mkdtempSync(join(tmpdir(), 'nephrite-tarball-'));
  const unpacked = join(folder, 'package');
  execFileSync('tar', ['-xzf', pack(ROOT), '-C', folder]);
  const prebuild = join(ROOT, 'scripts', 'prebuild.js');
  execFileSync(process.execPath, [prebuild, `--out=${unpacked}`], { stdio: 'pipe' });
  const tarball = pack(unpacked);
  const dependency = pack(join(ROOT, 'node_modules', 'node-gyp-build'));

  app = join(folder, 'app');
  mkdirSync(app);
  writeFileSync(
    join(app, 'package.json'),
    '{ "name": "an-app", "private": true, "type": "module" }',
  );
  npm(app, ['install', '--offline', '--ignore-scripts', ...QUIET, tarball, dependency]);
  installed = join(app, 'node_modules', 'nephrite');
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function npm(cwd: string, args: string[]): string {
  return execFileSync(NPM, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function pack(source: string): string {
  const into = mkdtempSync(join(folder, 'pack-'));
  npm(source, ['pack', '--ignore-scripts', '--pack-destination', into, ...QUIET]);
  const [file] = readdirSync(into);
  return join(into, file ?? 'nothing was packed');
}

function runInApp(source: string, env: Record<string, string> = {}): string {
  const script = join(app, 'main.js');
  writeFileSync(script, source);
  return execFileSync(process.execPath, [script], {
    cwd: app,
    encoding: 'utf8',
    env: { ...process.env, NEPHRITE_BACKEND: '', NEPHRITE_NATIVE_PATH: '', ...env },
  });
}

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
    const top = readdirSync(installed).sort();
    expect(top).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'binding.gyp',
        'dist',
        'native',
        'prebuilds',
      ]),
    );
    const allowed = new Set(
      'CHANGELOG.md LICENSE README.md bin binding.gyp dist native package.json prebuilds scripts'.split(
        ' ',
      ),
    );
    expect(top.filter((name) => !allowed.has(name))).toEqual([]);
    expect(readdirSync(join(installed, 'scripts'))).toEqual(['install.js']);
    expect(existsSync(join(installed, 'dist', 'types', 'fs.d.ts'))).toBe(true);
  });

  it('tarball: has one runtime dependency', () => {
    expect(readdirSync(join(app, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'nephrite',
      'node-gyp-build',
    ]);
  });

  it('tarball: reads a file through the prebuilt addon', () => {
    const answer = JSON.parse(runInApp(READ_AND_NAME)) as Answer;
    expect(answer.text).toBe('jade');
    expect(['io_uring', 'epoll', 'kqueue', 'iocp']).toContain(answer.name);
  });

  it('tarball: both entries share one poller', () => {
    const output = runInApp(`
      import { backend } from 'nephrite';
      import { stat } from 'nephrite/fs';
      await stat('.');
      console.log(backend() === backend());
    `);
    expect(output.trim()).toBe('true');
  });

  it('tarball: the command line runs', () => {
    const bin = join(app, 'node_modules', '.bin', 'nephrite');
    const result = spawnSync(bin, ['--version'], { cwd: app, encoding: 'utf8' });
    expect(result.stderr).toBe('');
    expect(result.stdout).toMatch(/0\.1\.0/);
    expect(result.status).toBe(0);
  });

  it('tarball: without prebuilds it works on the node backend and says why', () => {
    const prebuilds = join(installed, 'prebuilds');
    const aside = join(folder, 'prebuilds-aside');
    cpSync(prebuilds, aside, { recursive: true });
    rmSync(prebuilds, { recursive: true });
    try {
      const answer = JSON.parse(runInApp(READ_AND_NAME)) as Answer;
      expect(answer.text).toBe('jade');
      expect(answer.name).toBe('node');
      const reasons = answer.refused.map(({ reason }) => reason).join('\n');
      expect(reasons).toMatch(/prebuilds/);
      expect(reasons).toContain(process.arch);
    } finally {
      cpSync(aside, prebuilds, { recursive: true });
    }
  });

  it('tarball: the types resolve for a strict consumer', () => {
    writeFileSync(
      join(app, 'typed.ts'),
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
    const result = spawnSync(process.execPath, args, { cwd: app, encoding: 'utf8' });
    expect(result.stdout).toBe('');
    expect(result.status).toBe(0);
  });
});
