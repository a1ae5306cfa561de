// Memory under operations: buffers that are transferred or collected while a read into them is
// pending, and where pool memory lies. Run with --expose-gc.
import assert from 'node:assert/strict';
import * as plain from 'node:fs';
import { readFileSync, writeFileSync } from 'node:fs';
import { buffers, open, readFile } from '../../../lib/fs.ts';
import { currentThread } from '../../../lib/io/current_thread.ts';
import { makeFifo, outcome, pause, runCommand, say, until } from './tools.ts';

const collect = (): void => {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  globalThis.gc();
};
const MINE = 0xab;
const THEIRS = 0x55;

/** Detaches as postMessage does; gives the new owner's view, filled with what must stay. */
function transfer(buffer: Buffer): Uint8Array {
  const moved = structuredClone(buffer.buffer, { transfer: [buffer.buffer as ArrayBuffer] });
  return new Uint8Array(moved).fill(MINE);
}

const isIntact = (owned: readonly Uint8Array[]): boolean =>
  owned.every((bytes) => bytes.every((byte) => byte === MINE));

/** Not from Node's shared pool: its slab belongs to others too. */
const ownBuffer = (bytes: number): Buffer => Buffer.from(new ArrayBuffer(bytes));

/** A read of a FIFO waits in the kernel; its buffer gets a new owner; then the data comes. */
async function transferPending(bytes: number): Promise<{ codes: string[]; isIntact: boolean }> {
  const path = makeFifo(`transfer-${process.pid}-${bytes}`);
  const handle = await open(path, 'r+');
  const targets = Array.from({ length: 8 }, () => ownBuffer(bytes));
  let settledCount = 0;
  const ends = targets.map((target) => outcome(handle.read(target)).finally(() => settledCount++));
  await pause(10);
  const owned = targets.map(transfer);
  collect();
  // The memory of collected buffers is used again: by these, which must stay whole too.
  owned.push(...Array.from({ length: 32 }, () => new Uint8Array(ownBuffer(bytes)).fill(MINE)));
  // One read may take what was meant for several.
  while (settledCount < targets.length) {
    plain.writeFileSync(path, Buffer.alloc(100, THEIRS));
    await pause(1);
  }
  const codes = [...new Set(await Promise.all(ends))];
  await handle.close();
  return { codes, isIntact: isIntact(owned) };
}

/** Regular files: the transfer comes in the turn of the call, before anything was submitted. */
async function transferAtOnce(): Promise<Record<string, unknown>> {
  const path = `file-${process.pid}`;
  const bytes = 1_000_000;
  writeFileSync(path, Buffer.alloc(bytes, THEIRS));
  const handle = await open(path, 'r+');
  const target = ownBuffer(bytes);
  const reading = outcome(handle.read(target, 0, bytes, 0));
  const owned = [transfer(target)];
  const read = await reading;

  const source = ownBuffer(bytes).fill(0x77);
  const writing = handle.write(source, 0, bytes, 0).then(
    () => 'value',
    ({ code, bytesWritten }: { code: string; bytesWritten: number }) => ({ code, bytesWritten }),
  );
  owned.push(transfer(source));
  const write = await writing;
  const file = readFileSync(path);
  const writtenCount = typeof write === 'string' ? bytes : write.bytesWritten;
  // What was said to be written is the caller's data, and nothing of the new owner's is there.
  const isPrefix = file.subarray(0, writtenCount).every((byte) => byte === 0x77);
  await handle.close();
  const code = typeof write === 'string' ? write : write.code;
  return { read, write: code, isPrefix, hasLeaked: file.includes(MINE), isIntact: isIntact(owned) };
}

/** Buffers and operations are dropped while the kernel has them. */
async function collectPending(): Promise<Record<string, unknown>> {
  const path = makeFifo(`collect-${process.pid}`);
  const handle = await open(path, 'r+');
  let settledCount = 0;
  const count = 60;
  const start = (): void => {
    for (let at = 0; at < count; at++) {
      const target = at % 2 === 0 ? ownBuffer(65536) : buffers.alloc(65536);
      void handle.read(target).then(({ buffer, bytesRead }) => {
        assert.ok(buffer.subarray(0, bytesRead).every((byte) => byte === THEIRS));
        settledCount++;
      });
    }
  };
  start();
  await pause(5);
  for (let round = 0; round < 5; round++) {
    collect();
    await pause(1);
  }
  const others = Array.from({ length: 100 }, () => new Uint8Array(ownBuffer(65536)).fill(MINE));
  while (settledCount < count) {
    plain.writeFileSync(path, Buffer.alloc(1000, THEIRS));
    await pause(1);
  }
  await handle.close();
  // Pool memory goes back to the system once its buffers are gone.
  const { pool } = currentThread();
  const isReturned = await until(() => {
    collect();
    return pool.userBytes === 0;
  });
  return { settledCount, isIntact: isIntact(others), isReturned };
}

