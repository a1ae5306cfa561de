// Arena table: the memory blocks of the `node` backend, by the id that submission entries carry.
// Owner: the backend, but of the ids only: the memory is an ArrayBuffer that lives as long as
// somebody can reach it (the buffer pool's chunks, a user's buffer, an operation in flight). Held
// from here it would never be collected, and buffers.alloc() gives its bytes back on collection.
// Invariants: id 0 is the scratch of the ring memory and is not in here; ids of released arenas are
// used again. Not here: who uses which bytes of an arena (ring/buffer_pool.ts).
import { markAsUntransferable } from 'node:worker_threads';
import * as abi from '../../abi/layout.ts';
import { invariant } from '../../base/assert.ts';
import { errnoOf } from '../../base/errno.ts';
import { systemError } from '../../base/errors.ts';
import type { Arena } from '../../ring/buffer_pool.ts';

export class ArenaTable {
  readonly #buffersById: (WeakRef<ArrayBuffer> | null)[] = [null];
  readonly #freeIds: number[] = [];

  /** @throws SystemError (ENOMEM) */
  add(bytes: number): Arena {
    invariant(Number.isInteger(bytes) && bytes > 0, 'arena bytes', bytes);
    const buffer = allocate(bytes);
    // Moved to another thread it would leave its operations without memory.
    markAsUntransferable(buffer);
    const id = this.#freeIds.pop() ?? this.#buffersById.length;
    invariant(id <= abi.ARENA_COUNT_MAX, 'arena count', id, abi.ARENA_COUNT_MAX);
    this.#buffersById[id] = new WeakRef(buffer);
    return { id, buffer };
  }

  release(id: number): void {
    if (id >= this.#buffersById.length || this.#buffersById[id] === null) return;
    this.#buffersById[id] = null;
    this.#freeIds.push(id);
  }

  /** The whole arena, or null for an id that names none. */
  find(id: number): Uint8Array | null {
    const buffer = id < this.#buffersById.length ? this.#buffersById[id]?.deref() : undefined;
    return buffer === undefined ? null : new Uint8Array(buffer);
  }

  clear(): void {
    this.#buffersById.length = 1;
    this.#freeIds.length = 0;
  }
}

function allocate(bytes: number): ArrayBuffer {
  try {
    return new ArrayBuffer(bytes);
  } catch {
    throw systemError(errnoOf('ENOMEM'), 'malloc');
  }
}
