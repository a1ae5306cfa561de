// all() and race(): order, the first failure and the first to settle, losers that are waited for,
// what is given back, every kind of item. Virtual time. Not here: scopes.
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  AbortError,
  all,
  channel,
  mutex,
  type Operation,
  race,
  scope,
  sleep,
  spawn,
  spawnLocal,
  type TaskGenerator,
  waitToken,
} from '../../../../lib/index.ts';
import { rejectionOf, suppressedOf, test, turns, useRuntime } from './support.ts';

useRuntime();

function* later<T>(delayMs: number, value: T): TaskGenerator<T> {
  yield* sleep(delayMs);
  return value;
}

function* failingAfter(delayMs: number, error: Error): TaskGenerator<never> {
  yield* sleep(delayMs);
  throw error;
}

function* cleaning(log: string[], name: string, error?: Error): TaskGenerator<void> {
  try {
    yield* sleep(1e6);
  } finally {
    yield* sleep(10);
    log.push(name);
    // biome-ignore lint/correctness/noUnsafeFinally: the point of it.
    if (error !== undefined) throw error;
  }
}

describe('all', () => {
  it('gives the values in order, of operations, tasks, bodies and promises, typed', async () => {
    const values = await test.rt.run(function* () {
      const task = spawn(later<string>, 5, 'task');
      const result = yield* all([
        () => later(20, 1n),
        task,
        () => later(1, 3),
        async () => true,
        Promise.resolve(null),
        task.join(),
        () => 'plain',
      ]);
      expectTypeOf(result).toEqualTypeOf<[bigint, string, number, boolean, null, string, string]>();
      return result;
    });
    expect(values).toEqual([1n, 'task', 3, true, null, 'task', 'plain']);
  });

  it('is [] for nothing, and takes any iterable', async () => {
    expect(await all([])).toEqual([]);
    const set = new Set([() => later(1, 'a'), () => later(2, 'b')]);
    expect(await all(set)).toEqual(['a', 'b']);
    expect(await test.rt.run(async () => all([async () => 1]))).toEqual([1]);
  });

  it('does not switch when all are ready', async () => {
    const token = waitToken<number>();
    token.wake(1);
    await test.rt.run(function* () {
      let hasRun = false;
      spawn(() => {
        hasRun = true;
      });
      expect(yield* all([token.wait(), token.wait()])).toEqual([1, 1]);
      expect(hasRun).toBe(false);
    });
  });

  it('the first failure cancels the rest, waits for them, and is what it rejects with', async () => {
    const log: string[] = [];
    const root = new Error('root');
    await test.rt.run(function* () {
      const given = spawn(later<number>, 100, 7);
      try {
        yield* all([() => cleaning(log, 'body'), sleep(1e6), () => failingAfter(3, root), given]);
      } catch (error) {
        expect(error).toBe(root);
        log.push('caught');
      }
      expect(log).toEqual(['body', 'caught']);
      // A task that was given belongs to somebody else.
      expect(yield* given.join()).toBe(7);
    });
  });

  it('is an AggregateError when others fail by themselves too, the first one first', async () => {
    const token = waitToken();
    const failing = (error: Error) =>
      function* (): TaskGenerator<void> {
        yield* token.wait();
        throw error;
      };
    const [first, second] = [new Error('first'), new Error('second')];
    const operation = all([failing(first), failing(second), sleep(Infinity)]);
    await turns();
    token.wake();
    const error = await rejectionOf(operation);
    expect(error).toBeInstanceOf(AggregateError);
    const { errors, cause } = error as AggregateError;
    expect(new Set(errors)).toEqual(new Set([first, second]));
    expect(errors[0]).toBe(cause);
  });

  it('wraps the failure where clean-up fails', async () => {
    const [root, cleanup] = [new Error('root'), new Error('clean-up')];
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* all([() => cleaning([], '', cleanup), () => failingAfter(1, root)]);
      }),
    );
    expect(suppressedOf(error)).toMatchObject({ error: cleanup, suppressed: root });
  });

  it('gives back locks that it was granted before it failed', async () => {
    const lane = mutex();
    const root = new Error('root');
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* all([lane.lock(), () => failingAfter(1, root)]);
      }),
    );
    expect(error).toBe(root);
    expect(lane.isLocked).toBe(false);
  });

  it('cancelled, it cancels what is open, waits, and leaves given tasks alone', async () => {
    const log: string[] = [];
    const given = test.rt.spawn(() => later(50, 'given'));
    const task = test.rt.spawn(function* () {
      try {
        yield* all([() => cleaning(log, 'body'), given, sleep(1e6)]);
      } finally {
        log.push('waiter');
      }
    });
    await test.rt.run(function* () {
      yield* sleep(5);
      task.cancel('why');
      expect(yield* task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
      expect(yield* given.join()).toBe('given');
    });
    expect(log).toEqual(['body', 'waiter']);
  });

  it('checks every item before it starts any', () => {
    let isEntered = false;
    const body = () => {
      isEntered = true;
    };
    const code = (value: string) => expect.objectContaining({ code: value });
    expect(() => all([body, 5] as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
    expect(() => all(5 as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
    expect(() => all(null as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
    expect(isEntered).toBe(false);
  });

  it('stands a thousand bodies and a thousand waits for one token', async () => {
    const token = waitToken<number>();
    const bodies = Array.from({ length: 1000 }, (_, i) => () => later(i % 7, i));
    const waits = Array.from({ length: 1000 }, () => token.wait());
    const both = all([all(bodies), all(waits)]);
    token.wake(1);
    const [values, ones] = await both;
    expect(values).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect(ones.every((value) => value === 1)).toBe(true);
  });
});

describe('race', () => {
  it('gives what settles first; losers have ended by then', async () => {
    const log: string[] = [];
    await test.rt.run(function* () {
      const value = yield* race([() => cleaning(log, 'loser'), () => later(5, 'winner')]);
      const typed = race([() => later(0, 1), Promise.resolve('text')]);
      expectTypeOf(typed).resolves.toEqualTypeOf<number | string>();
      yield* typed;
      expect([value, log]).toEqual(['winner', ['loser']]);
      expect(test.rt.clock.now()).toBeLessThan(50);
    });
  });

  it('rejects when a failure is first', async () => {
    const root = new Error('root');
    expect(await rejectionOf(race([() => failingAfter(1, root), sleep(Infinity)]))).toBe(root);
  });

  it('of ready ones the first in order wins, and the others are given back', async () => {
    const lane = channel<string>(2);
    const value = await test.rt.run(function* () {
      yield* lane.send('a');
      yield* lane.send('b');
      const ready = waitToken<string>();
      ready.wake('ready');
      return yield* race([ready.wait(), lane.receive()]);
    });
    expect(value).toBe('ready');
    expect(lane.length).toBe(2);
  });

  it('a lock that a loser was granted is free again', async () => {
    const lane = mutex();
    const lock = await lane.lock();
    const token = waitToken();
    const operation = race([token.wait(), lane.lock()]);
    token.wake();
    await operation;
    expect(lane.waitingCount).toBe(0);
    lock.release();
    expect(lane.isLocked).toBe(false);
  });

  it('two joins of one task, and a task that is joined twice, do not get in each other’s way', async () => {
    const task = spawnLocal(() => later(1, 'value'));
    expect(await race([task.settled(), task.join(), task])).toEqual({
      status: 'success',
      value: 'value',
    });
    expect(await all([task, task])).toEqual(['value', 'value']);
  });

  it('the same operation twice', async () => {
    const once = sleep(1);
    expect(await race([once, once])).toBeUndefined();
  });

  it('leaves given tasks alone, and ignores how losers fail', async () => {
    const gate = waitToken<void>();
    const given = spawnLocal(function* () {
      yield* gate.wait();
      return 'later';
    });
    const stubborn = async (): Promise<never> => {
      try {
        await sleep(Infinity);
      } catch (cause) {
        throw new Error('wrapped', { cause });
      }
      throw new Error('never');
    };
    expect(await race([given, stubborn, () => later(1, 'first')])).toBe('first');
    gate.wake();
    expect(await given.join()).toBe('later');
  });

  it('rejects with what the clean-up of a loser threw', async () => {
    const cleanup = new Error('clean-up');
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* race([() => cleaning([], '', cleanup), () => later(1, 'winner')]);
      }),
    );
    expect(error).toBe(cleanup);
  });

  it('cancelled: AbortError in ordinary code, when all have ended', async () => {
    const token = waitToken();
    let hasEnded = false;
    const operation: Operation<unknown> = race([
      function* () {
        try {
          yield* sleep(Infinity);
        } finally {
          yield* token.wait();
          hasEnded = true;
        }
      },
      sleep(Infinity),
    ]);
    await turns();
    operation.cancel('why');
    await turns();
    expect(operation.isSettled).toBe(false);
    token.wake();
    expect(await rejectionOf(operation)).toBeInstanceOf(AbortError);
    expect(hasEnded).toBe(true);
  });

  it('refuses an empty race and what is no item', () => {
    expect(() => race([])).toThrow(expect.objectContaining({ code: 'ERR_OUT_OF_RANGE' }));
    expect(() => race([undefined] as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }),
    );
  });

  it('an async body that is cancelled has its own items stopped: operations, groups and joins', async () => {
    const log: string[] = [];
    const given = test.rt.spawn(() => later(50, 'given'));
    const task = test.rt.spawn(async () => {
      const first = sleep(1e6);
      const second = race([sleep(1e6), () => cleaning(log, 'inner')]);
      const third = sleep(1e6);
      const ends = await Promise.allSettled([first, second, third, given.join()]);
      log.push(...ends.map((end) => end.status));
    });
    await test.rt.run(function* () {
      yield* sleep(5);
      task.cancel('why');
      yield* task.settled();
      expect(test.rt.clock.now()).toBeLessThan(40);
      expect(yield* given.join()).toBe('given');
    });
    expect(log).toEqual(['inner', 'rejected', 'rejected', 'rejected', 'rejected']);
  });

  it('scopes, races and alls nest', async () => {
    const value = await test.rt.run(function* () {
      return yield* race([
        scope(function* (s) {
          s.spawn(() => sleep(1e6));
          yield* sleep(1e6);
          return 'scope';
        }),
        all([sleep(1), race([sleep(1e6), () => later(2, 'inner')])]),
      ]);
    });
    expect(value).toEqual([undefined, 'inner']);
  });
});
