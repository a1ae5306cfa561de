// IoThread over a real backend whose memory runs out, and with far more operations than slots.
// Method: the node backend behind a thin wrapper that refuses arenas; real files and FIFOs.
// Not here: the backends (test/conformance), each operation in each state (test/lifecycle).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as abi from '../../../lib/abi/layout.ts';
import { OP_NOP } from '../../../lib/abi/layout.ts';
import { type Backend, DEFAULT_BACKEND_OPTIONS } from '../../../lib/backend/backend.ts';
import { createNodeBackend } from '../../../lib/backend/node/node_backend.ts';
import { AbortError, systemError } from '../../../lib/base/errors.ts';
import { writeEntry } from '../../../lib/io/entry.ts';
import { IoOperation } from '../../../lib/io/io_operation.ts';
import { IoThread } from '../../../lib/io/io_thread.ts';
import { OpenFile } from '../../../lib/io/open_file.ts';
import { startUnguarded } from '../../../lib/io/path_operation.ts';
import { ReadOperation } from '../../../lib/io/transfer.ts';

const ENOMEM = -12;

/** Waits until it is told to end: holds its slot. */
class Holder extends IoOperation<number> {
  encode(words: Uint32Array, at: number, slot: number, generation: number): void {
    writeEntry(words, at, OP_NOP, slot, generation, -1);
  }
  completed(result: number): void {
    this.fulfill(result);
  }
}

describe('io thread', () => {
  let folder: string;
  let path: string;
  let thread: IoThread;
  let arenasLeft: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nephrite-io-thread-'));
    path = join(folder, 'file');
    writeFileSync(path, Buffer.alloc(1_000_000, 'f'));
    arenasLeft = Infinity;
    thread = new IoThread((onWake) => {
      const backend = createNodeBackend({
        ...DEFAULT_BACKEND_OPTIONS,
        ringEntries: 8,
        slotCapacity: 16,
        onWake,
      });
      const addArena = backend.addArena.bind(backend);
      const limited: Pick<Backend, 'addArena'> = {
        addArena(bytes) {
          if (arenasLeft-- <= 0) throw systemError(ENOMEM, 'mmap');
          return addArena(bytes);
        },
      };
      return Object.assign(backend, limited);
    });
  });
  afterEach(() => {
    thread.close();
    rmSync(folder, { recursive: true });
  });

  const openFile = async (): Promise<OpenFile> => {
    const request = { opcode: abi.OP_OPEN, syscall: 'open', path };
    const fd = await startUnguarded(thread, request, (result) => result);
    return new OpenFile(fd, abi.COMPLETION_KIND_MASK & (0o100000 >> 12), false);
  };
  const read = (file: OpenFile, bytes: number): ReadOperation<Buffer> => {
    const target = Buffer.alloc(bytes);
    const operation = new ReadOperation(thread, file, file.fd, target, 0, bytes, 0, target);
    thread.submit(operation);
    return operation;
  };

  it('no memory for a chunk: that operation fails, the thread goes on', async () => {
    const file = await openFile();
    arenasLeft = 0;
    await expect(read(file, 1000)).rejects.toMatchObject({ code: 'ENOMEM', syscall: 'mmap' });
    const request = { opcode: abi.OP_STAT, syscall: 'stat', path };
    expect(await startUnguarded(thread, request, (result) => result)).toBe(0);
    arenasLeft = Infinity;
    expect((await read(file, 1000)).bytesRead).toBe(1000);
  });

  it('no memory for one that waited for a slot: it fails, those behind it go on', async () => {
    const file = await openFile();
    await read(file, 1000);
    // Fills every slot; the reads wait, and find the memory gone when their turn comes.
    const holders = Array.from({ length: 14 }, () => new Holder(thread));
    for (const holder of holders) thread.submit(holder);
    const large = read(file, 200_000);
    const small = read(file, 1000);
    arenasLeft = 0;
    await Promise.all(holders);
    await expect(large).rejects.toMatchObject({ code: 'ENOMEM' });
    expect((await small).bytesRead).toBe(1000);
  });

  it('forty thousand that wait are cancelled newest first in no time', () => {
    const all = Array.from({ length: 40_000 }, () => new Holder(thread));
    for (const operation of all) {
      operation.catch(() => {});
      thread.submit(operation);
    }
    const error = new AbortError();
    const before = process.cpuUsage();
    for (const operation of all.reverse()) operation.cancelWith(error);
    const { user, system } = process.cpuUsage(before);
    // 60 ms; walking the list for each takes seconds.
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});
