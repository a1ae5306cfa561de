// Which block or file the next operation goes to: in order, uniformly, or zipf distributed.
// Owner: one picker per workload. Invariants: 0 <= target < count.
// Not here: keeping writers apart from readers (block_table.ts).
import { mix32, type Prng } from '../../base/prng.ts';
import { ZipfSampler } from './zipf.ts';

/** Yields targets from 0 to count-1. */
export interface TargetPicker {
  next(prng: Prng): number;
}

/** Every target equally often. */
export function uniformPicker(count: number): TargetPicker {
  return { next: (prng) => prng.nextBelow(count) };
}

/** One target after the other, from the first again after the last. */
export function sequentialPicker(count: number): TargetPicker {
  let cursor = 0;
  return {
    next() {
      const target = cursor;
      cursor = cursor + 1 === count ? 0 : cursor + 1;
      return target;
    },
  };
}

/** Zipf distributed, hot targets scattered over the whole set by a seeded permutation. */
export function zipfPicker(count: number, theta: number, seed: number): TargetPicker {
  const sampler = new ZipfSampler(count, theta);
  const multiplier = coprimeTo(count, mix32(seed) % 2 ** 24);
  const shift = mix32(seed + 1) % count;
  // count <= 2^28 and multiplier < 2^25: the product stays below 2^53 and exact.
  return { next: (prng) => (sampler.next(prng) * multiplier + shift) % count };
}

function coprimeTo(count: number, start: number): number {
  let candidate = start | 1;
  while (greatestCommonDivisor(candidate, count) !== 1) candidate += 2;
  return candidate;
}

function greatestCommonDivisor(left: number, right: number): number {
  let [a, b] = [left, right];
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
