// Where the addon is looked for, on package folders made for the test.
// Method: a temporary folder plays the installed package; files in it are empty, nothing is loaded.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { candidatePaths, findPackageRoot } from '../../../lib/addon/candidate_paths.ts';
import type { NativeLoadAttempt } from '../../../lib/addon/load.ts';

const PLATFORM = `${process.platform}-${process.arch}`;
const require = createRequire(import.meta.url);
let folder: string;
let attempts: NativeLoadAttempt[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-candidates-'));
  attempts = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text = ''): string {
  const full = join(folder, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

function rootFrom(path: string): string | undefined {
  return findPackageRoot(pathToFileURL(join(folder, path)).href, attempts);
}

describe('candidate paths: the package folder', () => {
  it('package root: found from lib/addon and from dist', () => {
    write('package.json', '{ "name": "nephrite" }');
    expect(rootFrom('lib/addon/load.ts')).toBe(folder);
    expect(rootFrom('dist/fs.js')).toBe(folder);
    expect(attempts).toEqual([]);
  });

  it('package root: another package above is not ours', () => {
    write('package.json', '{ "name": "an-app" }');
    expect(rootFrom('dist/bundle.js')).toBeUndefined();
    expect(attempts.map(({ path }) => path)).toEqual([join(folder, 'dist')]);
  });

  it('package root: a bundle beside node_modules finds the installed package', () => {
    write('package.json', '{ "name": "an-app" }');
    write('node_modules/nephrite/package.json', '{ "name": "nephrite" }');
    expect(rootFrom('bundle.js')).toBe(join(folder, 'node_modules', 'nephrite'));
  });

  it('package root: a broken package.json on the way is passed over', () => {
    write('package.json', '{ "name": "nephrite" }');
    write('dist/package.json', '{ not json');
    expect(rootFrom('dist/fs.js')).toBe(folder);
  });
});

describe('candidate paths: order', () => {
  it('candidates: an own build comes before a prebuild, each once', () => {
    const prebuild = write(`prebuilds/${PLATFORM}/nephrite.node`);
    const build = write('build/Release/nephrite.node');
    expect(candidatePaths(folder, require, attempts)).toEqual([build, prebuild]);
  });

  it('candidates: a prebuild of another platform is not one', () => {
    write('prebuilds/plan9-mips/nephrite.node');
    expect(candidatePaths(folder, require, attempts)).toEqual([]);
  });

  it('candidates: an empty package names every place that was looked at', () => {
    expect(candidatePaths(folder, require, attempts)).toEqual([]);
    const places = attempts.map(({ path }) => path);
    expect(places).toContain('node-gyp-build');
    expect(places).toContain(join(folder, 'prebuilds', PLATFORM));
    expect(places).toContain(join(folder, 'build', 'Release', 'nephrite.node'));
    for (const { reason } of attempts) expect(reason).not.toBe('');
  });

  it('candidates: without node-gyp-build the prebuild is found all the same', () => {
    const prebuild = write(`prebuilds/${PLATFORM}/nephrite.node`);
    // A folder without node_modules above it: requiring node-gyp-build fails from there.
    const bare = createRequire(join(folder, 'index.js'));
    expect(candidatePaths(folder, bare, attempts)).toEqual([prebuild]);
    expect(attempts[0]?.path).toBe('node-gyp-build');
    expect(attempts[0]?.reason).toMatch(/Cannot find module/);
  });
});
