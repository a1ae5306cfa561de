// Join cycles through scopes and all(): named and trapped at whoever closes the ring, and nothing
// taken for one that ends by itself. Not here: plain rings of joins.
import { describe, expect, it } from 'vitest';
import {
  all,
  current,
  race,
  type Scope,
  scope,
  sleep,
  type Task,
  TaskTrapError,
  uncancellable,
  waitToken,
  withTimeout,
} from '../../../../lib/index.ts';
import { rejectionOf, test, useRuntime } from './support.ts';

useRuntime();

function expectCycle(error: unknown, ...names: string[]): void {
  expect(error).toBeInstanceOf(TaskTrapError);
  const { info } = error as TaskTrapError;
  expect(info.kind).toBe('join-cycle');
  const path = info.message.slice(info.message.indexOf(':') + 2).replaceAll(/ #\d+/g, '');
  expect(path).toBe(names.join(' -> '));
}

describe('a ring', () => {
  it('closed by a child that joins the opener of its scope', async () => {
    const error = await rejectionOf(
      test.rt.run(function* opener() {
        const self: Task = current();
        yield* scope(function* body(s) {
          s.spawn(function* child() {
            yield* self.join();
          });
          yield* sleep(1);
        });
      }),
    );
    expectCycle(error, 'child', 'opener', 'child');
  });

  it('closed by the opener, when it comes to its scope', async () => {
    const error = await rejectionOf(
      test.rt.run(function* opener() {
        const self: Task = current();
        const operation = scope(function* body() {
          yield* self.join();
        });
        yield* sleep(1);
        yield* operation;
      }),
    );
    expectCycle(error, 'opener', 'body', 'opener');
  });

  it('through all(), nested scopes, and a join in between', async () => {
    const error = await rejectionOf(
      test.rt.run(function* opener() {
        const self: Task = current();
        yield* all([
          sleep(1e6),
          function* outer() {
            yield* scope(function* inner(s: Scope) {
              const last = s.spawn(function* last() {
                yield* sleep(1);
                yield* self.join();
              });
              yield* last.join();
            });
          },
        ]);
      }),
    );
    expectCycle(error, 'last', 'opener', 'outer', 'inner', 'last');
  });
});

describe('a ring through a decided race', () => {
  it('is closed by the clean-up of a loser that waits for the one that races', async () => {
    const waiter: Task = test.rt.spawn(function* racer() {
      yield* race([
        function* loser() {
          try {
            yield* sleep(1e6);
          } finally {
            yield* sleep(5);
            yield* waiter.settled();
          }
        },
        sleep(1),
      ]);
    });
    expectCycle(await rejectionOf(waiter.join()), 'loser', 'racer', 'loser');
  });

  it.each(['alone', 'in all()'])('is closed by the decision: %s', async (how) => {
    const waiter: Task = test.rt.spawn(function* racer() {
      const decided = race([
        function* loser() {
          yield* uncancellable(waiter.settled());
        },
        sleep(1),
      ]);
      yield* how === 'alone' ? decided : all([decided, sleep(5)]);
    });
    const error = (await rejectionOf(waiter.join())) as Error;
    expect(error).toMatchObject({ code: 'ERR_JOIN_CYCLE' });
    expect(error.message).toContain('racer #1 -> loser #2 -> racer #1');
  });
});

describe('no ring', () => {
  it('where a limit or another item ends the wait', async () => {
    await test.rt.run(function* () {
      const self: Task = current();
      const body = function* () {
        yield* self.join();
      };
      expect(yield* race([body, () => 'other'])).toBe('other');
      try {
        yield* scope((s) => {
          s.spawn(function* () {
            yield* withTimeout(5, self.join());
          });
        });
        expect.unreachable();
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_OPERATION_TIMEOUT' });
      }
    });
  });

  it('a thousand children that wait for one another’s work', async () => {
    await test.rt.run(function* () {
      yield* scope(function* (s) {
        const token = waitToken();
        let previous: Task = s.spawn(() => token.wait());
        for (let i = 0; i < 1000; i++) {
          const before = previous;
          previous = s.spawn(() => before.join());
        }
        yield* sleep(1);
        token.wake();
      });
    });
  });
});
