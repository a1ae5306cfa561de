// Completion ring, consumer side: results that the poller published.
// Flow: poller -> [completion ring] -> io/io_thread.ts. Owner: one thread, the only consumer.
// Invariants: head <= tail <= head + capacity; it cannot overflow, since a slot is reused only
// after its completion was consumed and there are as many entries as slots.
// Not here: what a result means (io/).
import * as abi from '../abi/layout.ts';
import { invariant } from '../base/assert.ts';
import type { RingMemory } from './ring_memory.ts';

const ENTRY_WORDS = abi.COMPLETION_BYTES / 4;

export class CompletionRing {
  readonly words: Uint32Array;
  readonly signedWords: Int32Array;
  readonly #mask: number;
  readonly #base: number;
  #head = 0;

  constructor(memory: RingMemory) {
    this.words = memory.words;
    this.signedWords = memory.signedWords;
    this.#mask = memory.completionCapacity - 1;
    this.#base = memory.completionIndex;
  }

  get isEmpty(): boolean {
    return this.words[abi.HEADER_COMPLETION_TAIL_INDEX] === this.#head;
  }

  /** Index into `words`/`signedWords` of the oldest entry; copy it out, then consume(). */
  peek(): number {
    return this.#base + (this.#head & this.#mask) * ENTRY_WORDS;
  }

  consume(): void {
    this.#head = (this.#head + 1) >>> 0;
    this.words[abi.HEADER_COMPLETION_HEAD_INDEX] = this.#head;
  }
}

/** Producer side, for pollers written in TypeScript. */
export class CompletionWriter {
  readonly #words: Uint32Array;
  readonly #signedWords: Int32Array;
  readonly #mask: number;
  readonly #capacity: number;
  readonly #base: number;
  #tail = 0;

  constructor(memory: RingMemory) {
    this.#words = memory.words;
    this.#signedWords = memory.signedWords;
    this.#capacity = memory.completionCapacity;
    this.#mask = memory.completionCapacity - 1;
    this.#base = memory.completionIndex;
  }

  /** Number of entries that can be published now, or -1 when the cursors cannot be right. */
  get freeCount(): number {
    const head = this.#words[abi.HEADER_COMPLETION_HEAD_INDEX];
    const used = (this.#tail - head) >>> 0;
    return used > this.#capacity ? -1 : this.#capacity - used;
  }

  publish(slot: number, generation: number, result: number, flags: number): void {
    const freeCount = this.freeCount;
    invariant(freeCount > 0, 'completion ring has room', freeCount, this.#capacity);
    const at = this.#base + (this.#tail & this.#mask) * ENTRY_WORDS;
    this.#words[at + abi.COMPLETION_SLOT_INDEX] = slot;
    this.#words[at + abi.COMPLETION_GENERATION_INDEX] = generation;
    this.#signedWords[at + abi.COMPLETION_RESULT_INDEX] = result;
    this.#words[at + abi.COMPLETION_FLAGS_INDEX] = flags;
    this.#tail = (this.#tail + 1) >>> 0;
    this.#words[abi.HEADER_COMPLETION_TAIL_INDEX] = this.#tail;
  }
}
