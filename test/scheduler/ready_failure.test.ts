// A failure that is there before a task waits for it: joined when the slice is over, the task gives
// way between looking at the join and getting its error; nobody may report that error meanwhile.
// Not here: failures that nobody joins (test of onUnhandled).
import { afterEach, expect, it } from 'vitest';
import { checkpoint, sleep, spawn } from '../../lib/index.ts';
import { useLab } from './lab.ts';

const lab = useLab();
const reported: unknown[] = [];
const listener = (error: unknown): void => void reported.push(error);
afterEach(() => process.off('unhandledRejection', listener));

it('is not reported as unhandled while the task gives way at the join', async () => {
  process.on('unhandledRejection', listener);
  const error = new Error('of the child');
  const caught = await lab.rt.run(function* () {
    const child = spawn(function* () {
      yield* checkpoint();
      throw error;
    });
    child.settled().then(() => undefined);
    yield* sleep(1);
    // Longer than a turn: the join gives way, and the event loop has its turn before it goes on.
    const endMs = performance.now() + 3;
    while (performance.now() < endMs);
    yield* checkpoint(3999);
    const spentMs = performance.now() + 3;
    while (performance.now() < spentMs);
    for (let i = 0; i < 5000; i++) {
      try {
        yield* child.join();
      } catch (given) {
        if (given !== error) return given;
      }
    }
    return error;
  });
  await sleep(5);
  expect(caught).toBe(error);
  expect(reported).toEqual([]);
});
