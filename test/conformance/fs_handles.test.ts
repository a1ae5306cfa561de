// Fs conformance, FileHandle: reading, writing, vectors, attributes, closing, against Node's.
// Method: fs_oracle.ts, with a handle that either library opened. Not here: O_DIRECT
// (fs_direct.test.ts), bad arguments (fs_arguments.test.ts), whole files.
import * as nodeFs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeFs } from '../support/fs_lab.ts';
import { type AnyFs, expectSame, expectSameError } from '../support/fs_oracle.ts';

type AnyHandle = Record<string, (...args: unknown[]) => Promise<unknown>>;
type HandleCall = (handle: AnyHandle, folder: string) => Promise<unknown>;

const TEXT = 'The quick brown fox jumps over the lazy dog.';

function fill(folder: string): void {
  nodeFs.writeFileSync(`${folder}/file`, TEXT, { mode: 0o644 });
  nodeFs.writeFileSync(`${folder}/empty`, '');
  nodeFs.mkdirSync(`${folder}/folder`);
}

/** Opens `name`, calls, closes: for both libraries. */
function withHandle(name: string, flags: string, call: HandleCall) {
  return async (fs: AnyFs, folder: string): Promise<unknown> => {
    const handle = (await fs.open(`${folder}/${name}`, flags)) as AnyHandle;
    try {
      return await call(handle, folder);
    } finally {
      await handle.close();
    }
  };
}

/** What a transfer gives, with its buffers' contents. */
async function shown(result: Promise<unknown>): Promise<unknown> {
  const { buffer, buffers, ...counts } = (await result) as Record<string, unknown>;
  const bytes = (view: unknown): string => {
    if (typeof view === 'string') return view;
    const { buffer: memory, byteOffset, byteLength } = view as Uint8Array;
    return Buffer.from(memory, byteOffset, byteLength).toString('latin1');
  };
  const all = buffers === undefined ? [buffer] : (buffers as unknown[]);
  return { counts, contents: all.map(bytes) };
}

const READS: readonly (readonly [string, HandleCall])[] = [
  ['into a buffer', (file) => shown(file.read(Buffer.alloc(10)))],
  ['with offset and length', (file) => shown(file.read(Buffer.alloc(10, '-'), 2, 5))],
  ['with a position', (file) => shown(file.read(Buffer.alloc(5), 0, 5, 4))],
  ['with options after the buffer', (f) => shown(f.read(Buffer.alloc(9), { position: 3 }))],
  ['with options alone', (f) => shown(f.read({ buffer: Buffer.alloc(4), offset: 1 }))],
  ['into a Uint16Array', (file) => shown(file.read(new Uint16Array(4)))],
  ['into a DataView', (file) => shown(file.read(new DataView(new ArrayBuffer(6), 1)))],
  ['nulls for all', (file) => shown(file.read(Buffer.alloc(5), null, null, null))],
  ['nothing', (file) => shown(file.read(Buffer.alloc(5), 0, 0))],
  ['into an empty buffer', (file) => shown(file.read(Buffer.alloc(0)))],
  ['at the end', (file) => shown(file.read(Buffer.alloc(5), 0, 5, 1000))],
  ['across the end', (file) => shown(file.read(Buffer.alloc(8), 0, 8, TEXT.length - 3))],
  [
    'one after the other',
    async (file) => [
      await shown(file.read(Buffer.alloc(4))),
      await shown(file.read(Buffer.alloc(4), 0, 4, 20)),
      await shown(file.read(Buffer.alloc(4))),
    ],
  ],
  ['into two buffers', (file) => shown(file.readv([Buffer.alloc(4), Buffer.alloc(6)]))],
  ['into two at a position', (f) => shown(f.readv([new Uint8Array(3), new Uint16Array(2)], 4))],
  ['into more than there is', (f) => shown(f.readv([Buffer.alloc(30), Buffer.alloc(30)]))],
  ['into empty ones', (file) => shown(file.readv([Buffer.alloc(0), Buffer.alloc(0)]))],
];

