// S-16. Method: the states of tasks are rebuilt from the tap alone and compared with the real ones.
// Not here: both lowerings of each command (test of the bus).
// „Scheduler-Zustand wird ausschließlich über den RuntimeBus mutiert.“
import { describe, expect, it } from 'vitest';
import { checkpoint, sleep, spawn, waitToken } from '../../lib/index.ts';
import { until, useLab } from '../scheduler/lab.ts';
import { sourcesOf } from './sources.ts';

const lab = useLab();

const FOLLOWING: Record<string, string> = {
  spawn: 'runnable',
  dispatch: 'running',
  yield: 'runnable',
  wait: 'waiting',
  wake: 'runnable',
  complete: 'completed',
};

describe('S-16: the state of the scheduler is changed through the RuntimeBus only', () => {
  it('what the tap has told is all that there is to know of every state', async () => {
    const states = new Map<number, string>();
    const stop = lab.rt.bus.tap(({ command, taskId }) => {
      const state = FOLLOWING[command];
      if (state !== undefined) states.set(taskId, state);
    });
    const gate = waitToken();
    const parent = lab.rt.spawn(function* () {
      const children = Array.from({ length: 20 }, (_, index) =>
        spawn(function* () {
          yield* sleep(index % 3);
          yield* checkpoint(10_000);
          if (index % 5 === 0) yield* gate.wait();
          if (index % 7 === 0) throw new Error('of a child');
        }),
      );
      children[1].cancel();
      for (const child of children) yield* child.settled();
    });
    const compare = (): void => {
      for (const { id, state } of lab.rt.dump()) expect(states.get(id), String(id)).toBe(state);
    };
    compare();
    for (let turn = 0; turn < 50; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      compare();
    }
    await until(() => lab.rt.metrics().waitingTasks === 5);
    compare();
    gate.wake();
    await parent.join();
    stop();
    expect([...states.values()].every((state) => state === 'completed')).toBe(true);
    expect(states.size).toBe(21);
  });

  it('nobody but a bus calls what changes it', () => {
    const isChange = /\.(admit|requeue|makeRunnable|requestCancel|suspend)\(/;
    const callers = sourcesOf('.').filter(({ text }) => isChange.test(text));
    const paths = callers.map(({ path }) => path);
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) expect(path).toMatch(/_bus\.ts$/);
  });

  it('a task that is not waiting, or waits still, cannot be woken by a forged command', async () => {
    const gate = waitToken();
    const task = lab.rt.spawn(function* () {
      yield* gate.wait();
    });
    const wake = { opcode: 4, subcode: 0, arguments: [task.id] };
    expect(() => lab.rt.bus.execute(wake)).toThrow();
    await until(() => task.state === 'waiting');
    expect(() => lab.rt.bus.execute(wake)).toThrow();
    expect(task.state).toBe('waiting');
    gate.wake();
    await task.join();
  });
});
