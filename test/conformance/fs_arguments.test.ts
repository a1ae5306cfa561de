// Fs conformance, bad arguments: a typed error before any system call, from every function.
// Method: a table of functions with the place of their bad argument; no entry may reach the poller.
// Where Node checks the same argument, error class, code and message are compared with Node's, but
// for what Node leaves to its C++ (its messages differ by version) or does not check at all.
// Not here: errors of the system (the other fs_*.test.ts).
import * as nodeFs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeFs, type FsLab } from '../support/fs_lab.ts';
import { type AnyFs, outcomeOf } from '../support/fs_oracle.ts';

type AnyHandle = Record<string, (...args: unknown[]) => Promise<unknown>>;

const TYPE = 'ERR_INVALID_ARG_TYPE';
const VALUE = 'ERR_INVALID_ARG_VALUE';
const RANGE = 'ERR_OUT_OF_RANGE';

/** Functions by what follows their path or paths. */
const ONE_PATH: Readonly<Record<string, readonly unknown[]>> = {
  access: [],
  appendFile: ['data'],
  chmod: [0o600],
  chown: [1, 1],
  lchown: [1, 1],
  lstat: [],
  lutimes: [1, 1],
  mkdir: [],
  mkdtemp: [],
  open: [],
  readFile: [],
  readdir: [],
  readlink: [],
  realpath: [],
  rm: [],
  rmdir: [],
  stat: [],
  truncate: [],
  unlink: [],
  utimes: [1, 1],
  writeFile: ['data'],
};
const TWO_PATHS = ['copyFile', 'link', 'rename', 'symlink'];

const BAD_PATHS: readonly (readonly [string, unknown, string])[] = [
  ['a number', 5, TYPE],
  ['undefined', undefined, TYPE],
  ['null', null, TYPE],
  ['an object', { path: '/tmp' }, TYPE],
  ['an array', ['/tmp'], TYPE],
  ['a function', function path() {}, TYPE],
  ['a symbol', Symbol('path'), TYPE],
  ['a string with NUL', '/tmp/a\0b', VALUE],
  ['bytes with NUL', Buffer.from('/tmp/a\0b'), VALUE],
  ['a URL with NUL', new URL('file:///tmp/a%00b'), VALUE],
  ['a URL that is no file', new URL('http://localhost/tmp'), 'ERR_INVALID_URL_SCHEME'],
  ['a URL of another host', new URL('file://host/tmp'), 'ERR_INVALID_FILE_URL_HOST'],
];

type BadCall = readonly [string, string, (fs: AnyFs, path: string) => Promise<unknown>];

/** What Node checks too, in JavaScript: the messages must be Node's. */
const AS_NODE: readonly BadCall[] = [
  ['chmod without a mode', TYPE, (fs, path) => fs.chmod(path)],
  ['chmod, mode no octal', VALUE, (fs, path) => fs.chmod(path, '0o7')],
  ['chmod, mode fraction', RANGE, (fs, path) => fs.chmod(path, 1.5)],
  ['chmod, mode negative', RANGE, (fs, path) => fs.chmod(path, -1)],
  ['chmod, mode above 32 bits', RANGE, (fs, path) => fs.chmod(path, 2 ** 32)],
  ['chown, uid text', TYPE, (fs, path) => fs.chown(path, 'root', 1)],
  ['chown, uid below -1', RANGE, (fs, path) => fs.chown(path, -2, 1)],
  ['chown, gid fraction', RANGE, (fs, path) => fs.chown(path, 1, 0.5)],
  ['chown, gid missing', TYPE, (fs, path) => fs.chown(path, 1)],
  ['utimes, text', TYPE, (fs, path) => fs.utimes(path, 'soon', 1)],
  ['utimes, null', TYPE, (fs, path) => fs.utimes(path, 1, null)],
  ['utimes, Infinity', TYPE, (fs, path) => fs.utimes(path, Infinity, 1)],
  ['lutimes, NaN', TYPE, (fs, path) => fs.lutimes(path, 1, Number.NaN)],
  ['mkdir, mode no octal', VALUE, (fs, path) => fs.mkdir(`${path}x`, 'x')],
  ['mkdir, recursive text', TYPE, (fs, path) => fs.mkdir(`${path}x`, { recursive: 'yes' })],
  ['mkdtemp in no encoding', VALUE, (fs, path) => fs.mkdtemp(path, 'no')],
  ['mkdtemp, options number', TYPE, (fs, path) => fs.mkdtemp(path, 5)],
  ['readdir in no encoding', VALUE, (fs, path) => fs.readdir(path, { encoding: 'no' })],
  ['readdir, options number', TYPE, (fs, path) => fs.readdir(path, 5)],
  ['readlink, options boolean', TYPE, (fs, path) => fs.readlink(path, true)],
  ['realpath in no encoding', VALUE, (fs, path) => fs.realpath(path, 'no')],
  ['rm, options null', TYPE, (fs, path) => fs.rm(path, null)],
  ['rm, options text', TYPE, (fs, path) => fs.rm(path, 'recursive')],
  ['rm, recursive number', TYPE, (fs, path) => fs.rm(path, { recursive: 1 })],
  ['rm, force text', TYPE, (fs, path) => fs.rm(path, { force: 'no' })],
  ['rm, retries negative', RANGE, (fs, path) => fs.rm(path, { maxRetries: -1 })],
  ['rm, retries fraction', RANGE, (fs, path) => fs.rm(path, { maxRetries: 0.5 })],
  ['rm, delay too long', RANGE, (fs, path) => fs.rm(path, { retryDelay: 2 ** 31 })],
  ['rm, delay text', TYPE, (fs, path) => fs.rm(path, { retryDelay: '5' })],
];

