// every(): the three overrun policies on virtual time, stalls and clock jumps, the bound on
// catching up, the counters of its engine, every way to end. Research rows 65 and 67 by their
// numbers.
import { describe, expect, it } from 'vitest';
import {
  checkpoint,
  current,
  every,
  sleep,
  type Task,
  uncancellable,
} from '../../../../lib/index.ts';
import { nextRun } from '../../../../lib/task/every.ts';
import { rejectionOf, test, turns, useRuntime } from './support.ts';

useRuntime();

type Overrun = 'drift' | 'skip' | 'queue';
const now = (): number => test.rt.clock.now();

/** When the first `count` runs began, with work of workMs(run) each, and when the last ended. */
async function runs(
  count: number,
  periodMs: number,
  overrun: Overrun,
  workMs: (run: number) => number,
): Promise<{ startsMs: number[]; endMs: number }> {
  const startsMs: number[] = [];
  const began = now();
  await test.rt.run(function* () {
    const task: Task = every(
      periodMs,
      function* () {
        startsMs.push(now() - began);
        yield* sleep(workMs(startsMs.length));
        if (startsMs.length === count) current().cancel();
      },
      { overrun },
    );
    yield* task.settled();
  });
  return { startsMs, endMs: now() - began };
}

describe('policies', () => {
  it('skip: 100 runs of 10 ms with 6 ms of work stay on the grid', async () => {
    const { startsMs, endMs } = await runs(100, 10, 'skip', () => 6);
    for (const [run, startMs] of startsMs.entries()) {
      expect(startMs).toBeGreaterThanOrEqual(10 * (run + 1));
      expect(startMs).toBeLessThan(10 * (run + 1) + 3);
    }
    expect(Math.abs(endMs - 6 - 1000)).toBeLessThanOrEqual(5);
    expect(test.rt.metrics().overrunCount).toBe(0);
  });

  it('drift: the period counts from the end of a run', async () => {
    const { endMs } = await runs(100, 10, 'drift', () => 6);
    expect(endMs).toBeGreaterThanOrEqual(1600);
    expect(endMs).toBeLessThan(1600 + 250);
  });

  it('queue: after a run of 500 ms all 100 are made up for, on the grid in the end', async () => {
    const { startsMs } = await runs(100, 10, 'queue', (run) => (run === 1 ? 500 : 0));
    expect(startsMs).toHaveLength(100);
    expect(startsMs[1]).toBeLessThan(515);
    expect(startsMs[49]).toBeLessThan(560);
    expect(startsMs[99]).toBeGreaterThanOrEqual(1000);
    expect(startsMs[99]).toBeLessThan(1003);
    expect(test.rt.metrics().overrunCount).toBeGreaterThan(40);
  });

  it('skip: what a long run misses is left out, and the grid stays', async () => {
    const { startsMs } = await runs(3, 10, 'skip', (run) => (run === 1 ? 25 : 0));
    expect(startsMs.map((startMs) => Math.floor(startMs / 10) * 10)).toEqual([10, 40, 50]);
    expect(test.rt.metrics().overrunCount).toBe(2);
  });

  it('one run at a time, however long', async () => {
    let insideCount = 0;
    await test.rt.run(function* () {
      const task: Task = every(
        1,
        async () => {
          expect(++insideCount).toBe(1);
          await sleep(20);
          insideCount--;
        },
        { overrun: 'queue' },
      );
      yield* sleep(100);
      task.cancel();
      yield* task.settled();
    });
  });
});

describe('a clock that jumps an hour', () => {
  const HOUR = 3_600_000;
  const schedule = { periodMs: 10, catchUpMax: 100 };

  it('skip: one run, then the grid', () => {
    const next = nextRun({ ...schedule, policy: 'skip' }, 10, HOUR + 13, HOUR + 13);
    expect(next).toEqual({ dueMs: HOUR + 20, overrunCount: 360_000 });
  });

  it('drift: one run, then a period', () => {
    const next = nextRun({ ...schedule, policy: 'drift' }, 10, HOUR + 13, HOUR + 13);
    expect(next.dueMs).toBe(HOUR + 23);
  });

  it('queue: as many as may be made up for, the rest are dropped and counted', async () => {
    let count = 0;
    await test.rt.run(function* () {
      const task: Task = every(
        10,
        () => {
          count++;
          // The first run blocks for an hour of virtual time: nothing else can run meanwhile.
          if (count === 1) jump(HOUR);
        },
        { overrun: 'queue', maxCatchUp: 7 },
      );
      // From its end on the clock stands still, and the seed picks whose turn it is.
      yield* sleep(20);
      for (let i = 0; count < 8 && i < 1000; i++) yield* checkpoint(Infinity);
      task.cancel();
      yield* task.settled();
    });
    expect(count).toBeGreaterThanOrEqual(8);
    expect(count).toBeLessThanOrEqual(10);
    expect(test.rt.metrics().overrunCount).toBeGreaterThan(359_990);
  });

  function jump(ms: number): void {
    const { virtual } = test.rt.clock as unknown as { virtual: { nowNs: number } };
    const until = virtual.nowNs + ms * 1e6;
    Object.defineProperty(virtual, 'nowNs', { value: until, writable: true, configurable: true });
  }
});

