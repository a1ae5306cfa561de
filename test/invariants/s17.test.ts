// S-17. Not here: channels (test/unit/sync).
// „Tasks besitzen keine Scheduler-Mailbox; Messaging liegt oberhalb des Scheduler-Cores.“
import { describe, expect, it } from 'vitest';
import { channel, spawn, waitToken } from '../../lib/index.ts';
import { Task } from '../../lib/task/task.ts';
import { until, useLab } from '../scheduler/lab.ts';
import { importsOf, sourcesOf } from './sources.ts';

const lab = useLab();

describe('S-17: tasks have no mailbox in the scheduler; messages lie above its core', () => {
  it('a task takes no messages', async () => {
    const task = lab.rt.spawn(() => 1);
    const own = Object.getOwnPropertyNames(task);
    const names = [...own, ...Object.getOwnPropertyNames(Task.prototype)];
    for (const name of names) {
      expect(name).not.toMatch(/mailbox|inbox|message|send|post|receive|emit/i);
    }
    await task.join();
  });

  it('the core is loaded without any of it', () => {
    for (const folder of ['scheduler', 'task', 'bus']) {
      for (const { path, text } of sourcesOf(folder)) {
        for (const from of importsOf(text)) {
          expect(from, path).not.toMatch(/sync\/|channel\.ts/);
        }
      }
    }
  });

  it('a mailbox is made of the generic wait and wake, in user code', async () => {
    let messages: string[] = [];
    let arrival = waitToken();
    const post = (message: string): void => {
      messages.push(message);
      arrival.wake();
    };
    const got: string[] = [];
    const owner = lab.rt.spawn(function* () {
      while (got.length < 3) {
        yield* arrival.wait();
        arrival = waitToken();
        got.push(...messages);
        messages = [];
      }
    });
    await until(() => owner.state === 'waiting');
    for (const message of ['a', 'b', 'c']) post(message);
    await owner.join();
    expect(got).toEqual(['a', 'b', 'c']);
  });

  it('a channel belongs to no task: who reads it may change', async () => {
    const shared = channel<number>(4);
    for (const value of [1, 2]) expect(shared.trySend(value)).toBe(true);
    const first = await lab.rt.run(function* () {
      return yield* shared.receive();
    });
    const second = await lab.rt.run(function* () {
      return yield* spawn(function* () {
        return yield* shared.receive();
      }).join();
    });
    expect([first, second]).toEqual([1, 2]);
  });
});
