// Arena table: the memory blocks of the `node` backend, by the id that submission entries carry.
// Owner: the backend. Invariants: id 0 is the scratch of the ring memory and is not in here; ids of
// released arenas are used again; a block in use by node:fs stays alive through its operation.
// Not here: who uses which bytes of an arena (ring/buffer_pool.ts).
import { markAsUntransferable } from 'node:worker_threads';
import * as abi from '../../abi/layout.ts';
import { invariant } from '../../base/assert.ts';
import { errnoOf } from '../../base/errno.ts';
import { systemError } from '../../base/errors.ts';
import type { Arena } from '../../ring/buffer_pool.ts';

function allocate(bytes: number): ArrayBuffer {
  try {
    return new ArrayBuffer(bytes);
  } catch {
    throw systemError(errnoOf('ENOMEM'), 'malloc');
  }
}

export class ArenaTable {
  readonly #bytesById: (Uint8Array | null)[] = [null];
  readonly #freeIds: number[] = [];

  /** @throws SystemError (ENOMEM) */
  add(bytes: number): Arena {
    invariant(Number.isInteger(bytes) && bytes > 0, 'arena bytes', bytes);
    const buffer = allocate(bytes);
    // Moved to another thread it would leave its operations without memory.
    markAsUntransferable(buffer);
    const id = this.#freeIds.pop() ?? this.#bytesById.length;
    invariant(id <= abi.ARENA_COUNT_MAX, 'arena count', id, abi.ARENA_COUNT_MAX);
    this.#bytesById[id] = new Uint8Array(buffer);
    return { id, buffer };
  }

  release(id: number): void {
    if (this.find(id) === null) return;
    this.#bytesById[id] = null;
    this.#freeIds.push(id);
  }

  find(id: number): Uint8Array | null {
    return id < this.#bytesById.length ? this.#bytesById[id] : null;
  }

  clear(): void {
    this.#bytesById.length = 1;
    this.#freeIds.length = 0;
  }
}
