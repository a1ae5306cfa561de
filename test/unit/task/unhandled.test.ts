// Failures that nobody joined, and errors of listeners, watchers and hostile errors on the way of a
// task's end: each is told, and nobody who waits is forgotten.
// Not here: when a failure counts as unhandled (test/scheduler/ready_failure.test.ts).
import { afterEach, describe, expect, it } from 'vitest';
import { Runtime, scope, sleep, type Task } from '../../../lib/index.ts';
import type { TaskGenerator } from '../../../lib/task/task_body.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
let rt: Runtime;
let restore = (): void => {};

/** In place of vitest's own handlers, until the end of the test. */
function takeUncaught(): unknown[] {
  const errors: unknown[] = [];
  const before = process.listeners('uncaughtException');
  const listener = (error: unknown) => errors.push(error);
  process.removeAllListeners('uncaughtException').on('uncaughtException', listener);
  restore = () => {
    process.removeListener('uncaughtException', listener);
    for (const one of before) process.on('uncaughtException', one);
  };
  return errors;
}

afterEach(async () => {
  restore();
  restore = () => {};
  await rt.close({ deadline: 0 });
});

describe('a listener that throws', () => {
  it('keeps no failure from other listeners, nor the next ones from anybody', async () => {
    const uncaught = takeUncaught();
    rt = await Runtime.start();
    const heard: string[] = [];
    for (const name of ['a', 'b']) {
      rt.onUnhandled((error) => {
        heard.push(name + error);
        throw new Error(name);
      });
    }
    for (const failure of [1, 2]) {
      rt.spawn(() => {
        throw failure;
      });
    }
    await turn();
    await turn();
    expect(heard).toEqual(['a1', 'b1', 'a2', 'b2']);
    expect(uncaught).toHaveLength(4);
  });
});

describe('a hostile error', () => {
  it('of clean-up in a scope leaves nobody waiting', async () => {
    class Hostile extends Error {
      override get cause(): unknown {
        throw new Error('cause');
      }
      override get message(): string {
        throw new Error('message');
      }
    }
    rt = await Runtime.start();
    const opener = rt.spawn(function* () {
      yield* scope(function* (s) {
        s.spawn(function* () {
          try {
            yield* sleep(1e6);
          } finally {
            // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
            throw new Hostile();
          }
        });
        yield* sleep(1);
        throw new Error('body');
      });
    });
    const outcome = await opener.settled();
    expect(outcome).toMatchObject({
      status: 'failure',
      error: { name: 'SuppressedError', suppressed: { message: 'body' } },
    });
  });

  it('thrown by a watcher leaves nobody waiting', async () => {
    const uncaught = takeUncaught();
    rt = await Runtime.start();
    const watcher = {
      taskCompleted() {
        throw new Error('watcher');
      },
    };
    const task = rt.parts.bus.spawn(() => 7, [], { watcher }, undefined);
    expect(await task.join()).toBe(7);
    await turn();
    expect(uncaught).toEqual([new Error('watcher')]);
  });
});

describe('failed ancestors', () => {
  it('are forgotten when their failure has been decided on', async () => {
    rt = await Runtime.start();
    let reportedCount = 0;
    rt.onUnhandled(() => reportedCount++);
    let last: Task | undefined;
    let count = 0;
    const body = function* (): TaskGenerator<void> {
      if (++count < 100) last = rt.spawn(body);
      yield* sleep(0);
      throw new Error('failed');
    };
    rt.spawn(body);
    while (reportedCount < 100) await turn();
    let length = 0;
    for (let parent = last?.parent; parent !== undefined; parent = parent.parent) length++;
    expect(length).toBe(0);
  });
});
