// Seeded random numbers: the same seed gives the same run, on every machine.
// The generator is sfc32 (Chris Doty-Humphrey, PractRand: three words of state and a counter, so no
// cycle is shorter than 2^32); the seed is spread over its state by lowbias32, a 32-bit finalizer
// found by Chris Wellons' hash prospector.
// Owner: whoever made it; never shared, so that draws of one part do not shift another's.
// Invariants: no allocation per draw. Not here: secrets (node:crypto), the choice of a seed.

/** Spreads the bits of a 32-bit word, so that neighbouring inputs give unrelated outputs. */
export function mix32(word: number): number {
  let mixed = word | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

const WARM_UP_DRAWS = 12;

/** Pseudo-random generator, not for secrets. */
export class Prng {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** `seed` is any integer up to 2^53-1; `stream` separates generators that share a seed. */
  constructor(seed: number, stream = 0) {
    this.#a = mix32(seed);
    this.#b = mix32(Math.floor(seed / 2 ** 32) ^ 0x9e3779b9);
    this.#c = mix32(stream + 0x6a09e667);
    for (let draw = 0; draw < WARM_UP_DRAWS; draw++) this.nextWord();
  }

  /** A whole number from 0 to 2^32-1. */
  nextWord(): number {
    const result = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0;
    return result >>> 0;
  }

  /** A number from 0 (included) to 1 (excluded) with 32 bits of randomness. */
  nextFraction(): number {
    return this.nextWord() / 2 ** 32;
  }

  /** A whole number from 0 to `bound` - 1; `bound` from 1 to 2^32. */
  nextBelow(bound: number): number {
    return Math.floor(this.nextFraction() * bound);
  }
}