const PAGE_BYTES = 4096;

/** Where `marker` lies in this process's memory: every address. */
function addressesOf(marker: Buffer): number[] {
  const found: number[] = [];
  const memory = plain.openSync('/proc/self/mem', 'r');
  const chunk = Buffer.allocUnsafeSlow(1 << 20);
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    const [, first = '', last = ''] =
      /^([0-9a-f]+)-([0-9a-f]+) rw.. 0+ 00:00 0 *$/.exec(line) ?? [];
    if (first === '') continue;
    const end = Number.parseInt(last, 16);
    for (let at = Number.parseInt(first, 16), count = 0; at < end; at += count) {
      try {
        count = plain.readSync(memory, chunk, 0, Math.min(chunk.length, end - at), at);
      } catch {
        // A page that was unmapped meanwhile; what lies behind it in the same line is not.
        count = PAGE_BYTES;
        continue;
      }
      if (count === 0) break;
      const bytes = chunk.subarray(0, count);
      for (let hit = bytes.indexOf(marker); hit >= 0; hit = bytes.indexOf(marker, hit + 1)) {
        found.push(at + hit);
      }
      chunk.fill(0);
    }
  }
  plain.closeSync(memory);
  return found;
}

/** Addresses of memory that operations use: chunks of each class, buffers of users. */
async function addresses(): Promise<Record<string, unknown>> {
  await readFile('/proc/self/stat');
  const { pool } = currentThread();
  const views: Record<string, Uint8Array> = {};
  for (const bytes of [4096, 16384, 65536, 262144]) {
    const chunk = pool.acquire(bytes);
    if (chunk !== undefined) views[`chunk of ${bytes}`] = chunk.view;
    const second = pool.acquire(bytes);
    if (second !== undefined) views[`second chunk of ${bytes}`] = second.view;
  }
  views['buffers.alloc(100)'] = buffers.alloc(100);
  views['buffers.alloc(1000000)'] = buffers.alloc(1_000_000);
  const misaligned: string[] = [];
  let serial = 1;
  for (const [name, view] of Object.entries(views)) {
    // Made in place, so that the only copy in memory is the one that is looked for.
    const word = 0x9e3779b9 + serial++;
    for (let at = 0; at < 32; at += 4)
      new DataView(view.buffer, view.byteOffset).setUint32(at, word);
    const marker = Buffer.allocUnsafeSlow(32);
    for (let at = 0; at < 32; at += 4) marker.writeUInt32BE(word, at);
    const all = addressesOf(marker).filter((address) => address % 64 === 0);
    if (all.length === 0) misaligned.push(name);
  }
  // A marker at an odd place must not be found at an aligned one: the search can fail.
  const odd = new Uint8Array(buffers.alloc(200).buffer, 4, 32).fill(0xe7);
  const oddHits = addressesOf(Buffer.from(odd)).filter((address) => address % 64 === 4);
  return { count: Object.keys(views).length, misaligned, isSearchSound: oddHits.length > 0 };
}

await runCommand({
  async transfer() {
    const small = await transferPending(4096);
    const large = await transferPending(300_000);
    say({ small, large, atOnce: await transferAtOnce() });
  },

  /** Pool memory cannot be given away: Node refuses (since 21), or copies. */
  async 'transfer-pool'() {
    const buffer = buffers.alloc(4096).fill(MINE);
    try {
      const moved = structuredClone(buffer.buffer, { transfer: [buffer.buffer as ArrayBuffer] });
      new Uint8Array(moved).fill(THEIRS);
    } catch (error) {
      assert.equal((error as Error).name, 'DataCloneError');
    }
    say({ isOurs: buffer.length === 4096 && buffer.every((byte) => byte === MINE) });
  },

  collect: async () => say(await collectPending()),
  addresses: async () => say(await addresses()),
});
