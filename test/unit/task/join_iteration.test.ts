// Joins as iterators that something else than `yield*` drives: refused, and harmless for others.
// Not here: what joins give.
import { describe, expect, it } from 'vitest';
import { checkpoint, spawn, waitToken } from '../../../lib/index.ts';
import { test, useRuntime } from './structured/support.ts';

useRuntime();

const FOREIGN = expect.objectContaining({ code: 'ERR_FOREIGN_YIELD' });

describe('a pending join inside a task', () => {
  it('ends in ERR_FOREIGN_YIELD when it is looped over', async () => {
    await test.rt.run(function* () {
      const token = waitToken();
      const task = spawn(() => token.wait());
      let roundCount = 0;
      expect(() => {
        for (const _ of task.join() as Iterable<unknown>) if (++roundCount > 100) break;
      }).toThrow(FOREIGN);
      token.wake();
      yield* task.join();
    });
  });

  it('can be waited for by several tasks, and after a loop was left', async () => {
    const values = await test.rt.run(function* () {
      const token = waitToken<number>();
      const join = spawn(() => token.wait()).join();
      const waiters = [1, 2, 3].map(() =>
        spawn(function* () {
          for (const _ of join as Iterable<unknown>) break;
          for (const _ of join as Iterable<unknown>) break;
          return yield* join;
        }),
      );
      yield* checkpoint(Infinity);
      token.wake(7);
      const given: unknown[] = [];
      for (const waiter of waiters) given.push(yield* waiter.join());
      return given;
    });
    expect(values).toEqual([7, 7, 7]);
  });
});