/** What Node leaves to C++, checks after the first system call, or does not check. */
const OURS: readonly BadCall[] = [
  ['access, mode text', TYPE, (fs, path) => fs.access(path, 'r')],
  ['access, mode too large', RANGE, (fs, path) => fs.access(path, 8)],
  ['access, mode fraction', RANGE, (fs, path) => fs.access(path, 0.5)],
  ['copyFile, mode text', TYPE, (fs, path) => fs.copyFile(path, `${path}x`, '1')],
  ['copyFile, mode too large', RANGE, (fs, path) => fs.copyFile(path, `${path}x`, 8)],
  ['copyFile, mode negative', RANGE, (fs, path) => fs.copyFile(path, `${path}x`, -1)],
  ['symlink, no such type', VALUE, (fs, path) => fs.symlink('a', `${path}x`, 'hard')],
  ['truncate, text', TYPE, (fs, path) => fs.truncate(path, '5')],
  ['truncate, fraction', RANGE, (fs, path) => fs.truncate(path, 1.5)],
  ['truncate, above 2^53', RANGE, (fs, path) => fs.truncate(path, 2 ** 53)],
  ['utimes, no Date', VALUE, (fs, path) => fs.utimes(path, new Date(Number.NaN), 1)],
  ['utimes, endless text', VALUE, (fs, path) => fs.utimes(path, 1, '-Infinity')],
  ['rmdir, recursive', VALUE, (fs, path) => fs.rmdir(path, { recursive: true })],
  ['rmdir, recursive text', TYPE, (fs, path) => fs.rmdir(path, { recursive: 'no' })],
];

const detached = (): Uint8Array => {
  const bytes = new Uint8Array(8);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
};
const resizable = (): Uint8Array => {
  const options = { maxByteLength: 16 };
  const Resizable = ArrayBuffer as new (bytes: number, options: object) => ArrayBuffer;
  return new Uint8Array(new Resizable(8, options));
};

type BadHandleCall = readonly [string, string, (file: AnyHandle) => Promise<unknown>];

