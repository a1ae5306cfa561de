// The workload engine without a disk: what is drawn, what is claimed, what a check notices.
// Random tests print their seed through fast-check and replay from NEPHRITE_SEED.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Prng } from '../../lib/base/prng.ts';
import { Pacer } from '../../lib/cli/load/pacer.ts';
import { BlockTable } from '../../lib/cli/workload/block_table.ts';
import {
  isChanging,
  OP_READ,
  OP_SYNC,
  OPERATION_NAMES,
  type OperationSlot,
} from '../../lib/cli/workload/operations.ts';
import { BlockPattern, HEADER_BYTES } from '../../lib/cli/workload/pattern.ts';
import {
  sequentialPicker,
  type TargetPicker,
  uniformPicker,
  zipfPicker,
} from '../../lib/cli/workload/target_picker.ts';
import { MODES, Workload, type WorkloadShape } from '../../lib/cli/workload/workload.ts';
import { ZipfSampler } from '../../lib/cli/workload/zipf.ts';

const seedText = process.env.NEPHRITE_SEED;
const FAST_CHECK = seedText ? { seed: Number(seedText) } : {};

describe('targets', () => {
  const draw = (picker: TargetPicker, count: number, seed: number): number[] => {
    const prng = new Prng(seed);
    return Array.from({ length: count }, () => picker.next(prng));
  };

  test('every picker stays within its bounds, for every count, skew and seed', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 ** 28 }),
        fc.double({ min: 0.1, max: 3, noNaN: true }),
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        (count, theta, seed) => {
          const pickers = [
            uniformPicker(count),
            sequentialPicker(count),
            zipfPicker(count, theta, seed),
          ];
          return pickers.every((picker) =>
            draw(picker, 50, seed).every(
              (target) => Number.isInteger(target) && target >= 0 && target < count,
            ),
          );
        },
      ),
      FAST_CHECK,
    );
  });

  test('sequential goes in order and starts over', () => {
    expect(draw(sequentialPicker(3), 7, 1)).toEqual([0, 1, 2, 0, 1, 2, 0]);
  });

  test.each([0.5, 0.99, 1, 1.2, 2])('zipf %d has the frequencies of its formula', (theta) => {
    const count = 100;
    const draws = 200_000;
    const sampler = new ZipfSampler(count, theta);
    const prng = new Prng(20_261_130);
    const seen = new Array<number>(count).fill(0);
    for (let index = 0; index < draws; index++) seen[sampler.next(prng)] += 1;
    const weights = Array.from({ length: count }, (_, rank) => (rank + 1) ** -theta);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    for (const rank of [0, 1, 2, 9, 49, 99]) {
      const expected = (weights[rank] / total) * draws;
      // Five standard deviations of a binomial count: this seed is fixed, so it cannot flake.
      expect(Math.abs(seen[rank] - expected)).toBeLessThan(5 * Math.sqrt(expected) + 1);
    }
  });

  test('zipf reaches every target: the scattering is a permutation', () => {
    const seen = new Set(draw(zipfPicker(64, 0.1, 5), 20_000, 9));
    expect(seen.size).toBe(64);
  });
});