describe('the task', () => {
  it('runs first after a period, or at once', async () => {
    const startsMs: number[] = [];
    await test.rt.run(function* () {
      const first: Task = every(10, () => void startsMs.push(now()));
      const second: Task = every(1000, () => void startsMs.push(now()), { immediate: true });
      yield* sleep(5);
      expect(startsMs).toHaveLength(1);
      yield* sleep(8);
      expect(startsMs).toHaveLength(2);
      first.cancel();
      second.cancel();
    });
  });

  it('ends as Failure with what the body threw: plain, generator and async', async () => {
    const root = new Error('root');
    const bodies = [
      () => {
        throw root;
      },
      function* () {
        yield* sleep(1);
        throw root;
      },
      async () => {
        throw root;
      },
      () => Promise.reject(root),
    ];
    for (const body of bodies) {
      const task = test.rt.spawn(function* () {
        yield* every(5, body).join();
      });
      expect(await rejectionOf(task.join())).toBe(root);
    }
  });

  it('is cancelled while it sleeps, in a generator run, and in an async run, which it waits for', async () => {
    const log: string[] = [];
    await test.rt.run(function* () {
      const sleeping: Task = every(1e6, () => {});
      const inside: Task = every(1, function* () {
        try {
          yield* sleep(1e6);
        } finally {
          log.push('generator');
        }
      });
      const outside: Task = every(1, async () => {
        try {
          await sleep(1e6);
        } finally {
          await uncancellable(sleep(10));
          log.push('async');
        }
      });
      yield* sleep(5);
      for (const task of [sleeping, inside, outside]) {
        task.cancel('why');
        expect(yield* task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
      }
    });
    expect(log).toEqual(['generator', 'async']);
  });

  it('ends with its signal, whose listener is gone then', async () => {
    const controller = new AbortController();
    await test.rt.run(function* () {
      const task: Task = every(5, () => {}, { signal: controller.signal });
      yield* sleep(20);
      controller.abort('why');
      expect(yield* task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    });
    const before: Task = test.rt.spawn(function* () {
      yield* every(5, () => {}, { signal: AbortSignal.abort('before') }).join();
    });
    expect((await rejectionOf(before.join())) as object).toMatchObject({ reason: 'before' });
  });

  it('has a name, and is a child', async () => {
    await test.rt.run(function* () {
      const task: Task = every(5, function flush() {});
      expect([task.name, task.parent]).toEqual(['every flush', current()]);
      task.cancel();
      yield* task.settled();
    });
  });

  it('outside tasks, on the thread’s own scheduler', async () => {
    let count = 0;
    const task = every(1, () => {
      count++;
      if (count === 3) throw new Error('three');
    });
    expect(await rejectionOf(task.join())).toEqual(new Error('three'));
  });
});

describe('metrics', () => {
  it('targetRate while it runs, runs, overruns and durations', async () => {
    await test.rt.run(function* () {
      const task: Task = every(
        20,
        function* () {
          yield* sleep(50);
        },
        { overrun: 'skip' },
      );
      yield* sleep(1);
      expect(test.rt.metrics().targetRate).toBe(50);
      yield* sleep(300);
      task.cancel();
      yield* task.settled();
    });
    await turns();
    const metrics = test.rt.metrics();
    expect(metrics.targetRate).toBe(0);
    expect(metrics.overrunCount).toBeGreaterThanOrEqual(6);
    expect(metrics.actualRate).toBeGreaterThan(0);
    expect(metrics.handlerDuration).toBeGreaterThanOrEqual(50);
    expect(metrics.handlerDuration).toBeLessThan(55);
  });

  it('without durations where the engine says so; its overrun policy is the default', async () => {
    test.rt.engines.register({
      engineId: 'quiet',
      timerWheelConfig: {},
      overrunPolicy: 'skip',
      metricsConfig: { handlerDuration: false },
    });
    const startsMs: number[] = [];
    const began = now();
    await test.rt.with({ engine: 'quiet' }).run(function* () {
      const task: Task = every(10, function* () {
        startsMs.push(now() - began);
        yield* sleep(15);
      });
      yield* sleep(100);
      task.cancel();
      yield* task.settled();
    });
    expect(test.rt.metrics().handlerDuration).toBe(0);
    // Skip: every other point of the grid.
    expect(startsMs.slice(0, 3).map((ms) => Math.floor(ms / 10) * 10)).toEqual([10, 30, 50]);
  });
});

describe('misuse', () => {
  it('is a typed error at the call', async () => {
    const code = (value: string) => expect.objectContaining({ code: value });
    for (const period of [0, -1, Number.NaN, Infinity]) {
      expect(() => every(period, () => {})).toThrow(code('ERR_OUT_OF_RANGE'));
    }
    expect(() => every('5' as never, () => {})).toThrow(code('ERR_INVALID_ARG_TYPE'));
    expect(() => every(5, undefined as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
    expect(() => every(5, () => {}, null as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
    expect(() => every(5, () => {}, { overrun: 'burst' as never })).toThrow(
      code('ERR_INVALID_ARG_VALUE'),
    );
    for (const maxCatchUp of [0, 1.5, Infinity, -1]) {
      expect(() => every(5, () => {}, { maxCatchUp })).toThrow(code('ERR_OUT_OF_RANGE'));
    }
    expect(() => every(5, () => {}, { maxCatchUp: '5' as never })).toThrow(
      code('ERR_INVALID_ARG_TYPE'),
    );
    expect(() => every(5, () => {}, { signal: {} as never })).toThrow(code('ERR_INVALID_ARG_TYPE'));
    expect(() => every(5, () => {}, { immediate: 1 as never })).toThrow(
      code('ERR_INVALID_ARG_TYPE'),
    );
    test.rt.engines.register({ engineId: 'events' });
    const error = await rejectionOf(
      test.rt.with({ engine: 'events' }).run(() => {
        every(5, () => {});
      }),
    );
    expect(error).toMatchObject({ code: 'ERR_ENGINE_NO_TIMER_WHEEL' });
  });
});