const HANDLES: readonly BadHandleCall[] = [
  ['read into text', TYPE, (file) => file.read({ buffer: 'text' })],
  ['read, offset text', TYPE, (file) => file.read(Buffer.alloc(4), '1')],
  ['read, offset negative', RANGE, (file) => file.read(Buffer.alloc(4), -1)],
  ['read, offset fraction', RANGE, (file) => file.read(Buffer.alloc(4), 0.5)],
  ['read, offset behind the end', RANGE, (file) => file.read(Buffer.alloc(4), 5, 1)],
  ['read, length negative', RANGE, (file) => file.read(Buffer.alloc(4), 0, -1)],
  ['read, length too large', RANGE, (file) => file.read(Buffer.alloc(4), 2, 3)],
  ['read, length above 2^31', RANGE, (file) => file.read(Buffer.alloc(4), 0, 2 ** 31)],
  ['read, position text', TYPE, (file) => file.read(Buffer.alloc(4), 0, 4, '0')],
  ['read, position fraction', RANGE, (file) => file.read(Buffer.alloc(4), 0, 4, 0.5)],
  ['read, position negative', RANGE, (file) => file.read(Buffer.alloc(4), 0, 4, -2)],
  ['read, position below -1n', RANGE, (file) => file.read(Buffer.alloc(4), 0, 4, -2n)],
  ['read, position above 2^63', RANGE, (file) => file.read(Buffer.alloc(4), 0, 4, 2n ** 63n)],
  ['read into detached memory', 'ERR_INVALID_STATE', (file) => file.read(detached())],
  ['read into resizable memory', VALUE, (file) => file.read(resizable())],
  ['readv into no array', TYPE, (file) => file.readv('text')],
  ['readv into text', TYPE, (file) => file.readv([Buffer.alloc(1), 'text'])],
  ['readv into resizable memory', VALUE, (file) => file.readv([resizable()])],
  ['readv, position text', TYPE, (file) => file.readv([Buffer.alloc(1)], '0')],
  ['write of a number', TYPE, (file) => file.write(5)],
  ['write of an object', TYPE, (file) => file.write({})],
  ['write, offset negative', RANGE, (file) => file.write(Buffer.alloc(4), -1)],
  ['write, length too large', RANGE, (file) => file.write(Buffer.alloc(4), 0, 5)],
  ['write, position fraction', RANGE, (file) => file.write(Buffer.alloc(4), 0, 4, 0.5)],
  ['write of detached memory', 'ERR_INVALID_STATE', (file) => file.write(detached())],
  ['write of resizable memory', VALUE, (file) => file.write(resizable())],
  ['writev of no array', TYPE, (file) => file.writev(Buffer.alloc(1))],
  ['writev of detached memory', 'ERR_INVALID_STATE', (file) => file.writev([detached()])],
  ['truncate, text', TYPE, (file) => file.truncate('5')],
  ['truncate, fraction', RANGE, (file) => file.truncate(0.5)],
  ['chmod without a mode', TYPE, (file) => file.chmod()],
  ['chown, uid below -1', RANGE, (file) => file.chown(-2, 1)],
  ['utimes, object', TYPE, (file) => file.utimes({}, 1)],
  ['allocate, offset negative', RANGE, (file) => file.allocate(-1, 1)],
  ['allocate, nothing', RANGE, (file) => file.allocate(0, 0)],
  ['allocate, fraction', RANGE, (file) => file.allocate(0, 0.5)],
  ['allocate, text', TYPE, (file) => file.allocate('0', 1)],
];

/** Options that every function takes last. */
const BAD_OPTIONS: readonly (readonly [string, object, string])[] = [
  ['signal text', { signal: 'abort' }, TYPE],
  ['signal without a state', { signal: {} }, TYPE],
  ['signal without listeners', { signal: { aborted: false } }, TYPE],
  ['timeout text', { timeout: '5' }, TYPE],
  ['timeout negative', { timeout: -1 }, RANGE],
  ['timeout NaN', { timeout: Number.NaN }, RANGE],
];

/** Position of the options argument, counted without the paths. */
function withOptions(name: string, rest: readonly unknown[], options: object): unknown[] {
  const before: Readonly<Record<string, readonly unknown[]>> = {
    access: [0],
    copyFile: [0],
    symlink: [null],
    open: ['r', 0o600],
    truncate: [0],
  };
  return [...(before[name] ?? rest), options];
}

/** The call fails with `code` and gives the poller nothing. */
async function expectRefused(
  lab: FsLab,
  code: string,
  call: () => Promise<unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const before = lab.submissionCount;
  const { error } = await outcomeOf(call, lab.folder);
  expect(error?.code).toBe(code);
  lab.thread.pump();
  expect(lab.submissionCount).toBe(before);
  return error ?? {};
}