describe('claims', () => {
  const shapeOf = (mode: WorkloadShape['mode']): WorkloadShape => ({
    mode,
    blockCount: mode === 'small' ? 0 : 40,
    smallFileCount: mode === 'small' || mode === 'mixed' ? 40 : 0,
    readPercent: 50,
    zipfTheta: mode === 'sequential' ? null : 2,
    seed: 3,
  });

  test.each(MODES)(
    '%s: a writer is alone on its target, whatever the order of releases',
    (mode) => {
      const shape = shapeOf(mode);
      const table = new BlockTable(shape.blockCount + shape.smallFileCount);
      const workload = new Workload(shape, table, 0);
      const prng = new Prng(11);
      const held: OperationSlot[] = [];
      for (let turn = 0; turn < 2000; turn++) {
        if (held.length === 20) {
          const [done] = held.splice(prng.nextBelow(held.length), 1);
          workload.release(done, prng.nextBelow(10) > 0);
        }
        const slot: OperationSlot = { kind: OP_READ, target: 0, generation: 0, isKnown: true };
        workload.next(slot);
        const others = held.filter(
          ({ target, kind }) => target === slot.target && kind !== OP_SYNC && slot.kind !== OP_SYNC,
        );
        if (isChanging(slot.kind)) expect(others).toEqual([]);
        expect(others.filter(({ kind }) => isChanging(kind))).toEqual([]);
        held.push(slot);
      }
    },
  );

  test.each(MODES)('%s: the same seed and round give the same operations', (mode) => {
    const list = (round: number): string[] => {
      const shape = shapeOf(mode);
      const table = new BlockTable(shape.blockCount + shape.smallFileCount);
      const workload = new Workload(shape, table, round);
      const slot: OperationSlot = { kind: OP_READ, target: 0, generation: 0, isKnown: true };
      return Array.from({ length: 300 }, () => {
        workload.next(slot);
        workload.release(slot, true);
        return `${OPERATION_NAMES[slot.kind]} ${slot.target} ${slot.generation}`;
      });
    };
    expect(list(1)).toEqual(list(1));
    expect(list(1)).not.toEqual(list(2));
  });

  test('a failed write leaves the content unknown until the next one succeeds', () => {
    const table = new BlockTable(1);
    expect(table.expectedGeneration(0)).toBe(1);
    expect(table.claimForWrite(0)).toBe(true);
    expect(table.claimForRead(0)).toBe(false);
    table.releaseWrite(0, table.nextGeneration(0), false);
    expect(table.expectedGeneration(0)).toBe(0);
    expect(table.claimForWrite(0)).toBe(true);
    // Not 2 again: what the failed write left behind must not pass for this one.
    expect(table.nextGeneration(0)).toBe(3);
    table.releaseWrite(0, 3, true);
    expect(table.expectedGeneration(0)).toBe(3);
  });
});

describe('pattern', () => {
  const BLOCK = 512;
  const identity = fc.record({
    file: fc.nat(1000),
    offsetBytes: fc.nat(2 ** 21).map((block) => block * BLOCK * 1024),
    generation: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
  });

  test('one flipped bit anywhere is noticed, and its place is told', () => {
    const pattern = new BlockPattern(42, BLOCK);
    fc.assert(
      fc.property(identity, fc.nat(BLOCK - 1), fc.nat(7), (id, at, bit) => {
        const block = new Uint8Array(BLOCK);
        pattern.fill(block, 0, id);
        expect(pattern.matches(block, 0, id)).toBe(true);
        block[at] ^= 1 << bit;
        expect(pattern.matches(block, 0, id)).toBe(false);
        const difference = pattern.difference(block, 0, id);
        expect(difference).toMatchObject({ atBytes: at, differingBytes: 1 });
      }),
      FAST_CHECK,
    );
  });

  test('the block of another place, file, generation or seed is noticed', () => {
    const pattern = new BlockPattern(42, BLOCK);
    const other = new BlockPattern(43, BLOCK);
    fc.assert(
      fc.property(identity, identity, (id, wrong) => {
        const block = new Uint8Array(BLOCK);
        pattern.fill(block, 0, wrong);
        const isSame = JSON.stringify(id) === JSON.stringify(wrong);
        expect(pattern.matches(block, 0, id)).toBe(isSame);
        other.fill(block, 0, id);
        expect(pattern.matches(block, 0, id)).toBe(false);
      }),
      FAST_CHECK,
    );
  });

  test('half of one generation and half of the next is noticed', () => {
    const pattern = new BlockPattern(42, BLOCK);
    const older = new Uint8Array(BLOCK);
    const newer = new Uint8Array(BLOCK);
    const id = { file: 1, offsetBytes: 4096, generation: 8 };
    pattern.fill(older, 0, { ...id, generation: 7 });
    pattern.fill(newer, 0, id);
    newer.set(older.subarray(BLOCK / 2), BLOCK / 2);
    expect(pattern.matches(newer, 0, id)).toBe(false);
    expect(pattern.difference(newer, 0, id).atBytes).toBeGreaterThanOrEqual(BLOCK / 2);
  });

  test('a poisoned buffer does not pass for the block it held before', () => {
    const pattern = new BlockPattern(42, BLOCK);
    const id = { file: 0, offsetBytes: 0, generation: 1 };
    const block = new Uint8Array(BLOCK);
    pattern.fill(block, 0, id);
    pattern.poison(block);
    expect(pattern.matches(block, 0, id)).toBe(false);
    expect(block.subarray(0, HEADER_BYTES).every((byte) => byte === 0)).toBe(true);
  });

  test('content does not repeat from block to block', () => {
    const pattern = new BlockPattern(42, BLOCK);
    const bodies = new Set<string>();
    for (let block = 0; block < 1000; block++) {
      const bytes = new Uint8Array(BLOCK);
      pattern.fill(bytes, 0, { file: 0, offsetBytes: block * BLOCK, generation: 1 });
      bodies.add(Buffer.from(bytes.subarray(HEADER_BYTES)).toString('latin1'));
    }
    expect(bodies.size).toBe(1000);
  });
});

