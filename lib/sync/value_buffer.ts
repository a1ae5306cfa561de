// ValueBuffer: the values that a channel holds, first in first out.
// Owner: its channel. Invariants: a circular array whose size is a power of two, grown when full
// (O(1) on average) and given up when a burst has drained; a place that is free holds no value, so
// nothing is kept alive.
// Not here: the capacity (channel.ts keeps to it).

const SIZE_MIN = 16;
/** A drained array that is larger than this is not kept. */
const SIZE_KEPT_MAX = 1024;

export class ValueBuffer<T> {
  #places: (T | undefined)[] = [];
  #head = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  push(value: T): void {
    if (this.#count === this.#places.length) this.#grow();
    this.#places[(this.#head + this.#count) & (this.#places.length - 1)] = value;
    this.#count++;
  }

  /** The caller knows that it is not empty. */
  shift(): T {
    const value = this.#places[this.#head] as T;
    this.#places[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#places.length - 1);
    this.#count--;
    // #grow() sets the head anew.
    if (this.#count === 0 && this.#places.length > SIZE_KEPT_MAX) this.#places = [];
    return value;
  }

  #grow(): void {
    const old = this.#places;
    const grown = new Array<T | undefined>(Math.max(SIZE_MIN, old.length * 2)).fill(undefined);
    for (let index = 0; index < this.#count; index++) {
      grown[index] = old[(this.#head + index) & (old.length - 1)];
    }
    this.#places = grown;
    this.#head = 0;
  }
}