/** Node's answer to the same, for class, code and message. */
async function expectAsNode(
  lab: FsLab,
  ours: Readonly<Record<string, unknown>>,
  call: () => Promise<unknown>,
): Promise<void> {
  const { error } = await outcomeOf(call, lab.folder);
  expect(ours).toEqual(error);
}

describeFs('fs arguments', (lab) => {
  const ours = (): AnyFs => lab.fs as unknown as AnyFs;
  const node = nodeFs.promises as unknown as AnyFs;

  for (const [what, path, code] of BAD_PATHS) {
    describe(`path: ${what}`, () => {
      for (const [name, rest] of Object.entries(ONE_PATH)) {
        it(name, async () => {
          const error = await expectRefused(lab, code, () => ours()[name](path, ...rest));
          await expectAsNode(lab, error, () => node[name](path, ...rest));
        });
      }
      for (const name of TWO_PATHS) {
        it(name, async () => {
          const good = lab.path('good');
          const first = await expectRefused(lab, code, () => ours()[name](path, good));
          await expectAsNode(lab, first, () => node[name](path, good));
          const second = await expectRefused(lab, code, () => ours()[name](good, path));
          await expectAsNode(lab, second, () => node[name](good, path));
        });
      }
      it('readMany and statMany', async () => {
        for (const name of ['readMany', 'statMany']) {
          await expectRefused(lab, code, () => ours()[name](['/tmp', path]));
        }
      });
    });
  }

  for (const [name, code, call] of AS_NODE) {
    it(`${name}: ${code}, as Node`, async () => {
      const path = lab.path('file');
      nodeFs.writeFileSync(path, 'content');
      const error = await expectRefused(lab, code, () => call(ours(), path));
      await expectAsNode(lab, error, () => call(node, path));
    });
  }

  for (const [name, code, call] of OURS) {
    it(`${name}: ${code}`, () => expectRefused(lab, code, () => call(ours(), lab.path('file'))));
  }

  it.each(HANDLES)('%s: %s', async (_name, code, call) => {
    nodeFs.writeFileSync(lab.path('file'), 'content');
    const file = await lab.fs.open(lab.path('file'), 'r+');
    await expectRefused(lab, code, () => call(file as unknown as AnyHandle));
    await file.close();
    expect(nodeFs.readFileSync(lab.path('file'), 'utf8')).toBe('content');
  });

  for (const [what, options, code] of BAD_OPTIONS) {
    it(`options of all functions, ${what}: ${code}`, async () => {
      const path = lab.path('none');
      for (const [name, rest] of Object.entries(ONE_PATH)) {
        const call = () => ours()[name](path, ...withOptions(name, rest, options));
        await expectRefused(lab, code, call);
      }
      for (const name of TWO_PATHS) {
        const call = () => ours()[name](path, path, ...withOptions(name, [], options));
        await expectRefused(lab, code, call);
      }
      expect(nodeFs.readdirSync(lab.folder)).toEqual([]);
    });
  }

  it('an error of readdir comes through the iterator too', async () => {
    const iterate = async (): Promise<void> => {
      for await (const entry of lab.fs.readdir('a\0b')) expect(entry).toBeUndefined();
    };
    await expectRefused(lab, VALUE, iterate);
  });

  describe('buffers.alloc', () => {
    it.each([
      ['text', ['5'], TYPE],
      ['fraction', [1.5], RANGE],
      ['negative', [-1], RANGE],
      ['more than a buffer', [2 ** 53], RANGE],
      ['options null', [5, null], TYPE],
      ['align text', [5, { align: '8' }], TYPE],
      ['align no power of two', [5, { align: 3 }], RANGE],
      ['align 0', [5, { align: 0 }], RANGE],
      ['align above a page', [5, { align: 8192 }], RANGE],
    ] as const)('%s', (_name, args, code) => {
      const alloc = lab.fs.buffers.alloc as (...args: readonly unknown[]) => Buffer;
      expect(() => alloc(...args)).toThrow(expect.objectContaining({ code }));
    });

    it('gives zeroed memory of the size asked for', () => {
      for (const bytes of [0, 1, 4096, 10_000]) {
        const buffer = lab.fs.buffers.alloc(bytes, { align: 4096 });
        expect(buffer).toBeInstanceOf(Buffer);
        expect(buffer.equals(Buffer.alloc(bytes))).toBe(true);
      }
    });
  });
});
