// scope(): children end with it, on every way out: return, failure, several failures, clean-up that
// fails, cancellation from inside and outside. Virtual time. Not here: `await using` (scope_using).
import { describe, expect, it } from 'vitest';
import {
  current,
  type Scope,
  scope,
  sleep,
  type TaskGenerator,
  TaskTrapError,
  waitToken,
} from '../../../../lib/index.ts';
import { rejectionOf, suppressedOf, test, useRuntime } from './support.ts';

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

describe('a scope that succeeds', () => {
  it('gives the value of its body when the last child has ended', async () => {
    const log: string[] = [];
    const value = await test.rt.run(function* () {
      const got = yield* scope((s) => {
        s.spawn(function* () {
          yield* sleep(50);
          log.push('child');
        });
        log.push('body');
        return 'value';
      });
      log.push(`left at ${test.rt.clock.now() >= 50}`);
      return got;
    });
    expect(value).toBe('value');
    expect(log).toEqual(['body', 'child', 'left at true']);
  });

  it('has async bodies, in async tasks and outside tasks', async () => {
    const inTask = await test.rt.run(async () =>
      scope(async (s) => {
        const first = s.spawn(async () => {
          await sleep(5);
          return 1;
        });
        const second = s.spawn(function* () {
          yield* sleep(2);
          return 2;
        });
        return (await first.join()) + (await second.join());
      }),
    );
    expect(inTask).toBe(3);
    const outside = await scope((s) => s.spawn(() => 4).join());
    expect(outside).toBe(4);
  });

  it('waits for what children spawn through it, also after its body has returned', async () => {
    const ended: number[] = [];
    await test.rt.run(function* () {
      yield* scope((s) => {
        function* generation(depth: number): TaskGenerator<void> {
          yield* sleep(1);
          if (depth > 0) s.spawn(generation, depth - 1);
          ended.push(depth);
        }
        s.spawn(generation, 5);
      });
      expect(ended).toEqual([5, 4, 3, 2, 1, 0]);
    });
  });

  it('is one of the tasks: its body is a child of the opener, its children of the body', async () => {
    await test.rt.with({ name: 'opener' }).run(function* () {
      const opener = current();
      yield* scope(function* body(s) {
        const child = s.spawn(function* inner() {
          yield* sleep(1);
        });
        const tree = new Map(test.rt.dump().map((task) => [task.name, task]));
        expect(tree.get('body')?.parent).toBe(opener.id);
        expect(tree.get('inner')?.parent).toBe(current().id);
        expect(tree.get('opener')?.waitCondition).toBe('scope (2 tasks)');
        yield* child.join();
      });
    });
  });
});

describe('a scope that fails', () => {
  it('cancels siblings and body at the first failure, and rethrows it itself', async () => {
    const root = new Error('root');
    const log: string[] = [];
    const error = await test.rt.run(function* () {
      try {
        yield* scope(function* (s) {
          s.spawn(function* () {
            try {
              yield* sleep(1e6);
            } catch {
              log.push('catch saw it');
            } finally {
              yield* sleep(10);
              log.push('sibling');
            }
          });
          s.spawn(function* () {
            yield* sleep(5);
            throw root;
          });
          try {
            yield* sleep(1e6);
          } finally {
            log.push('body');
          }
        });
        return undefined;
      } catch (caught) {
        expect(test.rt.clock.now()).toBeLessThan(100);
        return caught;
      }
    });
    expect(error).toBe(root);
    expect(log).toEqual(['body', 'sibling']);
  });

  it('cancels its children when the body fails, with that failure as the reason', async () => {
    const root = new Error('root');
    let sibling: unknown;
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* scope(function* (s) {
          sibling = s.spawn(forever);
          yield* sleep(1);
          throw root;
        });
      }),
    );
    expect(error).toBe(root);
    expect((sibling as { outcome: unknown }).outcome).toEqual({
      status: 'cancelled',
      reason: root,
    });
  });

  it('fails also when the body has joined the child and caught its failure', async () => {
    const root = new Error('root');
    const error = await rejectionOf(
      scope(async (s) => {
        await s
          .spawn(async () => {
            throw root;
          })
          .join()
          .catch(() => {});
        await sleep(Infinity);
      }),
    );
    expect(error).toBe(root);
  });

  it('counts a failure that the body only passed on once', async () => {
    const root = new Error('root');
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* scope(async (s) => {
          await s
            .spawn(async () => {
              throw root;
            })
            .join();
        });
      }),
    );
    expect(error).toBe(root);
  });

  it('gives an AggregateError, the root first, when others fail by themselves too', async () => {
    const [first, second, third] = ['first', 'second', 'third'].map((text) => new Error(text));
    const token = waitToken();
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* scope(function* (s) {
          for (const failure of [first, second, third]) {
            s.spawn(function* () {
              yield* token.wait();
              throw failure;
            });
          }
          // All are woken at once, and fail before the cancellation reaches them.
          yield* sleep(1);
          token.wake();
          yield* sleep(1e6);
        });
      }),
    );
    expect(error).toBeInstanceOf(AggregateError);
    const { errors, cause } = error as AggregateError;
    expect(new Set(errors)).toEqual(new Set([first, second, third]));
    expect(errors[0]).toBe(cause);
  });

  it('gives a SuppressedError when clean-up fails after the failure', async () => {
    const root = new Error('root');
    const cleanup = new Error('clean-up');
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* scope(function* (s) {
          s.spawn(failingAtEnd, cleanup);
          yield* sleep(1);
          throw root;
        });
      }),
    );
    expect(suppressedOf(error).error).toBe(cleanup);
    expect(suppressedOf(error).suppressed).toBe(root);
  });

  it('does not take for a failure what async bodies make of their cancellation', async () => {
    const root = new Error('root');
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* scope(function* (s) {
          s.spawn(async () => {
            try {
              await sleep(1e6);
            } catch (cause) {
              throw new Error('the load failed', { cause });
            }
          });
          yield* sleep(1);
          throw root;
        });
      }),
    );
    expect(error).toBe(root);
  });

  it('takes a trap of a child for a failure', async () => {
    const error = await rejectionOf(
      test.rt.run(function* () {
        yield* scope(function* (s) {
          s.spawn(function* () {
            yield sleep(1) as never;
          });
          yield* sleep(1e6);
        });
      }),
    );
    expect(error).toBeInstanceOf(TaskTrapError);
    expect((error as TaskTrapError).info.kind).toBe('foreign-yield');
  });
});

describe('misuse', () => {
  it('refuses what is no body, and spawning when it has been left', async () => {
    for (const given of [5, 'x', {}, null, (function* () {})()]) {
      expect(() => scope(given as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }),
      );
    }
    let left: Scope | undefined;
    await scope((s) => {
      left = s;
    });
    expect(() => left?.spawn(() => {})).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_STATE' }),
    );
  });

  it('refuses to be joined by its own tasks', async () => {
    const error = await rejectionOf(
      scope(function* (s) {
        yield* s.join();
      }),
    );
    expect(error).toMatchObject({ code: 'ERR_JOIN_CYCLE' });
  });
});
