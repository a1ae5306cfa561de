// Scopes without a body: spawn, join, cancel, and `await using` in async bodies and ordinary code.
// Not here: scopes with a body (scope.test.ts).
import { describe, expect, it } from 'vitest';
import { AbortError, scope, sleep, TaskCancelledError, waitToken } from '../../../../lib/index.ts';
import { rejectionOf, suppressedOf, test, turns, useRuntime } from './support.ts';

useRuntime();

describe('a scope without a body', () => {
  it('is joined when it is left', async () => {
    const log: string[] = [];
    {
      await using s = scope();
      const token = waitToken();
      s.spawn(function* () {
        yield* token.wait();
        log.push('first');
      });
      s.spawn(async () => {
        await sleep(1);
        log.push('second');
        token.wake();
      });
      expect(s.openCount).toBe(2);
    }
    expect(log).toEqual(['second', 'first']);
  });

  it('rejects with the failure of a child, which cancels the others, when it is left', async () => {
    const root = new Error('root');
    let other: { outcome?: unknown } = {};
    const leave = async (): Promise<void> => {
      await using s = scope();
      other = s.spawn(() => sleep(Infinity));
      s.spawn(async () => {
        throw root;
      });
    };
    expect(await rejectionOf(leave())).toBe(root);
    expect(other.outcome).toEqual({ status: 'cancelled', reason: root });
  });

  it('tells a failure once: join() has told it, leaving does not', async () => {
    const root = new Error('root');
    const leave = async (): Promise<unknown> => {
      await using s = scope();
      s.spawn(async () => {
        throw root;
      });
      return rejectionOf(s.join());
    };
    expect(await leave()).toBe(root);
  });

  it('a block that throws and a child that fails: SuppressedError', async () => {
    const leave = async (): Promise<void> => {
      await using s = scope();
      s.spawn(async () => {
        throw new Error('child');
      });
      throw new Error('block');
    };
    const { error, suppressed } = suppressedOf(await rejectionOf(leave()));
    expect([error, suppressed]).toEqual([new Error('child'), new Error('block')]);
  });

  it('can be joined, used again, cancelled, and refuses tasks once it is left', async () => {
    const s = scope();
    const first = s.spawn(() => 1);
    await s.join();
    expect(first.outcome).toEqual({ status: 'success', value: 1 });
    const second = s.spawn(() => sleep(Infinity));
    await turns();
    s.cancel('enough');
    s.cancel('again');
    await s.join();
    expect(second.outcome).toEqual({ status: 'cancelled', reason: 'enough' });
    await s[Symbol.asyncDispose]();
    await s[Symbol.asyncDispose]();
    expect(() => s.spawn(() => 3)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_STATE' }));
  });

  it('cancelling a join cancels the tasks', async () => {
    const s = scope();
    const task = s.spawn(() => sleep(Infinity));
    const join = s.join();
    await turns();
    join.cancel('why');
    expect(await rejectionOf(join)).toBeInstanceOf(AbortError);
    expect(task.outcome).toEqual({ status: 'cancelled', reason: 'why' });
  });
});

describe('inside tasks', () => {
  it('an async body that is cancelled stays cancelled, and its children end with it', async () => {
    const log: string[] = [];
    const task = test.rt.spawn(async () => {
      await using s = scope();
      s.spawn(function* () {
        try {
          yield* sleep(1e6);
        } finally {
          yield* sleep(10);
          log.push('child');
        }
      });
      await sleep(1e6);
    });
    await test.rt.run(function* () {
      yield* sleep(5);
      task.cancel('why');
      expect(yield* task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    });
    expect(log).toEqual(['child']);
  });

  it('an async body that is cancelled while the scope is left cancels the children', async () => {
    const task = test.rt.spawn(async () => {
      await using s = scope();
      s.spawn(() => sleep(1e6));
    });
    await test.rt.run(function* () {
      yield* sleep(5);
      task.cancel('why');
      expect(yield* task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    });
    expect(test.rt.clock.now()).toBeLessThan(100);
  });

  it('a join in `finally` of a cancelled generator cancels the children first', async () => {
    let child: { outcome?: unknown } = {};
    const task = test.rt.spawn(function* () {
      const s = scope();
      try {
        child = s.spawn(() => sleep(1e6));
        yield* sleep(1e6);
      } finally {
        yield* s.join();
      }
    });
    await test.rt.run(function* () {
      yield* sleep(5);
      task.cancel('why');
      yield* task.settled();
    });
    expect(child.outcome).toEqual({ status: 'cancelled', reason: 'why' });
    expect(test.rt.clock.now()).toBeLessThan(100);
  });

  it('is cancelled when the task that opened it ends without leaving it', async () => {
    let child: { outcome?: { status: string } | undefined } = {};
    await test.rt.run(function* () {
      child = scope().spawn(() => sleep(1e6));
      yield* sleep(1);
    });
    await test.rt.run(() => sleep(1));
    expect(child.outcome?.status).toBe('cancelled');
  });

  it('a failure in a scope that nobody joins is reported at the end of the opener', async () => {
    const reported: unknown[] = [];
    test.rt.onUnhandled((error) => reported.push(error));
    const root = new Error('root');
    await test.rt.run(function* () {
      scope().spawn(() => {
        throw root;
      });
      yield* sleep(5);
      expect(reported).toEqual([]);
    });
    await turns();
    expect(reported).toEqual([root]);
  });

  it('an awaiting async body is told TaskCancelledError, not AbortError', async () => {
    let seen: unknown;
    const task = test.rt.spawn(async () => {
      const s = scope();
      s.spawn(() => sleep(1e6));
      try {
        await s.join();
      } catch (error) {
        seen = error;
        throw error;
      }
    });
    await test.rt.run(function* () {
      yield* sleep(5);
      task.cancel('why');
      yield* task.settled();
    });
    expect(seen).toBeInstanceOf(TaskCancelledError);
  });
});