const WRITES: readonly (readonly [string, HandleCall])[] = [
  ['a buffer', (file) => shown(file.write(Buffer.from('hello')))],
  ['with offset and length', (file) => shown(file.write(Buffer.from('hello'), 1, 3))],
  ['with a position', (file) => shown(file.write(Buffer.from('hello'), 0, 5, 10))],
  ['with options', (f) => shown(f.write(Buffer.from('hello'), { offset: 2, position: 7 }))],
  ['a Float64Array', (file) => shown(file.write(new Float64Array([1.5])))],
  ['a string', (file) => shown(file.write('héllo'))],
  ['a string at a position', (file) => shown(file.write('hello', 12))],
  ['a string in hex', (file) => shown(file.write('616263', null, 'hex'))],
  ['an empty string', (file) => shown(file.write(''))],
  ['an empty buffer', (file) => shown(file.write(Buffer.alloc(0)))],
  ['far behind the end', (file) => shown(file.write(Buffer.from('x'), 0, 1, 5000))],
  [
    'one after the other',
    async (file) => [
      await shown(file.write('abc')),
      await shown(file.write('def', 20)),
      await shown(file.write('ghi')),
    ],
  ],
  ['two buffers', (file) => shown(file.writev([Buffer.from('abc'), Buffer.from('defg')]))],
  ['two at a position', (f) => shown(f.writev([Buffer.from('abc'), new Uint8Array(2)], 9))],
  ['no buffers', (file) => shown(file.writev([]))],
  ['empty ones between', (f) => shown(f.writev([Buffer.alloc(0), Buffer.from('x')]))],
  ['truncate', (file) => file.truncate(7)],
  ['truncate by default', (file) => file.truncate()],
  ['truncate to more', (file) => file.truncate(100)],
  ['truncate to less than nothing', (file) => file.truncate(-1)],
  ['chmod', (file) => file.chmod(0o700)],
  ['chmod with a string', (file) => file.chmod('640')],
  ['chown to nobody in particular', (file) => file.chown(-1, -1)],
  ['utimes', (file) => file.utimes(1000, new Date(2_000_000))],
  ['sync', (file) => file.sync()],
  ['datasync', (file) => file.datasync()],
];

