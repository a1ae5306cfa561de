// Cancellation and scopes: of the waiting task, of the operation, of one child, of the body by
// itself, before the start, and clean-up that fails then. Virtual time.
import { describe, expect, it } from 'vitest';
import {
  AbortError,
  current,
  type Scope,
  scope,
  sleep,
  spawn,
  TaskCancelledError,
  type TaskGenerator,
  waitToken,
} from '../../../../lib/index.ts';
import { rejectionOf, suppressedOf, test, turns, useRuntime } from './support.ts';

useRuntime();

const forever = () => sleep(Infinity);

/** Waits; throws in its clean-up. */
function* failingAtEnd(error: Error): TaskGenerator<void> {
  try {
    yield* sleep(1e6);
  } finally {
    yield* sleep(5);
    // biome-ignore lint/correctness/noUnsafeFinally: the point of it.
    throw error;
  }
}

describe('cancellation', () => {
  it('of the waiting task cancels body and children and waits for them', async () => {
    const log: string[] = [];
    const task = test.rt.spawn(function* () {
      try {
        yield* scope(function* (s) {
          s.spawn(function* () {
            try {
              yield* sleep(1e6);
            } finally {
              yield* sleep(20);
              log.push('child');
            }
          });
          try {
            yield* sleep(1e6);
          } finally {
            log.push('body');
          }
        });
      } finally {
        log.push('opener');
      }
    });
    await test.rt.run(function* () {
      yield* sleep(5);
      task.cancel('why');
      expect(yield* task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    });
    expect(log).toEqual(['body', 'child', 'opener']);
  });

  it('of the operation, from ordinary code, rejects with AbortError when all have ended', async () => {
    const token = waitToken();
    let hasEnded = false;
    const operation = scope(function* (s) {
      s.spawn(function* () {
        try {
          yield* sleep(Infinity);
        } finally {
          yield* token.wait();
          hasEnded = true;
        }
      });
      yield* sleep(Infinity);
    });
    await turns();
    operation.cancel('why');
    await turns();
    expect(operation.isSettled).toBe(false);
    token.wake();
    const error = await rejectionOf(operation);
    expect(error).toBeInstanceOf(AbortError);
    expect((error as AbortError).cause).toBe('why');
    expect(hasEnded).toBe(true);
  });

  it('of one child is no failure and touches nobody else', async () => {
    const value = await test.rt.run(function* () {
      return yield* scope(function* (s) {
        const victim = s.spawn(forever);
        const other = s.spawn(function* () {
          yield* sleep(10);
          return 'other';
        });
        yield* sleep(1);
        victim.cancel();
        return yield* other.join();
      });
    });
    expect(value).toBe('other');
  });

  it('of the body by itself ends the scope as cancelled', async () => {
    let child: unknown;
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* scope(function* (s) {
          child = s.spawn(forever);
          yield* sleep(1);
          current().cancel('enough');
          yield* sleep(1);
        });
      }),
    );
    expect(error).toBeInstanceOf(TaskCancelledError);
    expect((error as TaskCancelledError).reason).toBe('enough');
    expect((child as { outcome: { status: string } }).outcome.status).toBe('cancelled');
  });

  it('before the body ran: it is never entered', async () => {
    let isEntered = false;
    const operation = scope(() => {
      isEntered = true;
    });
    operation.cancel();
    expect(await rejectionOf(operation)).toBeInstanceOf(AbortError);
    expect(isEntered).toBe(false);
  });

  it('s.cancel() ends the children; a body that has returned keeps its value', async () => {
    let given: Scope | undefined;
    const value = await test.rt.run(function* () {
      spawn(function* () {
        yield* sleep(5);
        given?.cancel('tidy up');
      });
      return yield* scope((s) => {
        given = s;
        s.spawn(forever);
        return 'value';
      });
    });
    expect(value).toBe('value');
    expect(given?.isCancelled).toBe(true);
  });

  it('a child that is spawned into a cancelled scope is never entered', async () => {
    let late: { outcome?: unknown } = {};
    let isEntered = false;
    await rejectionOf(
      test.rt.run(function* () {
        yield* scope(function* (s) {
          s.spawn(function* () {
            try {
              yield* sleep(1e6);
            } finally {
              late = s.spawn(() => {
                isEntered = true;
              });
            }
          });
          yield* sleep(1);
          throw new Error('root');
        });
      }),
    );
    expect(isEntered).toBe(false);
    expect(late.outcome).toMatchObject({ status: 'cancelled' });
  });

  it('a clean-up failure that the cancelled opener cannot be told of is reported', async () => {
    const reported: unknown[] = [];
    test.rt.onUnhandled((error) => reported.push(error));
    const cleanup = new Error('clean-up');
    const task = test.rt.spawn(function* () {
      yield* scope(function* (s) {
        s.spawn(failingAtEnd, cleanup);
        yield* sleep(1e6);
      });
    });
    await test.rt.run(function* () {
      yield* sleep(5);
      task.cancel();
      yield* task.settled();
      yield* sleep(5);
    });
    await turns();
    expect(reported.map((error) => suppressedOf(error).error)).toEqual([cleanup]);
  });
});
