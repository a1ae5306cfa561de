// File authority under attack: whatever a restricted caller tries with paths, nothing out of its
// roots is read, changed or told, on every backend.
// Method: a folder with a root to write in, one to read only, and an outside that is compared after
// each test. Not here: names that are replaced meanwhile (file_authority_races.test.ts), what is
// allowed (test/conformance/fs_restricted.test.ts).
import * as nodeFs from 'node:fs';
import { constants } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FileAuthority } from '../../lib/io/authority.ts';
import { describeFs, type Fs } from '../support/fs_lab.ts';
import { type AnyFs, snapshot } from '../support/fs_oracle.ts';
import { Restriction } from '../support/restriction.ts';

const DENIED = { code: 'ERR_CAPABILITY_DENIED', capability: 'files' };
const skipReason = process.platform === 'linux' ? undefined : 'roots are enforced on Linux only';

/** Calls that look where a path leads or change it there; each must say no to a path outside. */
const ONE_PATH: readonly (readonly [string, (fs: AnyFs, path: unknown) => Promise<unknown>])[] = [
  ['access', (fs, path) => fs.access(path)],
  ['appendFile', (fs, path) => fs.appendFile(path, 'x')],
  ['chmod', (fs, path) => fs.chmod(path, 0o777)],
  ['chown', (fs, path) => fs.chown(path, 1, 1)],
  ['copyFile from', (fs, path) => fs.copyFile(path, 'copy')],
  ['copyFile to', (fs, path) => fs.copyFile('file', path)],
  ['lchown', (fs, path) => fs.lchown(path, 1, 1)],
  ['link from', (fs, path) => fs.link(path, 'hard')],
  ['link to', (fs, path) => fs.link('file', path)],
  ['lstat', (fs, path) => fs.lstat(path)],
  ['lutimes', (fs, path) => fs.lutimes(path, 1, 1)],
  ['mkdir', (fs, path) => fs.mkdir(path)],
  ['mkdir recursive', (fs, path) => fs.mkdir(path, { recursive: true })],
  ['mkdtemp', (fs, path) => fs.mkdtemp(path)],
  ['open', (fs, path) => fs.open(path)],
  ['open to write', (fs, path) => fs.open(path, 'r+')],
  ['open to make', (fs, path) => fs.open(path, 'w')],
  ['open exclusively', (fs, path) => fs.open(path, 'wx')],
  ['open, not followed', (fs, path) => fs.open(path, constants.O_NOFOLLOW)],
  ['readFile', (fs, path) => fs.readFile(path)],
  ['readdir', (fs, path) => fs.readdir(path)],
  ['readlink', (fs, path) => fs.readlink(path)],
  ['realpath', (fs, path) => fs.realpath(path)],
  ['rename from', (fs, path) => fs.rename(path, 'moved')],
  ['rename to', (fs, path) => fs.rename('file', path)],
  ['rm', (fs, path) => fs.rm(path)],
  ['rm recursive', (fs, path) => fs.rm(path, { recursive: true })],
  ['rm forced', (fs, path) => fs.rm(path, { recursive: true, force: true })],
  ['rmdir', (fs, path) => fs.rmdir(path)],
  ['stat', (fs, path) => fs.stat(path)],
  ['symlink at', (fs, path) => fs.symlink('file', path)],
  ['truncate', (fs, path) => fs.truncate(path)],
  ['unlink', (fs, path) => fs.unlink(path)],
  ['utimes', (fs, path) => fs.utimes(path, 1, 1)],
  ['writeFile', (fs, path) => fs.writeFile(path, 'x')],
  ['writeFile of parts', (fs, path) => fs.writeFile(path, ['x', 'y'])],
];