describeFs('fs handles', (lab) => {
  for (const [name, call] of READS) {
    it(`read ${name}`, async () => {
      const { error } = await expectSame(lab, withHandle('file', 'r', call), { setup: fill });
      expect(error).toBeUndefined();
    });
  }

  for (const [name, call] of WRITES) {
    it(`write: ${name}`, async () => {
      for (const flags of ['r+', 'a']) {
        const both = withHandle('file', flags, call);
        // A position on Linux does not move an append.
        const { error } = await expectSame(lab, both, { setup: fill });
        expect(error).toBeUndefined();
      }
    });
  }

  it('utimes sets both times', async () => {
    const set = withHandle('file', 'r', (file) => file.utimes('12.5', new Date(-1000)));
    const setup = (folder: string): void => nodeFs.writeFileSync(`${folder}/file`, TEXT);
    await expectSame(lab, set, { setup, withTimes: true });
  });

  it('stat gives what Node gives, also as bigint', async () => {
    fill(lab.folder);
    await using file = await lab.fs.open(lab.path('file'));
    expect({ ...(await file.stat()) }).toEqual({ ...nodeFs.statSync(lab.path('file')) });
    const bigint = { bigint: true } as const;
    expect({ ...(await file.stat(bigint)) }).toEqual({
      ...nodeFs.statSync(lab.path('file'), bigint),
    });
  });

  describe('errors', () => {
    const failing: readonly (readonly [string, string, string, string, HandleCall])[] = [
      ['read of a directory', 'EISDIR', 'folder', 'r', (file) => file.read(Buffer.alloc(5))],
      ['readv of a directory', 'EISDIR', 'folder', 'r', (file) => file.readv([Buffer.alloc(5)])],
      ['read, opened to write', 'EBADF', 'file', 'a', (file) => file.read(Buffer.alloc(5))],
      ['write, opened to read', 'EBADF', 'file', 'r', (file) => file.write('x')],
      ['writev, opened to read', 'EBADF', 'file', 'r', (f) => f.writev([Buffer.from('x')])],
      ['truncate, opened to read', 'EINVAL', 'file', 'r', (file) => file.truncate(1)],
      ['truncate beyond limits', 'EFBIG', 'file', 'r+', (file) => file.truncate(2 ** 52)],
      ['readv into nothing', 'EINVAL', 'file', 'r', (file) => file.readv([])],
    ];
    for (const [name, code, file, flags, call] of failing) {
      it(`${name}: ${code}`, () =>
        expectSameError(lab, code, withHandle(file, flags, call), { setup: fill }));
    }

    const calls: Record<string, HandleCall> = {
      read: (file) => file.read(Buffer.alloc(1)),
      readv: (file) => file.readv([]),
      write: (file) => file.write('x'),
      writev: (file) => file.writev([]),
      stat: (file) => file.stat(),
      sync: (file) => file.sync(),
      datasync: (file) => file.datasync(),
      truncate: (file) => file.truncate(),
      chmod: (file) => file.chmod(0o600),
      chown: (file) => file.chown(1, 1),
      utimes: (file) => file.utimes(1, 1),
      readFile: (file) => file.readFile(),
      writeFile: (file) => file.writeFile('x'),
      appendFile: (file) => file.appendFile('x'),
    };
    for (const [name, call] of Object.entries(calls)) {
      it(`${name} of a closed handle`, async (context) => {
        if (!(name in lab.fs.FileHandle.prototype)) context.skip('not there yet');
        const closed = withHandle('file', 'r+', async (handle, folder) => {
          await handle.close();
          expect((handle as unknown as { fd: number }).fd).toBe(-1);
          return call(handle, folder);
        });
        await expectSameError(lab, 'EBADF', closed, { setup: fill });
      });
    }
  });

  describe('closing', () => {
    const LARGE = Buffer.alloc(3 * 1024 * 1024, 'x');

    it('waits for a write of many entries that was started before it', async () => {
      const file = await lab.fs.open(lab.path('large'), 'w');
      const write = file.write(LARGE);
      const close = file.close();
      expect(file.fd).toBe(-1);
      // Its number must not go to somebody else while the write still uses it.
      const other = await lab.fs.open(lab.path('other'), 'w+');
      expect((await write).bytesWritten).toBe(LARGE.length);
      await close;
      expect(nodeFs.readFileSync(lab.path('large')).equals(LARGE)).toBe(true);
      expect((await other.stat()).size).toBe(0);
      await other.close();
    });

    it('waits for a read of many entries, and for vectors', async () => {
      nodeFs.writeFileSync(lab.path('large'), LARGE);
      const file = await lab.fs.open(lab.path('large'));
      const parts = [Buffer.alloc(LARGE.length / 2), Buffer.alloc(LARGE.length / 2)];
      const read = file.read(Buffer.alloc(LARGE.length), 0, LARGE.length, 0);
      const readv = file.readv(parts, 0);
      const close = file.close();
      expect((await read).bytesRead).toBe(LARGE.length);
      expect((await readv).bytesRead).toBe(LARGE.length);
      await close;
      const copy = await lab.fs.open(lab.path('copy'), 'w');
      const writev = copy.writev(parts);
      await copy.close();
      expect((await writev).bytesWritten).toBe(LARGE.length);
      expect(nodeFs.readFileSync(lab.path('copy')).equals(LARGE)).toBe(true);
    });

    it('happens once, tells once, and is over with the first', async () => {
      fill(lab.folder);
      const before = lab.openDescriptors();
      const file = await lab.fs.open(lab.path('file'));
      let told = 0;
      file.on('close', () => told++);
      await Promise.all([file.close(), file.close(), file[Symbol.asyncDispose]()]);
      await file.close();
      expect(told).toBe(1);
      await lab.expectNoLeak(before);
    });
  });

  it('vectors larger than an entry, of odd sizes, at any position', async () => {
    const sizes = [1, 100_000, 262_144, 0, 262_145, 700_001, 3];
    const buffers = sizes.map((bytes, index) => Buffer.alloc(bytes, 65 + index));
    const whole = Buffer.concat(buffers);
    for (const position of [null, 0, 4097, 10n]) {
      const start = Number(position ?? 0);
      const file = await lab.fs.open(lab.path('vectors'), 'w+');
      const { bytesWritten } = await file.writev(buffers, position);
      expect(bytesWritten).toBe(whole.length);
      expect(nodeFs.readFileSync(lab.path('vectors')).subarray(start).equals(whole)).toBe(true);
      const back = sizes.map((bytes) => Buffer.alloc(bytes));
      expect((await file.readv(back, start)).bytesRead).toBe(whole.length);
      expect(Buffer.concat(back).equals(whole)).toBe(true);
      const more = [...back, Buffer.alloc(1000)];
      expect((await file.readv(more, start + 5)).bytesRead).toBe(whole.length - 5);
      await file.close();
    }
  });

  it('a read larger than an entry ends with the file, whatever the open told of it', async () => {
    nodeFs.writeFileSync(lab.path('large'), Buffer.alloc(600_000, 'y'));
    await using file = await lab.fs.open(lab.path('large'));
    const { bytesRead, buffer } = await file.read(Buffer.alloc(1_000_000));
    expect(bytesRead).toBe(600_000);
    expect(buffer.subarray(0, bytesRead).equals(Buffer.alloc(600_000, 'y'))).toBe(true);
  });

  it('allocate reserves, with and without a new size', async () => {
    const file = await lab.fs.open(lab.path('file'), 'w+');
    if (!lab.backend.isNative) {
      const unsupported = { code: 'ENOTSUP', syscall: 'fallocate' };
      await expect(file.allocate(0, 1000)).rejects.toMatchObject(unsupported);
      await file.close();
      return;
    }
    await file.allocate(0, 100_000);
    expect(await file.stat()).toMatchObject({ size: 100_000 });
    expect((await file.stat()).blocks).toBeGreaterThanOrEqual(100_000 / 512);
    await file.allocate(100_000, 100_000, { keepSize: true });
    expect((await file.stat()).size).toBe(100_000);
    expect((await file.stat()).blocks).toBeGreaterThanOrEqual(200_000 / 512);
    await file.close();
    await expect(file.allocate(0, 1)).rejects.toMatchObject({ code: 'EBADF' });
  });
});
