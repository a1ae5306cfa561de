// Authorities: which one is in force, and that no request with a path can go past the question.
// Not here: what an authority allows (test/integration/file_authority.test.ts).
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as fs from '../../../lib/fs.ts';
import {
  currentFileAuthority,
  type FileAuthority,
  setAsyncFileAuthority,
  setFileAuthority,
} from '../../../lib/io/authority.ts';
import { createFileAuthority } from '../../../lib/io/root_authority.ts';
import { ROOT } from '../../support/root.ts';

const DENIED = { code: 'ERR_CAPABILITY_DENIED' };
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-authority-'));
  writeFileSync(join(folder, 'file'), 'content');
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  setAsyncFileAuthority(undefined);
  setFileAuthority(undefined);
});

describe('the authority in force', () => {
  it('is what was set, and the previous one comes back', () => {
    const outer = createFileAuthority([]);
    const inner = createFileAuthority([]);
    expect(setFileAuthority(outer)).toBeUndefined();
    expect(setFileAuthority(inner)).toBe(outer);
    expect(currentFileAuthority()).toBe(inner);
    setFileAuthority(undefined);
    expect(currentFileAuthority()).toBeUndefined();
  });

  it('of an asynchronous body is found behind every await', async () => {
    const storage = new AsyncLocalStorage<FileAuthority>();
    setAsyncFileAuthority(() => storage.getStore());
    const path = join(folder, 'file');
    await storage.run(createFileAuthority([]), async () => {
      await expect(fs.readFile(path)).rejects.toMatchObject(DENIED);
      await new Promise((resolve) => setImmediate(resolve));
      await expect(fs.stat(path)).rejects.toMatchObject(DENIED);
    });
    expect(await fs.readFile(path, 'utf8')).toBe('content');
  });

  it('does not reach calls that others have made before', async () => {
    const path = join(folder, 'file');
    const free = fs.readMany([path, path, path], { concurrency: 1, encoding: 'utf8' });
    setFileAuthority(createFileAuthority([]));
    const none = fs.readMany([path]);
    setFileAuthority(undefined);
    for (const each of await free) expect(each).toMatchObject({ value: 'content' });
    expect(await none).toMatchObject([{ status: 'rejected', reason: DENIED }]);
  });
});

describe('the sources', () => {
  const sources = readdirSync(join(ROOT, 'lib'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name, text: readFileSync(join(ROOT, 'lib', name), 'utf8') }));
  const using = (pattern: RegExp): string[] =>
    sources
      .filter(({ text }) => pattern.test(text))
      .map(({ name }) => name)
      .sort();

  // A new file in one of these lists needs a reason why no authority has to be asked.
  it('start requests unguarded only on descriptors or below an authority', () => {
    expect(using(/\bstartUnguarded\b/)).toEqual([
      'io/fs/handle_attributes.ts',
      'io/path_operation.ts',
      'io/path_walk.ts',
      'io/root_authority.ts',
    ]);
    expect(using(/\bnew PathOperation\b/)).toEqual(['io/exemplars.ts', 'io/path_operation.ts']);
  });

  it('open whole files by path in two places, which ask first', () => {
    expect(using(/\bnew (ReadFileOperation|ReadSmallFile|WriteFileOperation)\b/)).toEqual([
      'io/fs/read_file.ts',
      'io/fs/write_file.ts',
    ]);
    expect(using(/\bsetPath\(/)).toEqual([
      'io/entry.ts',
      'io/fs/read_small_file.ts',
      'io/path_operation.ts',
      'io/whole_file_operation.ts',
    ]);
  });

  it('call node:fs with paths of callers nowhere but in what asks first', () => {
    const files = sources.filter(({ name }) => name.startsWith('io/'));
    const imports = /import (?:type )?(\{[^}]*\}|\*[^']*) from 'node:fs/g;
    const harmless = /^\{\s*(constants( as \w+)?|(BigInt)?Stats|type \w+|Dirent|[\s,])*\}$/;
    const calling = files.filter(({ text }) =>
      Array.from(text.matchAll(imports)).some(([, names]) => !harmless.test(names)),
    );
    expect(calling.map(({ name }) => name).sort()).toEqual([
      'io/file_roots.ts',
      'io/fs/delegated.ts',
      'io/fs/file_copy.ts',
      'io/fs/stats.ts',
    ]);
  });
});
