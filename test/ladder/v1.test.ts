// Rung V1 of the ladder (docs/ladder.md), each point a test of the real thing.
// Not here: the same in depth (test/scheduler, test/invariants).
import { describe, expect, it } from 'vitest';
import { stat } from '../../lib/fs.ts';
import { checkpoint, sleep, waitToken } from '../../lib/index.ts';
import { tick, until, useLab } from '../scheduler/lab.ts';

const lab = useLab();

describe('V1', () => {
  it('one worker', async () => {
    const tasks = Array.from({ length: 100 }, () =>
      lab.rt.spawn(function* () {
        yield* checkpoint();
      }),
    );
    expect(lab.rt.metrics().activeWorkers).toBe(1);
    for (const task of tasks) await task.join();
    await tick();
    expect(lab.rt.metrics().activeWorkers).toBe(0);
  });

  it('one run queue: first in, first out for what comes from outside or gives way', async () => {
    const order: string[] = [];
    const tasks = ['a', 'b', 'c'].map((name) =>
      lab.rt.spawn(function* () {
        for (let round = 0; round < 2; round++) {
          order.push(name);
          yield* checkpoint(10_000);
        }
      }),
    );
    for (const task of tasks) await task.join();
    expect(order.join('')).toBe('abcabc');
  });

  it('task state machine: runnable, running, waiting, completed', async () => {
    const gate = waitToken();
    const states: string[] = [];
    const task = lab.rt.spawn(function* () {
      states.push(task.state);
      yield* gate.wait();
    });
    states.unshift(task.state);
    await until(() => task.state !== 'runnable');
    states.push(task.state);
    gate.wake();
    states.push(task.state);
    await task.join();
    states.push(task.state);
    expect(states).toEqual(['runnable', 'running', 'waiting', 'runnable', 'completed']);
  });

  it('reduction counter', async () => {
    const task = lab.rt.spawn(function* () {
      yield* checkpoint();
      yield* checkpoint(10);
      yield* checkpoint(0);
    });
    await task.join();
    // The first step is one.
    expect(task.reductions).toBe(12);
  });

  it('generic wait and wake: the scheduler knows the identity, not the meaning', async () => {
    const token = waitToken<{ any: string }>();
    const task = lab.rt.spawn(function* () {
      return yield* token.wait();
    });
    await until(() => task.state === 'waiting');
    expect(task.waitCondition).toBe(`token ${token.token}`);
    const value = { any: 'value' };
    token.wake(value);
    expect(await task.join()).toBe(value);
  });

  it('event poller: completions of the kernel wake tasks', async () => {
    const isDirectory = await lab.rt.run(function* () {
      return (yield* stat('/')).isDirectory();
    });
    expect(isDirectory).toBe(true);
  });

  it('outcomes are materialised at join, as the ladder wants it by then', async () => {
    const failing = lab.rt.spawn(() => {
      throw new RangeError('own');
    });
    await expect(failing.join()).rejects.toThrow(RangeError);
    const cancelled = lab.rt.spawn(function* () {
      yield* sleep(3_600_000);
    });
    await tick();
    cancelled.cancel();
    await expect(cancelled.join()).rejects.toMatchObject({ code: 'ERR_TASK_CANCELLED' });
    const trapped = lab.rt.spawn(function* (): Generator<never> {
      yield 1 as never;
    });
    await expect(trapped.join()).rejects.toMatchObject({ code: 'ERR_TASK_TRAPPED' });
  });
});
