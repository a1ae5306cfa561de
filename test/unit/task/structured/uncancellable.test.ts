// uncancellable(): what is in it runs to its end, the cancellation comes right after; nested, in
// generator and async bodies, and gone on every way out. Virtual time.
import { describe, expect, it } from 'vitest';
import type { Task } from '../../../../lib/index.ts';
import {
  checkpoint,
  current,
  race,
  sleep,
  TaskCancelledError,
  TaskTrapError,
  uncancellable,
  waitToken,
} from '../../../../lib/index.ts';
import { MASK_UNIT } from '../../../../lib/task/state.ts';
import { rejectionOf, test, useRuntime } from './support.ts';

useRuntime();

/** Cancels the task at that time, and gives how it ended and when. */
function cancelled(task: Task, atMs: number): Promise<{ status: string; atMs: number }> {
  return test.rt.run(function* () {
    yield* sleep(atMs);
    task.cancel('why');
    const { status } = yield* task.settled();
    return { status, atMs: Math.floor(test.rt.clock.now()) };
  });
}

const isMasked = (task: Task): boolean => task.word >= MASK_UNIT;

describe('in a generator body', () => {
  it('the section runs to its end; the next suspension is where the task ends', async () => {
    const log: string[] = [];
    const task = test.rt.spawn(function* () {
      try {
        const value = yield* uncancellable(function* () {
          yield* sleep(50);
          yield* sleep(50);
          return 'value';
        });
        log.push(value);
        yield* sleep(1e6);
        log.push('not reached');
      } finally {
        log.push('finally');
      }
    });
    const { status, atMs } = await cancelled(task, 5);
    expect([status, ...log]).toEqual(['cancelled', 'value', 'finally']);
    expect(atMs).toBeGreaterThanOrEqual(100);
    expect(atMs).toBeLessThan(110);
  });

  it('takes an operation, an async and a plain function', async () => {
    const log: unknown[] = [];
    const task = test.rt.spawn(function* () {
      log.push(yield* uncancellable(sleep(20)));
      log.push(yield* uncancellable(() => 'plain'));
      log.push(
        yield* uncancellable(async () => {
          await sleep(20);
          return 'async';
        }),
      );
      yield* sleep(1e6);
    });
    const { status } = await cancelled(task, 5);
    expect([status, ...log]).toEqual(['cancelled', undefined, 'plain', 'async']);
  });

  it('nests', async () => {
    const log: string[] = [];
    const task = test.rt.spawn(function* () {
      yield* uncancellable(function* () {
        yield* uncancellable(sleep(20));
        yield* sleep(20);
        log.push('outer');
      });
      yield* sleep(1e6);
    });
    const { status, atMs } = await cancelled(task, 5);
    expect([status, ...log]).toEqual(['cancelled', 'outer']);
    expect(atMs).toBeLessThan(60);
  });

  it('is seen by current().cancelled, and a checkpoint in it does not end the task', async () => {
    let seen = false;
    const task = test.rt.spawn(function* () {
      yield* uncancellable(function* () {
        while (!current().cancelled) yield* sleep(1);
        yield* checkpoint(1e9);
        seen = true;
      });
      yield* checkpoint();
    });
    expect((await cancelled(task, 5)).status).toBe('cancelled');
    expect(seen).toBe(true);
  });

  it('the mask is gone after a return, a throw, a break, a trap', async () => {
    await test.rt.run(function* () {
      const task = current();
      yield* uncancellable(function* () {
        yield* sleep(1);
        expect(isMasked(task)).toBe(true);
      });
      expect(isMasked(task)).toBe(false);
      try {
        yield* uncancellable(function* () {
          yield* sleep(1);
          throw new Error('thrown');
        });
      } catch {}
      expect(isMasked(task)).toBe(false);
      try {
        yield* uncancellable(() => {
          throw new Error('thrown at once');
        });
      } catch {}
      expect(isMasked(task)).toBe(false);
    });
    const trapped = test.rt.spawn(function* () {
      yield* uncancellable(function* () {
        yield sleep(1) as never;
      });
    });
    expect(await rejectionOf(trapped.join())).toBeInstanceOf(TaskTrapError);
    expect(isMasked(trapped)).toBe(false);
  });

  it('in `finally`, where waits are masked already', async () => {
    const log: string[] = [];
    const task = test.rt.spawn(function* () {
      try {
        yield* sleep(1e6);
      } finally {
        yield* uncancellable(sleep(20));
        log.push('cleaned');
      }
    });
    expect((await cancelled(task, 5)).status).toBe('cancelled');
    expect(log).toEqual(['cleaned']);
  });

  it('what it waits for may be cancelled by others', async () => {
    const task = test.rt.spawn(function* () {
      return yield* uncancellable(race([sleep(1e6), () => 'won']));
    });
    expect(await task.join()).toBe('won');
  });
});

describe('in an async body', () => {
  it('the section runs to its end; the next operation rejects', async () => {
    const log: string[] = [];
    const task = test.rt.spawn(async () => {
      const value = await uncancellable(async () => {
        await sleep(20);
        await sleep(20);
        return 'value';
      });
      log.push(value);
      try {
        await sleep(1e6);
      } catch (error) {
        log.push((error as Error).name);
        throw error;
      }
    });
    const { status, atMs } = await cancelled(task, 5);
    expect([status, ...log]).toEqual(['cancelled', 'value', 'TaskCancelledError']);
    expect(atMs).toBeLessThan(60);
  });

  it('its own failure reaches the body, not the cancellation', async () => {
    const root = new Error('root');
    let seen: unknown;
    const task = test.rt.spawn(async () => {
      seen = await rejectionOf(
        uncancellable(async () => {
          await sleep(20);
          throw root;
        }),
      );
    });
    await cancelled(task, 5);
    expect(seen).toBe(root);
  });

  it('what else the body waits for is cancelled at its end', async () => {
    const errors: unknown[] = [];
    const task = test.rt.spawn(async () => {
      const [first, second] = await Promise.allSettled([
        uncancellable(async () => sleep(20)),
        sleep(1e6),
      ]);
      errors.push(first.status, (second as PromiseRejectedResult).reason);
    });
    const { atMs } = await cancelled(task, 5);
    expect(atMs).toBeLessThan(40);
    expect(errors).toEqual(['fulfilled', expect.any(TaskCancelledError)]);
  });

  it('nests, takes an operation, and is gone after a throw at once', async () => {
    await test.rt.run(async () => {
      const task = current();
      await uncancellable(async () => {
        await uncancellable(sleep(1));
        expect(isMasked(task)).toBe(true);
      });
      expect(isMasked(task)).toBe(false);
      await rejectionOf(
        uncancellable(() => {
          throw new Error('at once');
        }),
      );
      expect(isMasked(task)).toBe(false);
    });
  });

  it('refuses a generator function, which nobody could drive', async () => {
    const error = await test.rt.run(async () => {
      try {
        return uncancellable(function* () {
          yield* sleep(1);
        });
      } catch (caught) {
        return { caught };
      }
    });
    expect(error).toMatchObject({ caught: { code: 'ERR_INVALID_ARG_TYPE' } });
  });
});

describe('elsewhere', () => {
  it('there is nothing to mask', async () => {
    expect(await uncancellable(async () => 'value')).toBe('value');
    const token = waitToken<number>();
    token.wake(3);
    expect(await uncancellable(token.wait())).toBe(3);
  });

  it('refuses what is neither operation nor function', () => {
    for (const given of [undefined, null, 5, {}]) {
      expect(() => uncancellable(given as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }),
      );
    }
  });
});
