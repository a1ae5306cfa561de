// Turns a mode into a stream of operations: the same seed gives every subject the same stream.
// Flow: [workload] -> operation slot -> load/lanes.ts
// Owner: one workload per phase of one subject; the block table is shared by all.
// Invariants: a filled slot holds its claim until release(); writers never overlap with others.
// Not here: when an operation starts (load/pacer.ts), how it is done (load/executor.ts).

import { Prng } from '../../base/prng.ts';
import type { BlockTable } from './block_table.ts';
import {
  isChanging,
  OP_READ,
  OP_READ_FILE,
  OP_RECREATE,
  OP_REPLACE,
  OP_STAT,
  OP_SYNC,
  OP_WRITE,
  OP_WRITE_SYNC,
  type OperationKind,
  type OperationSlot,
} from './operations.ts';
import { sequentialPicker, type TargetPicker, uniformPicker, zipfPicker } from './target_picker.ts';

export const MODES = ['random', 'sequential', 'small', 'fsync', 'mixed'] as const;
export type Mode = (typeof MODES)[number];

/** What a workload needs to know of the run. */
export interface WorkloadShape {
  readonly mode: Mode;
  /** Blocks in all block files; targets 0 to blockCount-1. */
  readonly blockCount: number;
  /** Small files; targets blockCount to blockCount+smallFileCount-1. */
  readonly smallFileCount: number;
  /** Share of reads among reads and writes, 0 to 100. */
  readonly readPercent: number;
  readonly zipfTheta: number | null;
  readonly seed: number;
}

/** Of 1,000 operations of `mixed`: datasync, stat, small files; the rest are blocks. */
const MIXED_SYNC_PER_1000 = 10;
const MIXED_STAT_PER_1000 = 20;
const MIXED_SMALL_PER_1000 = 100;

/** A deterministic stream of operations. */
export class Workload {
  readonly #shape: WorkloadShape;
  readonly #table: BlockTable;
  readonly #prng: Prng;
  readonly #blocks: TargetPicker | null;
  readonly #smallFiles: TargetPicker | null;

  /** `round` varies the order of operations, not which targets are hot. */
  constructor(shape: WorkloadShape, table: BlockTable, round: number) {
    this.#shape = shape;
    this.#table = table;
    this.#prng = new Prng(shape.seed, round);
    this.#blocks = createPicker(shape, shape.blockCount, shape.mode === 'sequential');
    this.#smallFiles = createPicker(shape, shape.smallFileCount, false);
  }

  /** Fills the slot with the next operation and claims its target. */
  next(slot: OperationSlot): void {
    const kind = this.#chooseKind();
    slot.kind = kind;
    const isSmall = kind >= OP_STAT;
    const first = isSmall ? this.#shape.blockCount : 0;
    const count = isSmall ? this.#shape.smallFileCount : this.#shape.blockCount;
    const picker = isSmall ? this.#smallFiles : this.#blocks;
    let target = picker === null ? 0 : picker.next(this.#prng);
    if (kind !== OP_SYNC) {
      // At most one lane in two holds a claim elsewhere (options.ts checks the sizes), so a free
      // target is near; the bound is the whole set.
      for (let probe = 0; probe < count && !this.#claim(kind, first + target); probe++) {
        target = target + 1 === count ? 0 : target + 1;
      }
    }
    slot.target = first + target;
    const expected = this.#table.expectedGeneration(slot.target);
    slot.isKnown = expected !== 0;
    slot.generation = isChanging(kind) ? this.#table.nextGeneration(slot.target) : expected;
  }

  /** Gives the claim back; `isDone` is false when the operation failed. */
  release(slot: OperationSlot, isDone: boolean): void {
    if (isChanging(slot.kind)) this.#table.releaseWrite(slot.target, slot.generation, isDone);
    else if (slot.kind !== OP_SYNC) this.#table.releaseRead(slot.target);
  }

  #claim(kind: OperationKind, target: number): boolean {
    return isChanging(kind) ? this.#table.claimForWrite(target) : this.#table.claimForRead(target);
  }

  #chooseKind(): OperationKind {
    const isRead = this.#prng.nextFraction() * 100 < this.#shape.readPercent;
    switch (this.#shape.mode) {
      case 'random':
      case 'sequential':
        return isRead ? OP_READ : OP_WRITE;
      case 'fsync':
        return isRead ? OP_READ : OP_WRITE_SYNC;
      case 'small':
        return this.#chooseSmallKind(isRead);
      case 'mixed':
        return this.#chooseMixedKind(isRead);
    }
  }

  #chooseSmallKind(isRead: boolean): OperationKind {
    if (isRead) return OP_READ_FILE;
    return this.#prng.nextWord() % 2 === 0 ? OP_REPLACE : OP_RECREATE;
  }

  #chooseMixedKind(isRead: boolean): OperationKind {
    const draw = this.#prng.nextBelow(1000);
    if (draw < MIXED_SYNC_PER_1000) return OP_SYNC;
    if (draw < MIXED_SYNC_PER_1000 + MIXED_STAT_PER_1000) return OP_STAT;
    if (draw < MIXED_SYNC_PER_1000 + MIXED_STAT_PER_1000 + MIXED_SMALL_PER_1000) {
      return this.#chooseSmallKind(isRead);
    }
    return isRead ? OP_READ : OP_WRITE;
  }
}

function createPicker(
  shape: WorkloadShape,
  count: number,
  isSequential: boolean,
): TargetPicker | null {
  if (count === 0) return null;
  if (isSequential) return sequentialPicker(count);
  return shape.zipfTheta === null
    ? uniformPicker(count)
    : zipfPicker(count, shape.zipfTheta, shape.seed);
}
