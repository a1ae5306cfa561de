// Poller ring: the poller's end of both rings, for pollers written in TypeScript: takes entries
// out, publishes completions, keeps the counters of the header.
// Owner: the backend. Invariants: an entry is taken only when its completion has room, so that
// every entry taken gives exactly one; the producer's cursors are checked at each use.
// Not here: what an entry means (submission_entry.ts), operations in flight (the backends).
import * as abi from '../abi/layout.ts';
import { CompletionWriter } from '../ring/completion_ring.ts';
import type { RingMemory } from '../ring/ring_memory.ts';
import { SubmissionReader } from '../ring/submission_ring.ts';

export class PollerRing {
  readonly memory: RingMemory;
  readonly #reader: SubmissionReader;
  readonly #writer: CompletionWriter;
  #publishedCount = 0;

  constructor(memory: RingMemory) {
    this.memory = memory;
    this.#reader = new SubmissionReader(memory);
    this.#writer = new CompletionWriter(memory);
  }

  /** Completions published since the beginning. */
  get publishedCount(): number {
    return this.#publishedCount;
  }

  /**
   * Calls `take` with the index (into `memory.words`) of each entry there is. Gives status bits:
   * STATUS_CORRUPT, or STATUS_MORE when there is no room for more completions.
   */
  consume(inFlightCount: number, take: (index: number) => void): number {
    const available = this.#reader.availableCount;
    const free = this.#writer.freeCount;
    if (available < 0 || free < 0) return abi.STATUS_CORRUPT;
    // Only refused entries can fill the ring: an accepted one has a slot, and so a place.
    const room = free - inFlightCount;
    for (let taken = 0; taken < available; taken++) {
      if (taken >= room) return abi.STATUS_MORE;
      take(this.#reader.peek());
      this.#reader.consume();
      this.count(abi.HEADER_SUBMISSION_COUNT_INDEX);
    }
    return 0;
  }

  /** False when the consumer's cursor went backwards: there is no room that was there before. */
  hasRoom(count: number): boolean {
    return this.#writer.freeCount >= count;
  }

  publish(slot: number, generation: number, result: number, flags: number): void {
    this.#writer.publish(slot, generation, result, flags);
    this.#publishedCount++;
    this.count(abi.HEADER_COMPLETION_COUNT_INDEX);
  }

  /** Answers the entry at `index` with an error; nothing was started for it. */
  reject(index: number, error: number): void {
    const { words } = this.memory;
    const slot = words[index + abi.SUBMISSION_SLOT_INDEX];
    this.count(abi.HEADER_REJECTED_COUNT_INDEX);
    this.publish(slot, words[index + abi.SUBMISSION_GENERATION_INDEX], error, 0);
  }

  /** Ends an enter(). */
  writeHeader(status: number, inFlightCount: number): void {
    this.count(abi.HEADER_ENTER_COUNT_INDEX);
    this.memory.words[abi.HEADER_STATUS_INDEX] = status;
    this.memory.words[abi.HEADER_IN_FLIGHT_INDEX] = inFlightCount;
  }

  /** Adds one to a counter of the header. */
  count(index: number): void {
    this.memory.doubles[index]++;
  }
}
