// Bodies that survive: `finally { continue }` in all its shapes must neither hang the thread nor
// lose the cancellation; and `finally` blocks that only look like it must be left alone.
// Not here: the rules of cancellation by name (cancellation_rules.test.ts).
import { describe, expect, it } from 'vitest';
import { checkpoint, type Operation, sleep, waitToken } from '../../lib/index.ts';
import type { TaskGenerator } from '../../lib/task/task_body.ts';
import { tick, until, useLab } from './lab.ts';

const lab = useLab();

describe('survivors', () => {
  it('a body that survives at a checkpoint gives way, and is cancelled again and again', async () => {
    let survived = 0;
    let neighbourRuns = 0;
    const task = lab.rt.spawn(function* () {
      for (;;) {
        try {
          yield* checkpoint();
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
          if (survived++ < 100_000) continue;
        }
      }
    });
    await tick();
    task.cancel('enough');
    lab.rt.spawn(function* () {
      neighbourRuns++;
      yield* checkpoint();
    });
    await until(() => neighbourRuns > 0, 1000);
    expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'enough' });
    expect(survived).toBeGreaterThan(100_000);
  });

  it('a body that survives at a wait is cancelled at its next wait', async () => {
    let survived = 0;
    const task = lab.rt.spawn(function* () {
      for (;;) {
        try {
          yield* sleep(100_000);
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
          if (survived++ < 1000) continue;
        }
      }
    });
    await tick();
    task.cancel();
    expect((await task.settled()).status).toBe('cancelled');
    expect(survived).toBe(1001);
  });

  it('a body that yields nonsense for ever is left where it is', async () => {
    let runs = 0;
    const task = lab.rt.spawn(function* (): Generator<never, void, unknown> {
      for (;;) {
        try {
          yield 1 as never;
        } finally {
          runs++;
        }
      }
    });
    expect(await task.settled()).toMatchObject({
      status: 'trap',
      info: { kind: 'foreign-yield' },
    });
    expect(runs).toBeLessThan(3);
  });

  it('a body that joins in a ring for ever is left where it is', async () => {
    const gate = waitToken();
    let runs = 0;
    const first = lab.rt.spawn(function* (): TaskGenerator<void> {
      yield* gate.wait();
      yield* second.join();
    });
    const second = lab.rt.spawn(function* (): TaskGenerator<void> {
      yield* gate.wait();
      for (;;) {
        try {
          yield* first.join();
        } finally {
          runs++;
        }
      }
    });
    await tick();
    gate.wake();
    expect(await second.settled()).toMatchObject({ status: 'trap', info: { kind: 'join-cycle' } });
    expect(await first.settled()).toMatchObject({ status: 'failure' });
    expect(runs).toBeLessThan(3);
  });

  it.each([1, 20, 60, 400])(
    'a `finally` waits %i generators deep, as the body did',
    async (deep) => {
      function* at(depth: number, wait: () => Operation<void>): TaskGenerator<void> {
        if (depth > 0) yield* at(depth - 1, wait);
        else yield* wait();
      }
      const never = waitToken();
      let isCleanedUp = false;
      const task = lab.rt.spawn(function* () {
        try {
          yield* at(deep, () => never.wait());
        } finally {
          yield* at(deep, () => sleep(2));
          isCleanedUp = true;
        }
      });
      await tick();
      task.cancel();
      expect((await task.settled()).status).toBe('cancelled');
      expect(isCleanedUp).toBe(true);
    },
  );

  it('a `finally` that calls a function named as one of ours', async () => {
    function* unwind(): TaskGenerator<void> {
      yield* sleep(1);
    }
    let isCleanedUp = false;
    const task = lab.rt.spawn(function* () {
      try {
        yield* unwind();
      } finally {
        yield* unwind();
        isCleanedUp = true;
      }
    });
    await tick();
    task.cancel();
    expect((await task.settled()).status).toBe('cancelled');
    expect(isCleanedUp).toBe(true);
  });

  it('a `finally` that waits where Error is frozen', async () => {
    const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit');
    const log: unknown[] = [];
    const task = lab.rt.spawn(function* () {
      try {
        yield* sleep(100_000);
      } catch (error) {
        log.push(error);
      } finally {
        yield* sleep(1);
        log.push('cleaned up');
      }
    });
    await tick();
    try {
      Object.defineProperty(Error, 'stackTraceLimit', { value: 10, writable: false });
      task.cancel();
      expect((await task.settled()).status).toBe('cancelled');
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', before as PropertyDescriptor);
    }
    expect(log).toEqual(['cleaned up']);
  });
});
