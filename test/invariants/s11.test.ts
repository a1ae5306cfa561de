// S-11. Not here: each state against each event (test/scheduler/state_matrix.test.ts).
// „Schedulerzustand und Task-Ausgang sind getrennte Dimensionen.“
import { describe, expect, it } from 'vitest';
import { checkpoint, current, waitToken } from '../../lib/index.ts';
import type { Task } from '../../lib/task/task.ts';
import { tick, until, useLab } from '../scheduler/lab.ts';

const lab = useLab();

describe('S-11: scheduling state and outcome are separate dimensions', () => {
  it('one state, completed, for four outcomes', async () => {
    const error = new Error('failed');
    const never = waitToken();
    const tasks: Task<unknown>[] = [
      lab.rt.spawn(() => 'value'),
      lab.rt.spawn(() => {
        throw error;
      }),
      lab.rt.spawn(function* (): Generator<never> {
        yield 1 as never;
      }),
      lab.rt.spawn(function* () {
        yield* never.wait();
      }),
    ];
    await tick();
    tasks[3].cancel('reason');
    for (const task of tasks) await task.settled();
    expect(tasks.map(({ state }) => state)).toEqual(Array(4).fill('completed'));
    expect(tasks.map(({ outcome }) => outcome)).toMatchObject([
      { status: 'success', value: 'value' },
      { status: 'failure', error },
      { status: 'trap', info: { kind: 'foreign-yield' } },
      { status: 'cancelled', reason: 'reason' },
    ]);
  });

  it('no outcome in any other state, also when it is cancelled already', async () => {
    const seen: unknown[] = [];
    const gate = waitToken();
    const task = lab.rt.spawn(function* () {
      seen.push([current().state, current().outcome]);
      yield* checkpoint();
      try {
        yield* gate.wait();
      } finally {
        yield* gate.wait();
      }
    });
    seen.push([task.state, task.outcome]);
    await until(() => task.state === 'waiting');
    task.cancel();
    await tick();
    seen.push([task.state, task.outcome]);
    gate.wake();
    await task.settled();
    expect(seen).toEqual([
      ['runnable', undefined],
      ['running', undefined],
      ['waiting', undefined],
    ]);
    expect(task.outcome?.status).toBe('cancelled');
  });

  it('an outcome is written once and is a value, not the task’s own state', async () => {
    const task = lab.rt.spawn(() => 1);
    await task.join();
    const { outcome } = task;
    expect(task.cancel()).toBe(false);
    expect(task.outcome).toEqual(outcome);
    (outcome as { status: string }).status = 'failure';
    expect(task.outcome).toEqual({ status: 'success', value: 1 });
  });
});
