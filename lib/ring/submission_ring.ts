// Submission ring, producer side: fixed-size entries that the poller consumes in enter().
// Flow: io/ (encode) -> [submission ring] -> native/ring or lib/backend. Owner: one thread, the
// only producer. Invariants: tail - head <= capacity; an entry is complete before the tail moves.
// Not here: what an entry means (io/encode.ts), when the poller is entered (io/io_thread.ts).
import * as abi from '../abi/layout.ts';
import type { RingMemory } from './ring_memory.ts';

const ENTRY_WORDS = abi.SUBMISSION_BYTES / 4;

export class SubmissionRing {
  readonly words: Uint32Array;
  readonly #mask: number;
  readonly #capacity: number;
  readonly #base: number;
  #tail: number;

  constructor(memory: RingMemory) {
    this.words = memory.words;
    this.#capacity = memory.submissionCapacity;
    this.#mask = memory.submissionCapacity - 1;
    this.#base = memory.submissionIndex;
    this.#tail = memory.words[abi.HEADER_SUBMISSION_TAIL_INDEX];
  }

  get isFull(): boolean {
    const head = this.words[abi.HEADER_SUBMISSION_HEAD_INDEX];
    return (this.#tail - head) >>> 0 >= this.#capacity;
  }

  get pendingCount(): number {
    return (this.#tail - this.words[abi.HEADER_SUBMISSION_HEAD_INDEX]) >>> 0;
  }

  /**
   * Index into `words` of the next free entry; the caller has checked `isFull`, fills all 16 words
   * and then calls publish().
   */
  reserve(): number {
    return this.#base + (this.#tail & this.#mask) * ENTRY_WORDS;
  }

  publish(): void {
    this.#tail = (this.#tail + 1) >>> 0;
    this.words[abi.HEADER_SUBMISSION_TAIL_INDEX] = this.#tail;
  }
}

/** Consumer side, for pollers written in TypeScript. */
export class SubmissionReader {
  readonly #words: Uint32Array;
  readonly #mask: number;
  readonly #capacity: number;
  readonly #base: number;
  #head = 0;

  constructor(memory: RingMemory) {
    this.#words = memory.words;
    this.#capacity = memory.submissionCapacity;
    this.#mask = memory.submissionCapacity - 1;
    this.#base = memory.submissionIndex;
  }

  /** Number of entries to read, or -1 when the cursors cannot be right. */
  get availableCount(): number {
    const tail = this.#words[abi.HEADER_SUBMISSION_TAIL_INDEX];
    const count = (tail - this.#head) >>> 0;
    return count > this.#capacity ? -1 : count;
  }

  /** Index into `words` of the oldest entry; consume() gives it back to the producer. */
  peek(): number {
    return this.#base + (this.#head & this.#mask) * ENTRY_WORDS;
  }

  consume(): void {
    this.#head = (this.#head + 1) >>> 0;
    this.#words[abi.HEADER_SUBMISSION_HEAD_INDEX] = this.#head;
  }
}
