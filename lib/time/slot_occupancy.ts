// Slot occupancy: which slots of the timer wheel hold timers, two levels of bits.
// Owner: one wheel. Invariants: a bit per slot, and per level a bit for each of its 32 words that
// is not 0, so the first occupied slot is found in two steps whatever the number of slots.
// Not here: the slots (timer_wheel.ts).
import { LEVEL_BITS, LEVELS, SLOTS } from './wheel_layout.ts';

const WORD_BITS = 5;
const WORD_MASK = 31;

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

export class SlotOccupancy {
  readonly #words = new Int32Array((SLOTS >> WORD_BITS) + 1);
  readonly #summaries = new Int32Array(LEVELS);

  add(slot: number): void {
    const word = slot >> WORD_BITS;
    this.#words[word] |= 1 << (slot & WORD_MASK);
    this.#summaries[slot >> LEVEL_BITS] |= 1 << (word & WORD_MASK);
  }

  delete(slot: number): void {
    const word = slot >> WORD_BITS;
    const rest = this.#words[word] & ~(1 << (slot & WORD_MASK));
    this.#words[word] = rest;
    if (rest === 0) this.#summaries[slot >> LEVEL_BITS] &= ~(1 << (word & WORD_MASK));
  }

  /** The first occupied slot of the lowest level that has one, or -1. */
  first(): number {
    for (let level = 0; level < LEVELS; level++) {
      const summary = this.#summaries[level];
      if (summary === 0) continue;
      const word = (level << WORD_BITS) + lowestBit(summary);
      return (word << WORD_BITS) + lowestBit(this.#words[word]);
    }
    return -1;
  }

  clear(): void {
    this.#words.fill(0);
    this.#summaries.fill(0);
  }
}
