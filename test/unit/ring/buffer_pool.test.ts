// Buffer pool over the `node` backend: size classes, reuse, bounds, what is ours, and that memory
// nobody can reach any more comes back. Method: the collector is called (`gc`), not waited for.
// Not here: the native arenas (test/native), bouncing (io/transfer.ts).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { CHUNK_BYTES_MAX } from '../../../lib/abi/layout.ts';
import { DEFAULT_BACKEND_OPTIONS } from '../../../lib/backend/backend.ts';
import { createNodeBackend } from '../../../lib/backend/node/node_backend.ts';
import {
  BOUNCE_BYTES_MAX,
  BufferPool,
  type Chunk,
  USER_BYTES_MAX,
} from '../../../lib/ring/buffer_pool.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const newPool = () =>
  new BufferPool(createNodeBackend({ ...DEFAULT_BACKEND_OPTIONS, onWake: () => {} }));

describe('buffer pool: chunks', () => {
  it('chunks: the smallest class that fits', () => {
    const pool = newPool();
    const sizes = [1, 4096, 4097, 16384, 16385, 65536, 65537, CHUNK_BYTES_MAX];
    const expected = [4096, 4096, 16384, 16384, 65536, 65536, CHUNK_BYTES_MAX, CHUNK_BYTES_MAX];
    expect(sizes.map((bytes) => pool.acquire(bytes)?.bytes)).toEqual(expected);
  });

  it('chunks: never two of the same bytes; given back, they are used again', () => {
    const pool = newPool();
    const seen = new Set<string>();
    const chunks: Chunk[] = [];
    for (let count = 0; count < 300; count++) {
      const chunk = pool.acquire(4096);
      if (chunk === undefined) throw new Error('the pool has room');
      expect(chunk.view.length).toBe(4096);
      seen.add(`${chunk.arenaId}:${chunk.offset}`);
      chunks.push(chunk);
    }
    expect(seen.size).toBe(300);
    const bytes = pool.bounceBytes;
    for (const chunk of chunks) pool.release(chunk);
    for (let count = 0; count < 300; count++) expect(pool.acquire(100)).toBeDefined();
    expect(pool.bounceBytes).toBe(bytes);
  });

  it('chunks: bounded; one given back is one that can be had', () => {
    const pool = newPool();
    const chunks: Chunk[] = [];
    for (;;) {
      const chunk = pool.acquire(CHUNK_BYTES_MAX);
      if (chunk === undefined) break;
      chunks.push(chunk);
    }
    // Less the first block of each of the other three classes.
    expect(chunks.length * CHUNK_BYTES_MAX).toBe(BOUNCE_BYTES_MAX - 3 * 1024 * 1024);
    pool.release(chunks[0]);
    expect(pool.acquire(CHUNK_BYTES_MAX)).toBe(chunks[0]);
    expect(pool.acquire(CHUNK_BYTES_MAX)).toBeUndefined();
  });

  it.each([4096, 16384, 65536, CHUNK_BYTES_MAX])(
    'chunks: a class that took all it can (%i bytes) leaves some for each other one',
    (greedyBytes) => {
      const pool = newPool();
      while (pool.acquire(greedyBytes) !== undefined);
      for (const bytes of [4096, 16384, 65536, CHUNK_BYTES_MAX]) {
        if (bytes !== greedyBytes) expect(pool.acquire(bytes)?.bytes).toBe(bytes);
      }
      expect(pool.bounceBytes).toBe(BOUNCE_BYTES_MAX);
    },
  );
});

describe('buffer pool: user buffers', () => {
  it('user buffers: zeroed, their own, and known as such', () => {
    const [pool, other] = [newPool(), newPool()];
    const [first, second] = [pool.allocUser(100), pool.allocUser(5000)];
    expect([first.length, second.length]).toEqual([100, 5000]);
    expect(second.every((byte) => byte === 0)).toBe(true);
    const ids = [first, second].map(({ buffer }) => pool.arenaIdOf(buffer));
    expect(ids[0]).toBeGreaterThan(0);
    expect(ids[1]).toBeGreaterThan(0);
    expect(ids[0]).not.toBe(ids[1]);
    expect(pool.arenaIdOf(first.subarray(10).buffer)).toBe(ids[0]);
    expect(other.arenaIdOf(first.buffer)).toBe(0);
    expect(pool.arenaIdOf(new ArrayBuffer(8))).toBe(0);
    expect(pool.arenaIdOf(first.buffer.slice(0))).toBe(0);
    expect(pool.userBytes).toBe(4096 + 8192);
  });

  it('user buffers: too much is a typed error that says how much', () => {
    const pool = newPool();
    expect(() => pool.allocUser(USER_BYTES_MAX + 1)).toThrow(
      expect.objectContaining({ code: 'ERR_BUFFER_POOL_EXHAUSTED' }),
    );
    expect(pool.userBytes).toBe(0);
  });

  it('user buffers: come back when nobody can reach them', async () => {
    const pool = newPool();
    const kept = pool.allocUser(4096);
    for (let count = 0; count < 50; count++) pool.allocUser(4096);
    expect(pool.userBytes).toBe(51 * 4096);
    for (let turn = 0; turn < 100 && pool.userBytes > 4096; turn++) {
      collect();
      await nextTurn();
    }
    expect(pool.userBytes).toBe(4096);
    expect(pool.arenaIdOf(kept.buffer)).toBeGreaterThan(0);
  });
});
