// What bounds operations of several steps: work stacks, bounded loops, permits, and the scope that
// cancels steps. Method: steps settled by hand, so that each moment can be looked at.
// Not here: the functions made of them (test/conformance/fs_*.test.ts).
import { describe, expect, it } from 'vitest';
import { ManualOperation } from '../../../lib/base/operation.ts';
import { CompositeOperation, type CompositeScope } from '../../../lib/io/composite.ts';
import type { IoThread } from '../../../lib/io/io_thread.ts';
import { Permits } from '../../../lib/io/permits.ts';
import { forEachBounded, runWorkStack } from '../../../lib/io/work_stack.ts';

// Nothing here submits anything: the steps are ours.
const NO_THREAD = undefined as unknown as IoThread;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class Step<T> extends ManualOperation<T> {
  cancelWith(error: Error): void {
    if (!this.isSettled) this.rejectWith(error);
  }
}

const composite = <T>(body: (scope: CompositeScope) => Promise<T>): CompositeOperation<T> =>
  new CompositeOperation(NO_THREAD, body);

describe('runWorkStack', () => {
  it('walks a tree depth first, never wider than asked, and ends with the last', async () => {
    let active = 0;
    let most = 0;
    const order: string[] = [];
    await runWorkStack('', 3, async (item, push) => {
      most = Math.max(most, ++active);
      order.push(item);
      await turn();
      if (item.length < 4) for (const child of 'ab') push(item + child);
      await turn();
      active--;
    });
    expect(order).toHaveLength(1 + 2 + 4 + 8 + 16);
    expect(new Set(order).size).toBe(order.length);
    expect(most).toBe(3);
    expect(active).toBe(0);
  });

  it('starts nothing after a failure, and tells the first when all have ended', async () => {
    const started: number[] = [];
    let ended = 0;
    const run = runWorkStack(0, 2, async (item, push) => {
      started.push(item);
      if (item === 0) for (let child = 1; child <= 10; child++) push(child);
      await turn();
      ended++;
      if (item > 0) throw new Error(`item ${item}`);
    });
    await expect(run).rejects.toThrow(`item ${started[1]}`);
    expect(ended).toBe(started.length);
    expect(started.length).toBeLessThan(5);
  });
});

describe('forEachBounded', () => {
  it('handles each once, a bounded number at a time', async () => {
    let active = 0;
    let most = 0;
    const handled: number[] = [];
    const items = Array.from({ length: 20 }, (_, index) => index);
    await forEachBounded(items, 4, async (item) => {
      most = Math.max(most, ++active);
      await turn();
      handled.push(item);
      active--;
    });
    expect(handled.sort((left, right) => left - right)).toEqual(items);
    expect(most).toBe(4);
    await forEachBounded([], 4, () => Promise.reject(new Error('there is none')));
  });

  it('stops at a failure', async () => {
    let count = 0;
    const run = forEachBounded([1, 2, 3, 4, 5, 6], 2, async (item) => {
      count++;
      await turn();
      if (item === 2) throw new Error('two');
    });
    await expect(run).rejects.toThrow('two');
    expect(count).toBeLessThanOrEqual(4);
  });
});

describe('Permits', () => {
  it('are given first come, first served; who is cancelled leaves the queue', async () => {
    const permits = new Permits(1);
    const order: string[] = [];
    const hold = new Step<void>();
    const enter = (name: string, wait?: Step<void>) =>
      composite((scope) =>
        permits.with(scope, async () => {
          order.push(name);
          if (wait !== undefined) await scope.run(() => wait);
        }),
      );
    const first = enter('first', hold);
    const second = enter('second');
    const third = enter('third');
    await turn();
    expect(order).toEqual(['first']);
    second.cancelWith(new Error('left'));
    await expect(second).rejects.toThrow('left');
    hold.resolveWith();
    await Promise.all([first, third]);
    await enter('fourth');
    expect(order).toEqual(['first', 'third', 'fourth']);
  });

  it('come back also when the body fails', async () => {
    const permits = new Permits(1);
    const failing = composite((scope) =>
      permits.with(scope, () => Promise.reject(new Error('no'))),
    );
    await expect(failing).rejects.toThrow('no');
    expect(await composite((scope) => permits.with(scope, async () => 'yes'))).toBe('yes');
  });
});

describe('CompositeOperation', () => {
  it('a cancellation fails the steps in flight, refuses the next, and lets it clean up', async () => {
    const steps = [new Step<void>(), new Step<void>()];
    const seen: string[] = [];
    const operation = composite(async (scope) => {
      try {
        await Promise.all(steps.map((step) => scope.run(() => step)));
      } finally {
        seen.push('cleaning up');
        await turn();
        try {
          await scope.run(() => new Step<void>());
        } catch (error) {
          seen.push(`refused: ${(error as Error).message}`);
        }
      }
    });
    const reason = new Error('enough');
    operation.cancelWith(reason);
    expect(steps.map(({ settledValue }) => settledValue)).toEqual([reason, reason]);
    expect(operation.isSettled).toBe(false);
    operation.cancelWith(new Error('again'));
    await expect(operation).rejects.toBe(reason);
    expect(seen).toEqual(['cleaning up', 'refused: enough']);
  });

  it('that ends well in spite of a cancellation has ended well', async () => {
    const operation = composite(async (scope) => {
      const step = new Step<void>();
      await scope.run(() => step).catch(() => {});
      return 'done all the same';
    });
    operation.cancel('why not');
    expect(await operation).toBe('done all the same');
    operation.cancel();
  });

  it('starts at once and forgets steps that have settled', async () => {
    let isStarted = false;
    const first = new Step<number>();
    const second = new Step<number>();
    const operation = composite(async (scope) => {
      isStarted = true;
      const one = await scope.run(() => first);
      return one + (await scope.run(() => second));
    });
    expect(isStarted).toBe(true);
    first.resolveWith(1);
    await turn();
    second.resolveWith(2);
    expect(await operation).toBe(3);
  });
});
