// Whose context code runs in: a turn is armed by whoever wakes the first task, and neither the
// stores, nor the rights, nor the cancellation of that one are the woken task's.
// Not here: what is captured at spawn (structured/signals.test.ts).
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFile } from '../../../lib/fs.ts';
import {
  checkpoint,
  current,
  fromPromise,
  Runtime,
  sleep,
  spawn,
  waitToken,
} from '../../../lib/index.ts';
import type { Task } from '../../../lib/task/task.ts';

let rt: Runtime;
beforeEach(async () => {
  rt = await Runtime.start();
});
afterEach(() => rt.close({ deadline: 0 }));

const loopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a turn', () => {
  // First in the file: its task must be spawned before any store was entered.
  it('runs without the stores of whoever armed it', async () => {
    const [first, second] = [waitToken(), waitToken()];
    const store = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const task = rt.spawn(function* () {
      yield* first.wait();
      seen.push(store.getStore());
      yield* spawn(() => {
        seen.push(store.getStore());
      }).join();
      // Not a store for the turns that follow.
      store.enterWith('own');
      yield* second.wait();
      seen.push(store.getStore());
      yield* sleep(1);
      seen.push(store.getStore());
    });
    await loopTurn();
    store.run('waker', () => first.wake());
    await loopTurn();
    store.run('another waker', () => second.wake());
    await task.join();
    expect(seen).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe('a generator task that an async one has spawned', () => {
  it('awaits as itself when its parent is cancelled', async () => {
    const gate = waitToken();
    let child: Task<string> | undefined;
    const parent = rt.spawn(async function cancelled() {
      child = spawn(function* () {
        yield* gate.wait();
        const promise = Promise.resolve(sleep(1)).then(() => 'slept');
        return yield* fromPromise(promise);
      });
      await sleep(10_000).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
    await loopTurn();
    parent.cancel();
    gate.wake();
    expect(await child?.join()).toBe('slept');
    await parent.settled();
  });
});

describe('abort listeners of a task', () => {
  const kinds: [string, (victim: Task) => Task][] = [
    [
      'a generator',
      (victim) =>
        rt.spawn(function* () {
          yield* checkpoint();
          victim.cancel();
        }),
    ],
    [
      'an async body',
      (victim) =>
        rt.spawn(async () => {
          await sleep(1);
          victim.cancel();
        }),
    ],
  ];
  it.each(kinds)('do not run as the canceller: %s', async (_kind, cancelIn) => {
    let parent: Task | undefined | null = null;
    const victim = rt.spawn(function* () {
      current().signal.addEventListener('abort', () => {
        // At once: a task that has ended has none.
        parent = spawn(() => {}).parent;
      });
      yield* sleep(10_000);
    });
    await loopTurn();
    await cancelIn(victim).join();
    await victim.settled();
    expect(parent).toBeUndefined();
  });

  it('have no file authority of the canceller, which keeps its own', async () => {
    let heard: unknown;
    const victim = rt.spawn(function* () {
      current().signal.addEventListener('abort', () => {
        heard = Promise.resolve(readFile(import.meta.filename)).then(() => 'read');
      });
      yield* sleep(10_000);
    });
    await loopTurn();
    await rt.with({ capabilities: { files: [] } }).run(function* () {
      victim.cancel();
      expect(current()).not.toBe(victim);
      try {
        yield* readFile(import.meta.filename);
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_CAPABILITY_DENIED' });
        return;
      }
      throw new Error('it was allowed');
    });
    expect(await heard).toBe('read');
  });
});