function fill(folder: string): void {
  nodeFs.mkdirSync(`${folder}/inside/sub/deep`, { recursive: true });
  nodeFs.mkdirSync(`${folder}/readonly/sub`, { recursive: true });
  nodeFs.mkdirSync(`${folder}/outside/dir`, { recursive: true });
  nodeFs.mkdirSync(`${folder}/insideout`);
  nodeFs.writeFileSync(`${folder}/insideout/secret`, 'secret');
  nodeFs.writeFileSync(`${folder}/inside/file`, 'file');
  nodeFs.writeFileSync(`${folder}/readonly/file`, 'read me');
  nodeFs.writeFileSync(`${folder}/outside/secret`, 'secret');
  nodeFs.writeFileSync(`${folder}/outside/dir/secret`, 'secret');
  const link = (target: string, name: string): void =>
    nodeFs.symlinkSync(target, `${folder}/inside/${name}`);
  link(`${folder}/outside`, 'absolute');
  link('../outside', 'relative');
  link('sub/up', 'chain');
  nodeFs.symlinkSync('../relative', `${folder}/inside/sub/up`);
  link('../outside/secret', 'leaf');
  link('/proc/self/root', 'rootlink');
  link('/proc/self/cwd', 'cwdlink');
  link('../outside/new', 'dangling');
}

