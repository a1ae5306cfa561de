// Files as users meet them and as other libraries have failed on them: pseudo files, pipes,
// devices, offsets beyond 32 and 53 bits, raw names, huge directories, low limits. Each over every
// backend.
// Not here: O_DIRECT, copies between devices, bad arguments, trees (test/conformance/fs_*.test.ts).
// Limits: buffers beyond 2 GiB are written to /dev/null, so that no test fills a disk or the cache.
import { execFileSync } from 'node:child_process';
import * as nodeFs from 'node:fs';
import { constants } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HEADER_ENTER_COUNT_INDEX } from '../../lib/abi/layout.ts';
import { ChildLab } from '../support/child.ts';
import { describeFs } from '../support/fs_lab.ts';

const { O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
const GIB = 2 ** 30;
const WAITS = 'the simulation stops at an open or a read that waits';

describeFs('files', (lab) => {
  const makeFifo = (): string => {
    const path = lab.path('fifo');
    execFileSync('mkfifo', [path]);
    return path;
  };

  describe('pseudo files', () => {
    it('longer than a page, of size 0: read to their end, not to the first short read', async () => {
      const path = ['/proc/kallsyms', '/proc/config.gz', '/proc/cpuinfo'].find(
        (each) => nodeFs.existsSync(each) && nodeFs.readFileSync(each).length > 4096,
      );
      expect(path).toBeDefined();
      const expected = nodeFs.readFileSync(path ?? '');
      const ours = await lab.fs.readFile(path ?? '');
      expect(ours.length).toBe(expected.length);
      if (path !== '/proc/cpuinfo') expect(ours.equals(expected)).toBe(true);
    });

    it('of size 0 or with a size that says nothing', async () => {
      const status = await lab.fs.readFile('/proc/self/status', 'utf8');
      expect(status).toMatch(/^Name:[\s\S]*nonvoluntary_ctxt_switches:\s+\d+\n$/);
      for (const path of ['/sys/kernel/mm/transparent_hugepage/enabled', '/proc/version']) {
        if (!nodeFs.existsSync(path)) continue;
        expect(await lab.fs.readFile(path, 'utf8')).toBe(nodeFs.readFileSync(path, 'utf8'));
      }
    });

    it('by handle, in pieces', async () => {
      await using file = await lab.fs.open('/proc/version');
      const pieces: Buffer[] = [];
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(7));
        if (bytesRead === 0) break;
        pieces.push(buffer.subarray(0, bytesRead));
      }
      expect(Buffer.concat(pieces).equals(nodeFs.readFileSync('/proc/version'))).toBe(true);
    });
  });

  describe('large numbers', () => {
    it('a view beyond 2 GiB of a buffer of 3 GiB', async () => {
      nodeFs.writeFileSync(lab.path('file'), 'hello, world');
      await using file = await lab.fs.open(lab.path('file'), 'r+');
      // Untouched pages cost nothing.
      const huge = Buffer.alloc(3 * GIB);
      const offset = 2.5 * GIB + 3;
      expect((await file.read(huge, offset, 5, 7)).bytesRead).toBe(5);
      expect(huge.toString('latin1', offset - 1, offset + 6)).toBe('\0world\0');
      await file.write(huge, offset + 1, 3, 0);
      expect(nodeFs.readFileSync(lab.path('file'), 'latin1')).toBe('orllo, world');
    });

    it('more than 2 GiB in one write and one writev', async () => {
      await using sink = await lab.fs.open('/dev/null', 'w');
      const bytes = Buffer.alloc(2 ** 31 + 1);
      expect((await sink.write(bytes)).bytesWritten).toBe(2 ** 31 + 1);
      const parts = [bytes.subarray(0, GIB), bytes.subarray(GIB), Buffer.from('tail')];
      expect((await sink.writev(parts)).bytesWritten).toBe(2 ** 31 + 5);
    }, 60_000);

    it('more buffers than one system call takes', async () => {
      const buffers = Array.from({ length: 3000 }, (_, index) => Buffer.from(`${index},`));
      const whole = Buffer.concat(buffers);
      await using file = await lab.fs.open(lab.path('file'), 'w+');
      expect((await file.writev(buffers)).bytesWritten).toBe(whole.length);
      expect(nodeFs.readFileSync(lab.path('file')).equals(whole)).toBe(true);
      const back = buffers.map(({ length }) => Buffer.alloc(length));
      expect((await file.readv(back, 0)).bytesRead).toBe(whole.length);
      expect(Buffer.concat(back).equals(whole)).toBe(true);
    });

    it('positions at and beyond 2^32, as numbers and as bigints', async () => {
      await using file = await lab.fs.open(lab.path('sparse'), 'w+');
      for (const position of [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40]) {
        for (const at of [position, BigInt(position)]) {
          const text = `${at} ${typeof at}`;
          await file.write(Buffer.from(text), 0, text.length, at);
          const { buffer } = await file.read(Buffer.alloc(text.length), 0, text.length, at);
          expect(buffer.toString()).toBe(text);
          expect(nodeFs.statSync(lab.path('sparse')).size).toBe(position + text.length);
        }
      }
      expect((await file.stat()).size).toBeGreaterThan(2 ** 40);
      await file.truncate(0);
    });

    it('positions that no file reaches', async () => {
      await using file = await lab.fs.open(lab.path('file'), 'w+');
      for (const position of [Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 63n - 2n, 2n ** 63n - 1n]) {
        const write = file.write(Buffer.from('x'), 0, 1, position);
        await expect(write, `${position}`).rejects.toMatchObject({
          code: expect.stringMatching(/^(EFBIG|EINVAL)$/),
          syscall: 'write',
        });
        const read = file.read(Buffer.alloc(1), 0, 1, position).then(
          ({ bytesRead }) => bytesRead,
          (error: unknown) => (error as { code: string }).code,
        );
        expect([0, 'EINVAL', 'EFBIG', 'EOVERFLOW']).toContain(await read);
      }
      expect((await file.stat()).size).toBe(0);
    });
  });

  describe('names', () => {
    it('that are not UTF-8 go in and out as bytes', async () => {
      const folder = Buffer.from(`${lab.folder}/`);
      for (const name of [Buffer.from([0xe9]), Buffer.from([0xff, 0xfe, 0x80])]) {
        const path = Buffer.concat([folder, name]);
        await lab.fs.writeFile(path, 'content');
        const [listed] = await lab.fs.readdir(lab.folder, 'buffer');
        expect(listed.equals(name)).toBe(true);
        const [typed] = await lab.fs.readdir(lab.folder, {
          encoding: 'buffer',
          withFileTypes: true,
        });
        expect(typed.name.equals(name)).toBe(true);
        const found = Buffer.concat([folder, listed]);
        expect((await lab.fs.stat(found)).size).toBe(7);
        await using file = await lab.fs.open(found, 'r+');
        expect((await file.stat()).ino).toBe(nodeFs.statSync(path).ino);
        expect(
          (await lab.fs.realpath(found, 'buffer')).equals(
            nodeFs.realpathSync.native(path, 'buffer'),
          ),
        ).toBe(true);
        await lab.fs.rename(found, Buffer.concat([found, name]));
        await lab.fs.unlink(Buffer.concat([found, name]));
      }
      expect(nodeFs.readdirSync(lab.folder)).toEqual([]);
    });

    it('with NUL never reach the system', async () => {
      nodeFs.writeFileSync(lab.path('a'), 'not this one');
      const before = lab.submissionCount;
      const calls = [
        lab.fs.open(lab.path('a\0b'), 'w'),
        lab.fs.rename(lab.path('a\0b'), lab.path('c')),
        lab.fs.rename(lab.path('a'), lab.path('c\0d')),
        lab.fs.unlink(Buffer.from(lab.path('a\0'))),
        lab.fs.rm(lab.path('a\0b'), { recursive: true, force: true }),
      ];
      for (const call of calls) {
        await expect(call).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
      }
      expect(lab.submissionCount).toBe(before);
      expect(nodeFs.readFileSync(lab.path('a'), 'utf8')).toBe('not this one');
    });
  });

  describe('ends and directories', () => {
    it('a read of nothing, at the start, at the end, of a directory', async () => {
      nodeFs.writeFileSync(lab.path('file'), 'abc');
      await using file = await lab.fs.open(lab.path('file'));
      expect((await file.read(new Uint8Array(0), 0, 0, 0)).bytesRead).toBe(0);
      expect((await file.read(new Uint8Array(0), 0, 0, 3)).bytesRead).toBe(0);
      expect((await file.read(new Uint8Array(5), 0, 0, 99)).bytesRead).toBe(0);
      await using folder = await lab.fs.open(lab.folder);
      const nothing = folder.read(new Uint8Array(0)).then(
        ({ bytesRead }) => bytesRead,
        (error: unknown) => (error as { code: string }).code,
      );
      // Node's own fs asks nobody for nothing.
      expect(await nothing).toBe(lab.backend.isNative ? 'EISDIR' : 0);
    });

    it('a directory cannot be read, and behind the end there is nothing', async () => {
      nodeFs.writeFileSync(lab.path('file'), 'abc');
      await using folder = await lab.fs.open(lab.folder);
      await expect(folder.read(Buffer.alloc(10))).rejects.toMatchObject({ code: 'EISDIR' });
      await expect(lab.fs.readFile(lab.folder)).rejects.toMatchObject({ code: 'EISDIR' });
      await using file = await lab.fs.open(lab.path('file'));
      for (const position of [3, 4, 2 ** 33]) {
        expect((await file.read(Buffer.alloc(10), 0, 10, position)).bytesRead).toBe(0);
      }
    });
  });

  describe('pipes', () => {
    it('give what is there at once, then their end', async (context) => {
      if (lab.backend.name === 'simulated') context.skip(WAITS);
      const fifo = makeFifo();
      const opening = lab.fs.open(fifo);
      const writer = await nodeFs.promises.open(fifo, 'w');
      await using reader = await opening;
      await writer.write('hi\n');
      const first = await reader.read(Buffer.alloc(65536));
      expect(first.buffer.toString('latin1', 0, first.bytesRead)).toBe('hi\n');
      const second = reader.read(Buffer.alloc(1_000_000));
      await writer.write('there\n');
      expect((await second).bytesRead).toBe(6);
      await writer.close();
      expect((await reader.read(Buffer.alloc(65536))).bytesRead).toBe(0);
    });

    it('opened O_NONBLOCK: a read without data waits, without asking again and again', async (context) => {
      if (lab.backend.name === 'simulated') context.skip(WAITS);
      if (lab.backend.name === 'node') context.skip("node:fs gives the pipe's EAGAIN");
      const fifo = makeFifo();
      const other = nodeFs.openSync(fifo, O_RDWR);
      await using reader = await lab.fs.open(fifo, O_RDONLY | O_NONBLOCK);
      const read = reader.read(Buffer.alloc(10));
      await new Promise((resolve) => setTimeout(resolve, 20));
      const { doubles } = lab.thread.memory;
      const entersBefore = doubles[HEADER_ENTER_COUNT_INDEX];
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(doubles[HEADER_ENTER_COUNT_INDEX] - entersBefore).toBeLessThan(5);
      nodeFs.writeSync(other, 'late');
      expect((await read).bytesRead).toBe(4);
      nodeFs.closeSync(other);
    });

    it('opens that are aborted leave no descriptor, whoever is faster', async (context) => {
      if (lab.backend.name === 'simulated') context.skip(WAITS);
      if (lab.backend.name === 'node') context.skip('four waiting opens hold all threads of node');
      const fifo = makeFifo();
      nodeFs.writeFileSync(lab.path('file'), '');
      const before = lab.openDescriptors();
      for (let index = 0; index < 60; index++) {
        const path = index % 3 === 0 ? fifo : lab.path('file');
        const control = new AbortController();
        const open = lab.fs.open(path, 'r', 0, { signal: control.signal });
        if (index % 2 === 0) queueMicrotask(() => control.abort());
        else setImmediate(() => control.abort());
        const outcome = await open.then(
          (file) => file.close(),
          (error: unknown) => (error as { name: string }).name,
        );
        expect([undefined, 'AbortError']).toContain(outcome);
      }
      // Those that still wait in open(2) get the other side, and are closed.
      const other = nodeFs.openSync(fifo, O_RDWR | O_NONBLOCK);
      while (lab.thread.inFlightCount > 0) await new Promise((resolve) => setImmediate(resolve));
      nodeFs.closeSync(other);
      await lab.expectNoLeak(before);
    });
  });

  describe('devices', () => {
    it('without an end are read up to the limit', async () => {
      const zeros = await lab.fs.readFile('/dev/zero', { limit: 1_000_000 });
      expect(zeros.equals(Buffer.alloc(1_000_000))).toBe(true);
      await using file = await lab.fs.open('/dev/zero');
      expect((await file.read(Buffer.alloc(100, 1))).bytesRead).toBe(100);
    });

    it('that are full say so, with the bytes written', async () => {
      await using full = await lab.fs.open('/dev/full', 'w');
      const failed = { code: 'ENOSPC', syscall: 'write', bytesWritten: 0 };
      await expect(full.write('x')).rejects.toMatchObject(failed);
      await expect(full.writev([Buffer.alloc(10)])).rejects.toMatchObject(failed);
      await expect(lab.fs.writeFile('/dev/full', 'x')).rejects.toMatchObject(failed);
    });

    it('that swallow everything, and give nothing', async () => {
      await using sink = await lab.fs.open('/dev/null', 'r+');
      expect((await sink.write(Buffer.alloc(1_000_000))).bytesWritten).toBe(1_000_000);
      expect((await sink.read(Buffer.alloc(100))).bytesRead).toBe(0);
      expect(await lab.fs.readFile('/dev/null')).toEqual(Buffer.alloc(0));
    });
  });

  it('a directory that is not there is not waited for', async () => {
    await expect(lab.fs.readdir('/nope')).rejects.toMatchObject({ code: 'ENOENT' });
    const iterate = async (): Promise<void> => {
      for await (const entry of lab.fs.readdir('/nope')) expect(entry).toBeUndefined();
    };
    await expect(iterate()).rejects.toMatchObject({ code: 'ENOENT', syscall: 'scandir' });
  });
});

describe('under a low limit of descriptors', () => {
  let child: ChildLab;
  beforeAll(() => {
    child = new ChildLab('few');
  });
  afterAll(() => child.remove());

  // sh sets the limit of itself, then becomes node.
  const launcher = ['sh', '-c', 'ulimit -n 256 && exec "$0" "$@"'];
  for (const backend of ['io_uring', 'epoll', 'node']) {
    it(`${backend}: ten thousand files at once`, async () => {
      const args = ['10000', '500'];
      const result = await child.json('few_descriptors', {
        backend,
        args,
        launcher,
        timeoutMs: 60_000,
      });
      expect(result).toMatchObject({ read: 10_000, copied: 500, listed: 500 });
    }, 90_000);

    it(`${backend}: standard input from a pipe`, async () => {
      const pipe = ['sh', '-c', 'echo hi | exec "$0" "$@"'];
      const { counts } = await child.json('read_stdin', { backend, launcher: pipe });
      expect(counts).toEqual([3, 0]);
    });
  }
});
