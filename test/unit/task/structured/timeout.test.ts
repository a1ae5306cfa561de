// withTimeout() and withDeadline(): ready ones cost nothing, expiry waits for the target, bodies
// have the deadline as their own and pass it on. Virtual time. Not here: the wheel.
import { describe, expect, expectTypeOf, it } from 'vitest';
import { fulfilledOperation, rejectedOperation } from '../../../../lib/base/operation.ts';
import {
  AbortError,
  all,
  channel,
  mutex,
  type Operation,
  sleep,
  sleepUntil,
  spawn,
  spawnLocal,
  TaskCancelledError,
  type TaskGenerator,
  TimeoutError,
  uncancellable,
  waitToken,
  withDeadline,
  withTimeout,
} from '../../../../lib/index.ts';
import { rejectionOf, suppressedOf, test, turns, useRuntime } from './support.ts';

useRuntime();

const armedCount = (): number => {
  const [engine] = [...test.rt.parts.scheduler.engines];
  return engine.activeTimers?.armedCount ?? 0;
};

describe('withTimeout around an operation', () => {
  it('gives a ready one back as it is, also with 0 and when it has failed', async () => {
    const ready = fulfilledOperation(5);
    expect(withTimeout(0, ready)).toBe(ready);
    expect(withDeadline(-1, ready)).toBe(ready);
    expectTypeOf(withTimeout(0, ready)).resolves.toEqualTypeOf<number>();
    const failed = rejectedOperation<number>(new Error('failed'));
    expect(withTimeout(10, failed)).toBe(failed);
    await rejectionOf(failed);
  });

  it('passes on what is in time, and leaves no timer', async () => {
    const root = new Error('root');
    await test.rt.run(function* () {
      const token = waitToken<string>();
      spawn(function* () {
        yield* sleep(5);
        token.wake('in time');
      });
      expect(yield* withTimeout(1000, token.wait())).toBe('in time');
      expect(armedCount()).toBe(0);
      const failing = spawn(function* () {
        yield* sleep(1);
        throw root;
      });
      expect(yield* caught(withTimeout(1000, failing))).toBe(root);
      expect(armedCount()).toBe(0);
    });
  });

  it('cancels it at the time and rejects with TimeoutError', async () => {
    await test.rt.run(function* () {
      const lane = channel<number>(0);
      const receiving = lane.receive();
      try {
        yield* withTimeout(250, receiving);
        expect.unreachable();
      } catch (error) {
        expect(error).toBeInstanceOf(TimeoutError);
        expect(error).toMatchObject({ code: 'ERR_OPERATION_TIMEOUT', timeoutMs: 250 });
      }
      expect(test.rt.clock.now()).toBeGreaterThanOrEqual(250);
      expect(test.rt.clock.now()).toBeLessThan(253);
      expect(receiving.isSettled).toBe(true);
    });
  });

  it('waits for its target before it says so', async () => {
    await test.rt.run(function* () {
      const error = yield* caught(withTimeout(10, masked(100)));
      expect(error).toBeInstanceOf(TimeoutError);
      expect(test.rt.clock.now()).toBeGreaterThanOrEqual(100);
    });
  });

  it('gives back what came too late', async () => {
    const lane = mutex();
    await test.rt.run(function* () {
      const lock = yield* lane.lock();
      const error = yield* caught(withTimeout(10, lane.lock()));
      expect(error).toBeInstanceOf(TimeoutError);
      expect(lane.waitingCount).toBe(0);
      lock.release();
      expect(lane.isLocked).toBe(false);
    });
  });

  it('of a task that was given only ends the join', async () => {
    await test.rt.run(function* () {
      const task = spawn(function* () {
        yield* sleep(100);
        return 'later';
      });
      expect(yield* caught(withTimeout(10, task))).toBeInstanceOf(TimeoutError);
      expect(yield* task.join()).toBe('later');
    });
  });

  it('is cancelled with its task, at once, and leaves no timer', async () => {
    const task = test.rt.spawn(function* () {
      yield* withTimeout(1e6, waitToken().wait());
    });
    await test.rt.run(function* () {
      yield* sleep(5);
      expect(task.waitCondition).toMatch(/^token \d+ \(at most 1000000 ms\)$/);
      task.cancel('why');
      expect(yield* task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    });
    expect(armedCount()).toBe(0);
  });

  it('Infinity sets no limit; promises are items too', async () => {
    await test.rt.run(function* () {
      const operation = sleep(1);
      expect(withTimeout(Infinity, operation)).toBe(operation);
      yield* operation;
      expect(yield* withTimeout(10, Promise.resolve(3))).toBe(3);
      const never = new Promise<number>(() => {});
      expect(yield* caught(withTimeout(10, never))).toBeInstanceOf(TimeoutError);
    });
  });

  it('in ordinary code and async bodies', async () => {
    expect(await rejectionOf(withTimeout(1, sleep(Infinity)))).toBeInstanceOf(TimeoutError);
    const error = await test.rt.run(async () => rejectionOf(withTimeout(1, sleep(Infinity))));
    expect(error).toBeInstanceOf(TimeoutError);
    const operation = withTimeout(1e6, sleep(Infinity));
    operation.cancel('why');
    expect(await rejectionOf(operation)).toBeInstanceOf(AbortError);
  });
});

function* caught(operation: Operation<unknown>): TaskGenerator<unknown> {
  try {
    yield* operation;
  } catch (error) {
    return error;
  }
  return undefined;
}

/** An operation that cancelling does not hurry. */
function masked(delayMs: number): Operation<void> {
  const token = waitToken<void>();
  spawn(function* () {
    yield* sleep(delayMs);
    token.wake();
  });
  const wait = token.wait();
  Object.defineProperty(wait, 'cancel', { value: () => {} });
  return wait;
}

describe('withTimeout around a body', () => {
  it('runs it as a child that has the deadline and passes it on', async () => {
    const log: string[] = [];
    await test.rt.run(function* () {
      const error = yield* caught(
        withTimeout(50, function* () {
          spawn(function* grandchild() {
            try {
              yield* sleep(1e6);
            } finally {
              log.push(`grandchild ${Math.round(test.rt.clock.now()) <= 52}`);
            }
          });
          try {
            yield* sleep(1e6);
          } finally {
            yield* sleep(20);
            log.push('body');
          }
        }),
      );
      expect(error).toMatchObject({ code: 'ERR_OPERATION_TIMEOUT', timeoutMs: 50 });
    });
    expect(log).toEqual(['grandchild true', 'body']);
  });

  it('has the minimum of its own and the inherited deadline', async () => {
    await test.rt.run(function* () {
      const started = test.rt.clock.now();
      const error = yield* caught(
        withTimeout(20, function* () {
          yield* withTimeout(1000, function* () {
            yield* sleep(1e6);
          });
        }),
      );
      expect(error).toMatchObject({ timeoutMs: 20 });
      expect(test.rt.clock.now() - started).toBeLessThan(25);
    });
  });

  it('fires although the body only meets what is ready', async () => {
    // On the real clock: time must pass while the body runs.
    const token = waitToken<number>();
    token.wake(1);
    const beganMs = performance.now();
    let count = 0;
    const error = await rejectionOf(
      withTimeout(30, function* () {
        for (;;) count += yield* withTimeout(1000, token.wait());
      }),
    );
    expect(error).toBeInstanceOf(TimeoutError);
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(30);
    expect(count).toBeGreaterThan(100);
  });

  it('gives its value or its own failure in time', async () => {
    const value = await withTimeout(10_000, async () => 'value');
    expectTypeOf(value).toEqualTypeOf<string>();
    expect(value).toBe('value');
    const root = new Error('root');
    const failing = withTimeout(10_000, () => {
      throw root;
    });
    expect(await rejectionOf(failing)).toBe(root);
  });

  it('an async body that wraps its cancellation has timed out all the same', async () => {
    const error = await rejectionOf(
      withTimeout(1, async () => {
        try {
          await sleep(Infinity);
        } catch (cause) {
          expect(cause).toBeInstanceOf(TaskCancelledError);
          throw new Error('wrapped', { cause });
        }
      }),
    );
    expect(error).toBeInstanceOf(TimeoutError);
  });

  it('a clean-up that fails after the deadline wraps the TimeoutError', async () => {
    const cleanup = new Error('clean-up');
    const error = await test.rt.run(function* () {
      return yield* caught(
        withTimeout(1, function* () {
          try {
            yield* sleep(Infinity);
          } finally {
            // biome-ignore lint/correctness/noUnsafeFinally: the point of it.
            throw cleanup;
          }
        }),
      );
    });
    expect(suppressedOf(error).error).toBe(cleanup);
    expect(suppressedOf(error).suppressed).toBeInstanceOf(TimeoutError);
  });

  it('waits for an uncancellable section', async () => {
    let isDone = false;
    const error = await test.rt.run(function* () {
      return yield* caught(
        withTimeout(1, function* () {
          yield* uncancellable(function* () {
            yield* sleep(20);
            isDone = true;
          });
          yield* sleep(Infinity);
        }),
      );
    });
    expect(error).toBeInstanceOf(TimeoutError);
    expect(isDone).toBe(true);
  });

  it('is cancelled with whoever waits for it', async () => {
    let isEnded = false;
    const task = spawnLocal(function* () {
      yield* withTimeout(1e6, function* () {
        try {
          yield* sleep(Infinity);
        } finally {
          isEnded = true;
        }
      });
    });
    await turns();
    task.cancel('why');
    expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    expect(isEnded).toBe(true);
  });
});

describe('withDeadline', () => {
  it('is at a time of the runtime’s clock; the past is over', async () => {
    await test.rt.run(function* () {
      yield* sleepUntil(100);
      expect(yield* caught(withDeadline(150, sleep(1e6)))).toMatchObject({ timeoutMs: 50 });
      expect(test.rt.clock.now()).toBeLessThan(153);
      expect(yield* caught(withDeadline(10, sleep(1e6)))).toMatchObject({ timeoutMs: 0 });
      expect(test.rt.clock.now()).toBeLessThan(155);
      expect(yield* withDeadline(Infinity, all([]))).toEqual([]);
    });
  });
});

describe('misuse', () => {
  it('is a typed error at the call, before anything is done', async () => {
    const code = (value: string) => expect.objectContaining({ code: value });
    for (const limit of [withTimeout, withDeadline]) {
      expect(() => limit('5' as never, sleep as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
      expect(() => limit(Number.NaN, sleep as never)).toThrow(code('ERR_OUT_OF_RANGE'));
      for (const item of [undefined, null, 5, {}, (function* () {})()]) {
        expect(() => limit(5, item as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
      }
    }
    expect(() => withTimeout(-1, sleep as never)).toThrow(code('ERR_OUT_OF_RANGE'));
  });

  it('an engine without a wheel has no timeouts', async () => {
    test.rt.engines.register({ engineId: 'events' });
    const error = await rejectionOf(
      test.rt.with({ engine: 'events' }).run(function* () {
        yield* withTimeout(5, waitToken().wait());
      }),
    );
    expect(error).toMatchObject({ code: 'ERR_ENGINE_NO_TIMER_WHEEL' });
  });
});