describeFs('file authority', (lab) => {
  let restriction: Restriction;
  let authority: FileAuthority;
  let before: unknown;
  let outsideFd = -1;
  const cwd = process.cwd();

  beforeAll(async () => {
    restriction = await Restriction.load();
  });
  beforeEach(() => {
    fill(lab.folder);
    outsideFd = nodeFs.openSync(lab.path('outside'), 'r');
    authority = restriction.authority(
      { path: lab.path('inside'), write: true },
      { path: lab.path('readonly') },
    );
    before = foreign();
    process.chdir(lab.path('inside'));
  });
  afterEach(() => {
    process.chdir(cwd);
    nodeFs.closeSync(outsideFd);
    expect(foreign()).toEqual(before);
  });

  const foreign = (): unknown =>
    ['outside', 'readonly', 'insideout'].map((name) => {
      const changed = nodeFs.readdirSync(lab.path(name), { recursive: true }).map((each) => {
        return nodeFs.lstatSync(lab.path(`${name}/${each}`)).mtimeMs;
      });
      return [snapshot(lab.path(name)), changed];
    });
  const restricted = (): AnyFs => restriction.wrap(lab.fs, () => authority) as unknown as AnyFs;
  // Not joined: that would take the points out.
  const inside = (name: string): string => `${lab.folder}/inside/${name}`;

  const spellings = (): Readonly<Record<string, unknown>> => ({
    absolute: lab.path('outside/secret'),
    'a neighbour with the same beginning': lab.path('insideout/secret'),
    'up from the root': inside('../outside/secret'),
    'up from below': inside('sub/deep/../../../outside/secret'),
    'relative to the working directory': '../outside/secret',
    'relative, by the long way': relative(process.cwd(), lab.path('outside/secret')),
    'an absolute link': inside('absolute/secret'),
    'a relative link': inside('relative/secret'),
    'a chain of links': inside('chain/dir/secret'),
    'up behind a link': inside('relative/../outside/secret'),
    'a link and a slash': inside('relative/dir/'),
    'a link and a point': inside('relative/dir/.'),
    'many slashes': `//${inside('')}///..//outside//secret`,
    '/proc/self/root': `/proc/self/root${lab.path('outside/secret')}`,
    '/proc/self/root behind a link': inside(`rootlink${lab.path('outside/secret')}`),
    '/proc/self/cwd': '/proc/self/cwd/../outside/secret',
    '/proc/self/cwd behind a link': inside('cwdlink/../outside/secret'),
    'a descriptor': `/proc/self/fd/${outsideFd}/secret`,
    'a descriptor in /dev': `/dev/fd/${outsideFd}/secret`,
    'a task': `/proc/${process.pid}/task/${process.pid}/root${lab.path('outside/secret')}`,
    bytes: Buffer.from(lab.path('outside/secret')),
    'bytes that are a view': new Uint8Array(Buffer.from(inside('../outside/secret'))),
    'a URL': pathToFileURL(lab.path('outside/secret')),
    'a URL with encoded points': new URL(`file://${inside('%2e%2e/outside/secret')}`),
    'the file system': '/',
    'the folder above': lab.folder,
    '..': '..',
  });

  describe.skipIf(skipReason !== undefined)('each call with each spelling', () => {
    for (const [name, call] of ONE_PATH) {
      it(name, async () => {
        const descriptors = lab.openDescriptors();
        for (const [spelling, path] of Object.entries(spellings())) {
          // That makes "..AbCdEf", which is a name inside.
          if (name === 'mkdtemp' && path === '..') continue;
          const outcome = call(restricted(), path);
          await expect(outcome, `${name}: ${spelling}`).rejects.toMatchObject(DENIED);
        }
        // One for the root, from its first use on.
        await lab.expectNoLeak(descriptors + 2);
      });
    }

    it('says what was asked for and what is granted, in the words of the caller', async () => {
      const path = '../outside/secret';
      const error = await restricted()
        .rename('file', path)
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ given: 'file', syscall: 'rename', path: 'file', dest: path });
      const { allowed, message } = error as { allowed: unknown; message: string };
      expect(allowed).toEqual([lab.path('inside'), `${lab.path('readonly')} (read)`]);
      expect(message).not.toContain('/proc/self/fd');
    });
  });

  describe.skipIf(skipReason !== undefined)('a last link that leads out', () => {
    const FOLLOWING = ONE_PATH.filter(
      ([name]) => !/^(l|rm|mk|unlink|rename|symlink|readlink|link|open e|open, n)/.test(name),
    );
    for (const [name, call] of FOLLOWING) {
      it(`is not followed by ${name}`, async () => {
        await expect(call(restricted(), 'leaf')).rejects.toMatchObject(DENIED);
        if (/make|write|append|copyFile to/i.test(name)) {
          await expect(call(restricted(), 'dangling')).rejects.toMatchObject(DENIED);
        }
      });
    }

    it('may be made, read, renamed and removed, being inside itself', async () => {
      const fs = restricted();
      await fs.symlink('/etc/passwd', 'new');
      expect(await fs.readlink('new')).toBe('/etc/passwd');
      expect(((await fs.lstat('new')) as nodeFs.Stats).isSymbolicLink()).toBe(true);
      await expect(fs.readFile('new')).rejects.toMatchObject(DENIED);
      await fs.rename('new', 'newer');
      await fs.unlink('newer');
      await expect(fs.open('leaf', 'wx')).rejects.toMatchObject({ code: 'EEXIST' });
      await expect(fs.mkdir('dangling')).rejects.toMatchObject({ code: 'EEXIST' });
    });

    it('is removed with its tree, not followed', async () => {
      const fs = restricted();
      expect(await fs.readdir('.', { recursive: true })).not.toContain('relative/secret');
      await fs.rm('relative');
      await fs.rm('sub', { recursive: true });
      expect(nodeFs.existsSync(inside('sub'))).toBe(false);
    });
  });

  describe.skipIf(skipReason !== undefined)('a root that may only be read', () => {
    const WRITING = ONE_PATH.filter(
      ([name]) => !/^(access|copyFile from|lstat|open$|open, n|read|realpath|stat)/.test(name),
    );
    for (const [name, call] of WRITING) {
      it(`refuses ${name}`, async () => {
        for (const path of ['../readonly/file', lab.path('readonly/file')]) {
          const isNewName = /mkdir|mkdtemp|rmdir| to$| at$|exclusively/.test(name);
          const given = isNewName ? path.replace(/file$/, 'new') : path;
          await expect(call(restricted(), given), given).rejects.toMatchObject({
            ...DENIED,
            message: expect.stringContaining('may only be read'),
          });
        }
      });
    }

    it('refuses every open flag that may change something', async () => {
      const { O_APPEND, O_CREAT, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } = constants;
      const path = lab.path('readonly/file');
      const each = [O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_RDONLY | O_TRUNC, 0o20200000];
      for (const flags of [...each, 'r+', 'w', 'a', 'a+', 'wx']) {
        await expect(restricted().open(path, flags), String(flags)).rejects.toMatchObject(DENIED);
      }
      const wanted = [path, constants.W_OK] as const;
      await expect(restricted().access(...wanted)).rejects.toMatchObject(DENIED);
    });

    it('reads, and gives handles that change nothing', async () => {
      const fs = restricted();
      const path = lab.path('readonly/file');
      expect(await fs.readFile(path, 'utf8')).toBe('read me');
      await fs.access(path, constants.R_OK);
      const file = (await fs.open(path)) as Awaited<ReturnType<Fs['open']>>;
      await expect(file.chmod(0o777)).rejects.toMatchObject(DENIED);
      await expect(file.chown(1, 1)).rejects.toMatchObject(DENIED);
      await expect(file.utimes(1, 1)).rejects.toMatchObject(DENIED);
      await expect(file.truncate(0)).rejects.toMatchObject(DENIED);
      await expect(file.write('x')).rejects.toMatchObject({ code: 'EBADF' });
      expect((await file.read(Buffer.alloc(4))).bytesRead).toBe(4);
      await file.close();
      const own = (await fs.open('file')) as Awaited<ReturnType<Fs['open']>>;
      await own.chmod(0o600);
      await own.close();
    });
  });

  describe.skipIf(skipReason !== undefined)('names and objects', () => {
    it('a NUL is refused as everywhere', async () => {
      for (const path of ['file\0/../../outside/secret', Buffer.from('file\0x')]) {
        const outcome = restricted().readFile(path);
        await expect(outcome).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
      }
    });

    it('objects that answer differently each time are refused or read once', async () => {
      const fs = restricted();
      let count = 0;
      const text = (): string => (count++ === 0 ? inside('file') : lab.path('outside/secret'));
      const shifty = { toString: text, [Symbol.toPrimitive]: text };
      await expect(fs.readFile(shifty)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
      const url = pathToFileURL(inside('file'));
      const urlText = (): string => pathToFileURL(text()).href;
      const shiftyUrl = Object.defineProperty(Object.create(url) as URL, 'href', { get: urlText });
      await expect(fs.readFile(shiftyUrl)).rejects.toThrow();
      class Shifty extends Uint8Array {
        get length2(): number {
          return count++;
        }
        override toString(): string {
          return text();
        }
        copy(target: Buffer, at: number): number {
          return target.write(lab.path('outside/secret'), at);
        }
      }
      const bytes = new Shifty(Buffer.from(inside('file')));
      expect(String(await fs.readFile(bytes))).toBe('file');
      const hostile = Object.assign(Buffer.from(inside('file')), {
        copy: (target: Buffer, at: number) => target.write(lab.path('outside/secret'), at),
        toString: text,
        includes: () => false,
      });
      const content = await fs.readFile(hostile).catch((error: unknown) => error);
      expect(String(content)).not.toBe('secret');
    });

    it('a buffer that changes after the call changes nothing', async () => {
      const fs = restricted();
      for (const call of [fs.readFile, fs.realpath, fs.open]) {
        const bytes = Buffer.from(`${inside('relative/secret')}`);
        const safe = Buffer.from(`${inside('sub/../file').padEnd(bytes.length, '/')}`);
        const given = Buffer.from(safe.subarray(0, bytes.length));
        const outcome = call(given).catch((error: unknown) => error);
        bytes.copy(given);
        const value = await outcome;
        expect(String(value)).not.toBe('secret');
        await (value as { close?: () => Promise<void> }).close?.();
      }
    });

    it('the roots themselves stay where they are', async () => {
      const fs = restricted();
      const root = lab.path('inside');
      await expect(fs.rmdir(root)).rejects.toMatchObject(DENIED);
      await expect(fs.rm(root, { recursive: true })).rejects.toMatchObject(DENIED);
      await expect(fs.rename(root, inside('sub/x'))).rejects.toMatchObject(DENIED);
      await expect(fs.rename(inside('sub'), root)).rejects.toMatchObject(DENIED);
      await expect(fs.mkdir(root)).rejects.toMatchObject({ code: 'EEXIST' });
      expect(await fs.mkdir(root, { recursive: true })).toBeUndefined();
      expect(nodeFs.existsSync(inside('file'))).toBe(true);
    });

    it('what took the name of a root is not the root', async () => {
      nodeFs.renameSync(lab.path('inside'), lab.path('gone'));
      nodeFs.symlinkSync('outside', lab.path('inside'));
      const unused = restriction.run(authority, () => lab.fs.readFile(inside('secret')));
      await expect(unused).rejects.toMatchObject(DENIED);
    });

    it('realpath and errors speak of the caller’s names', async () => {
      const fs = restricted();
      nodeFs.symlinkSync('sub', inside('way'));
      expect(await fs.realpath('way/deep/..')).toBe(inside('sub'));
      expect(await fs.realpath(inside('file'), 'buffer')).toEqual(Buffer.from(inside('file')));
      const error = (await fs.stat('way/no').catch((reason: unknown) => reason)) as Error;
      expect(error).toMatchObject({ code: 'ENOENT', path: 'way/no', syscall: 'stat' });
      expect(error.message).not.toContain('/proc');
    });
  });

  describe.skipIf(skipReason !== undefined)('authorities', () => {
    it('cannot be forged', async () => {
      const { setFileAuthority } = await import('../../lib/io/authority.ts');
      const forgeries = [{}, null, { start: () => {}, allowed: [] }, Object.create(authority)];
      for (const forged of [...forgeries, { ...authority }]) {
        const set = (): unknown => setFileAuthority(forged as FileAuthority);
        expect(set).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }));
      }
      expect(() => Object.assign(authority, { allowed: ['/'] })).toThrow(TypeError);
    });

    it('handles cannot be made from numbers', () => {
      const Forged = lab.fs.FileHandle as unknown as new (fd: number, flags: number) => unknown;
      expect(() => new Forged(outsideFd, 0)).toThrow('Illegal constructor');
    });

    it('are those of the call, whatever is in force when its steps run', async () => {
      const paths = Array.from({ length: 20 }, () => 'relative/secret');
      const many = restriction.run(authority, () => lab.fs.readMany(paths, { concurrency: 1 }));
      const stats = restriction.run(authority, () => lab.fs.statMany(paths, { concurrency: 1 }));
      const all = [...(await many), ...(await stats)];
      expect(all).toHaveLength(40);
      for (const each of all) expect(each).toMatchObject({ status: 'rejected', reason: DENIED });
      const free = lab.fs.readFile(lab.path('outside/secret'), 'utf8');
      expect(await free).toBe('secret');
    });

    it('without a root allow nothing', async () => {
      const none = restriction.authority();
      const outcome = restriction.run(none, () => lab.fs.stat(inside('file')));
      await expect(outcome).rejects.toMatchObject({ ...DENIED, allowed: [] });
    });

    it('refuse what Node does itself', async () => {
      const fs = restricted();
      const path = inside('file');
      for (const name of ['cp', 'opendir', 'statfs', 'lchmod', 'mkdtempDisposable']) {
        if (fs[name] === undefined) continue;
        await expect(fs[name](path, `${path}x`), name).rejects.toMatchObject(DENIED);
      }
      for (const name of ['watch', 'glob']) {
        if (fs[name] === undefined) continue;
        expect(() => fs[name](path), name).toThrow(expect.objectContaining(DENIED));
      }
    });

    it('let files be moved between two roots that may be written', async () => {
      nodeFs.mkdirSync(lab.path('second'));
      const both = restriction.authority(
        { path: lab.path('inside'), write: true },
        { path: lab.path('second'), write: true },
      );
      const target = lab.path('second/file');
      await restriction.run(both, () => lab.fs.rename('file', target));
      expect(nodeFs.readFileSync(target, 'utf8')).toBe('file');
      nodeFs.symlinkSync(target, inside('across'));
      const read = restriction.run(both, () => lab.fs.readFile('across', 'utf8'));
      expect(await read).toBe('file');
    });
  });
});