describe('pacer', () => {
  test('claims are evenly spaced, and end with the phase', () => {
    const pacer = new Pacer(100, 1000, 50);
    expect([1, 2, 3, 4, 5].map(() => pacer.claim())).toEqual([1000, 1010, 1020, 1030, 1040]);
    expect(pacer.claim()).toBeNaN();
    expect(pacer.missedBefore(5000)).toBe(0);
  });

  test('what was due and not claimed is counted', () => {
    const pacer = new Pacer(100, 1000, 50);
    pacer.claim();
    expect(pacer.missedBefore(1025)).toBe(2);
    expect(pacer.missedBefore(5000)).toBe(4);
    pacer.unclaim();
    expect(pacer.missedBefore(5000)).toBe(5);
  });

  test('what is missed is what would have been claimed, whatever the clock shows', () => {
    // A phase that begins later than 1.1 s after the process did: for one clock reading in eight,
    // start + duration - start is not the duration.
    const pacer = new Pacer(500, 1100.001001, 3000);
    while (!Number.isNaN(pacer.claim()));
    expect(pacer.missedBefore(9999)).toBe(0);
    const startNs = fc.integer({ min: 0, max: 1e10 });
    const rate = fc.integer({ min: 1, max: 1000 });
    const elapsedMs = fc.oneof(
      fc.integer({ min: 0, max: 1500 }),
      fc.double({ min: 0, max: 1500, noNaN: true }),
    );
    fc.assert(
      fc.property(startNs, rate, elapsedMs, (start, ratePerSecond, elapsed) => {
        const startMs = start / 1e6;
        const untilMs = Math.min(startMs + elapsed, startMs + 1000);
        const claiming = new Pacer(ratePerSecond, startMs, 1000);
        let count = 0;
        while (claiming.claim() < untilMs) count++;
        expect(new Pacer(ratePerSecond, startMs, 1000).missedBefore(untilMs)).toBe(count);
      }),
      FAST_CHECK,
    );
  });

  test('waiting ends in order and never early', async () => {
    const startMs = performance.now();
    const pacer = new Pacer(1000, startMs, 1000);
    const ends: number[] = [];
    const intended = Array.from({ length: 20 }, () => pacer.claim());
    await Promise.all(
      intended.map(async (atMs, index) => {
        await pacer.wait(atMs);
        expect(performance.now()).toBeGreaterThanOrEqual(atMs);
        ends.push(index);
      }),
    );
    expect(ends).toEqual(intended.map((_, index) => index));
  });

  test('a stop wakes everybody', async () => {
    const pacer = new Pacer(1, performance.now(), 3600e3);
    pacer.claim();
    const waiting = [pacer.wait(pacer.claim()), pacer.wait(pacer.claim())];
    pacer.stop();
    await Promise.all(waiting);
  });
});
