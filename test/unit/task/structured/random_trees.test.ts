// Random trees of scopes, groups, limits and bodies, cancelled at random times from outside: every
// body that was entered has left through its `finally` when its root has settled, no task is left,
// no timer is armed. Virtual time; NEPHRITE_SEED replays.
// Not here: which outcome is right (the other files).
import { describe, expect, it } from 'vitest';
import { Prng } from '../../../../lib/base/prng.ts';
import {
  all,
  race,
  scope,
  sleep,
  type Task,
  type TaskGenerator,
  uncancellable,
  withTimeout,
} from '../../../../lib/index.ts';
import { describeSeed, SEED } from '../../../support/seed.ts';
import { test, turns, useRuntime } from './support.ts';

useRuntime();

const ROOTS = 1500;
const DEPTH = 4;

class Forest {
  readonly #prng: Prng;
  enteredCount = 0;
  leftCount = 0;

  constructor(seed: number) {
    this.#prng = new Prng(seed);
  }

  below(limit: number): number {
    return this.#prng.nextBelow(limit);
  }

  *leaf(): TaskGenerator<number> {
    this.enteredCount++;
    try {
      const kind = this.below(5);
      if (kind === 1) yield* sleep(this.below(3));
      if (kind === 2) yield* sleep(1e9);
      if (kind === 3 && this.below(4) === 0) throw new Error('leaf');
      return kind;
    } finally {
      // In a block that is reached without a cancellation, one that comes now would cut it short.
      if (this.below(2) === 0) yield* uncancellable(sleep(this.below(3)));
      this.leftCount++;
    }
  }

  async asyncLeaf(): Promise<number> {
    this.enteredCount++;
    try {
      await sleep(this.below(4));
      if (this.below(8) === 0) throw new Error('async leaf');
      return 1;
    } finally {
      this.leftCount++;
    }
  }

  *tree(depth: number): TaskGenerator<unknown> {
    this.enteredCount++;
    try {
      return yield* this.#inner(depth);
    } finally {
      this.leftCount++;
    }
  }

  *#inner(depth: number): TaskGenerator<unknown> {
    const kind = depth === 0 ? 0 : 1 + this.below(6);
    const child = () => this.tree(depth - 1);
    if (kind === 0) return yield* this.leaf();
    if (kind === 1) return yield* all([child, child, () => this.asyncLeaf()]);
    if (kind === 2) return yield* race([child, sleep(this.below(5)), child]);
    if (kind === 3) return yield* withTimeout(this.below(5), child);
    if (kind === 4) return yield* uncancellable(withTimeout(5, child));
    if (kind === 5) return yield* scope(async (s) => s.spawn(child).join());
    return yield* scope((s) => {
      for (let count = this.below(4); count > 0; count--) s.spawn(child);
      return this.below(4);
    });
  }
}

describe('random trees', () => {
  it(`leave nothing behind (${describeSeed})`, async () => {
    const forest = new Forest(SEED);
    const statuses = new Set<string>();
    test.rt.onUnhandled(() => {});
    for (let i = 0; i < ROOTS; i += 100) {
      await test.rt.run(function* () {
        const roots: Task[] = [];
        for (let j = 0; j < 100; j++) {
          roots.push(
            test.rt.with({ name: 'root' }).spawn(() => forest.tree(forest.below(DEPTH + 1))),
          );
        }
        for (const root of roots) {
          if (forest.below(4) === 0) root.cancel('early');
        }
        yield* sleep(forest.below(8));
        for (const root of roots) {
          if (forest.below(2) === 0) root.cancel('late');
        }
        yield* sleep(50);
        for (const root of roots) root.cancel('last');
        for (const root of roots) statuses.add((yield* root.settled()).status);
      });
      expect(forest.leftCount).toBe(forest.enteredCount);
      expect(test.rt.dump()).toEqual([]);
    }
    await turns();
    const [engine] = [...test.rt.parts.scheduler.engines];
    expect(engine.activeTimers?.armedCount).toBe(0);
    expect(forest.enteredCount).toBeGreaterThan(ROOTS);
    expect([...statuses].sort()).toEqual(['cancelled', 'failure', 'success']);
  });
});
