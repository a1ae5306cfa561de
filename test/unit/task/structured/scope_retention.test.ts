// A scope without a body lets go of its opener when it has been joined: one per request must not
// pile up in a server's loop. Not here: what scopes do (scope.test.ts).
import { describe, expect, it } from 'vitest';
import { current, Runtime, scope, sleep, spawn } from '../../../../lib/index.ts';
import type { Task } from '../../../../lib/task/task.ts';

const ownedBy = (task: Task): number => {
  let count = 0;
  for (let one = task.firstOwned; one !== undefined; one = one.nextOwned) count++;
  return count;
};

describe('scope: retention', () => {
  it('joined scopes are not kept by the task that opened them', async () => {
    const rt = await Runtime.start();
    const counts = await rt.run(function* () {
      const seen: number[] = [];
      for (let i = 0; i < 50; i++) {
        const s = scope();
        s.spawn(function* () {
          yield* sleep(0);
        });
        yield* s.join();
        seen.push(ownedBy(current()));
      }
      return seen;
    });
    expect(Math.max(...counts)).toBe(0);
    await rt.close();
  });

  it('one that is used again after its join still ends with its opener', async () => {
    const rt = await Runtime.start();
    let late: Task<unknown> | undefined;
    await rt.run(function* () {
      const s = scope();
      yield* s.spawn(() => 1).join();
      yield* s.join();
      late = s.spawn(function* () {
        yield* sleep(100_000);
      });
      yield* spawn(() => 1).join();
    });
    expect((await late?.settled())?.status).toBe('cancelled');
    await rt.close();
  });
});
