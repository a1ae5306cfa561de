// Buffer pool: memory that backends may read and write and that JavaScript cannot free.
// Owner: one thread. Two kinds: chunks, through which any other buffer is bounced (never shown to
// the user), and user buffers from buffers.alloc(), one arena each, zero-copy.
// Invariants: chunks start at 4096-aligned addresses (kernel copies to addresses not aligned to
// 32 bytes cost 2 to 4 times more); a chunk is in one operation or in one free list; the pool's
// bytes are bounded, and the first block of every class has its place within the bound: blocks stay
// with their class, so one class could else take all and another's operations wait for ever.
// An ArrayBuffer of ours carries its arena's id in a private field, which nobody can forge and
// which a transferred copy does not carry.
// Not here: which operation uses what (io/transfer.ts).
import { CHUNK_BYTES_MAX } from '../abi/layout.ts';
import { invariant } from '../base/assert.ts';
import { NephriteError } from '../base/errors.ts';

/** One block of memory that backends may read and write; JavaScript cannot free it under them. */
export interface Arena {
  /** Names the arena in submission entries; 0 is the scratch of the ring memory. */
  readonly id: number;
  readonly buffer: ArrayBufferLike;
}

/** What the pool needs of a backend. */
export interface ArenaSource {
  addArena(bytes: number): Arena;
  releaseArena(id: number): void;
}

/** One bounce buffer; `view` covers it whole. */
export interface Chunk {
  readonly arenaId: number;
  readonly offset: number;
  readonly bytes: number;
  readonly view: Buffer;
  nextFree: Chunk | undefined;
}

// 4 KiB for pages, 256 KiB for bulk (it still fits the L2 cache twice), two steps between.
const CLASS_BYTES = [4096, 16384, 65536, CHUNK_BYTES_MAX] as const;
// One arena holds chunks of one class.
const BLOCK_BYTES = 1024 * 1024;

/** Default bounds, bytes. A thread that bounces nothing allocates nothing. */
export const BOUNCE_BYTES_MAX = 64 * 1024 * 1024;
export const USER_BYTES_MAX = 1024 * 1024 * 1024;

// Stamping by return override: the constructor "returns" the ArrayBuffer, so the private field
// lands on it. A WeakMap lookup costs 30 ns an operation more.
class Returned {
  constructor(target: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is the stamping technique.
    return target;
  }
}
class ArenaStamp extends Returned {
  #arenaId: number;
  #pool: BufferPool;
  constructor(buffer: ArrayBufferLike, arenaId: number, pool: BufferPool) {
    super(buffer);
    this.#arenaId = arenaId;
    this.#pool = pool;
  }
  // Ids are per backend: another pool's buffer is a stranger's.
  static read(buffer: object, pool: BufferPool): number {
    if (!(#arenaId in buffer)) return 0;
    const stamp = buffer as ArenaStamp;
    return stamp.#pool === pool ? stamp.#arenaId : 0;
  }
}

export class BufferPool {
  readonly #source: ArenaSource;
  readonly #free: (Chunk | undefined)[] = CLASS_BYTES.map(() => undefined);
  readonly #registry: FinalizationRegistry<{ arenaId: number; bytes: number }>;
  readonly #blockCounts = CLASS_BYTES.map(() => 0);
  #bounceBytes = 0;
  #userBytes = 0;

  constructor(source: ArenaSource) {
    this.#source = source;
    this.#registry = new FinalizationRegistry(({ arenaId, bytes }) => {
      this.#userBytes -= bytes;
      this.#source.releaseArena(arenaId);
    });
  }

  get bounceBytes(): number {
    return this.#bounceBytes;
  }

  get userBytes(): number {
    return this.#userBytes;
  }

  /**
   * A chunk of at least `bytes` (at most CHUNK_BYTES_MAX), or undefined when the pool is at its
   * bound: the operation then waits until another gives one back.
   */
  acquire(bytes: number): Chunk | undefined {
    const classIndex = bytes <= 4096 ? 0 : bytes <= 16384 ? 1 : bytes <= 65536 ? 2 : 3;
    const chunk = this.#free[classIndex] ?? this.#grow(classIndex);
    if (chunk === undefined) return undefined;
    this.#free[classIndex] = chunk.nextFree;
    chunk.nextFree = undefined;
    return chunk;
  }

  release(chunk: Chunk): void {
    const bytes = chunk.bytes;
    const classIndex = bytes === 4096 ? 0 : bytes === 16384 ? 1 : bytes === 65536 ? 2 : 3;
    // Last in, first out: the chunk is still in the cache.
    chunk.nextFree = this.#free[classIndex];
    this.#free[classIndex] = chunk;
  }

  #grow(classIndex: number): Chunk | undefined {
    const counts = this.#blockCounts;
    const isFirst = (count: number, index: number): boolean => count === 0 && index !== classIndex;
    const reservedBytes = counts.filter(isFirst).length * BLOCK_BYTES;
    if (this.#bounceBytes + reservedBytes + BLOCK_BYTES > BOUNCE_BYTES_MAX) return undefined;
    const arena = this.#source.addArena(BLOCK_BYTES);
    this.#bounceBytes += BLOCK_BYTES;
    counts[classIndex]++;
    const bytes = CLASS_BYTES[classIndex];
    invariant(bytes !== undefined, 'size class', classIndex, CLASS_BYTES.length);
    let first: Chunk | undefined;
    for (let offset = BLOCK_BYTES - bytes; offset >= 0; offset -= bytes) {
      const view = Buffer.from(arena.buffer, offset, bytes);
      first = { arenaId: arena.id, offset, bytes, view, nextFree: first };
    }
    return first;
  }

  /** Zeroed memory of its own arena, returned to the system when its ArrayBuffer is collected. */
  allocUser(bytes: number): Buffer {
    const arenaBytes = Math.ceil(bytes / 4096) * 4096;
    if (this.#userBytes + arenaBytes > USER_BYTES_MAX) {
      throw new NephriteError(
        'ERR_BUFFER_POOL_EXHAUSTED',
        `buffers.alloc(${bytes}): ${this.#userBytes} of ${USER_BYTES_MAX} bytes are in use; drop ` +
          'references to buffers you no longer need',
      );
    }
    const arena = this.#source.addArena(arenaBytes);
    new ArenaStamp(arena.buffer, arena.id, this);
    this.#userBytes += arenaBytes;
    this.#registry.register(arena.buffer, { arenaId: arena.id, bytes: arenaBytes });
    return Buffer.from(arena.buffer, 0, bytes);
  }

  /** The arena that `buffer` is, or 0: then it is bounced. */
  arenaIdOf(buffer: ArrayBufferLike): number {
    return ArenaStamp.read(buffer, this);
  }
}
