// S-3. Not here: an actor that is built from tasks (the channel tests, S-17).
// „Die Task ist die kleinste suspendierbare Scheduler-Einheit; Actors liegen darüber.“
import { describe, expect, it } from 'vitest';
import { sleep, waitToken } from '../../lib/index.ts';
import type { TaskGenerator } from '../../lib/task/task_body.ts';
import { until, useLab } from '../scheduler/lab.ts';
import { importsOf, sourcesOf } from './sources.ts';

const lab = useLab();

describe('S-3: the task is the smallest unit that the scheduler suspends; actors lie above', () => {
  it('a wait deep inside helpers suspends the whole task, which is one unit', async () => {
    const gate = waitToken<string>();
    function* helper(depth: number): TaskGenerator<string> {
      return depth === 0 ? yield* gate.wait() : yield* helper(depth - 1);
    }
    const task = lab.rt.spawn(() => helper(20));
    await until(() => task.state === 'waiting');
    expect(lab.rt.dump().length).toBe(1);
    expect(lab.rt.metrics()).toMatchObject({ waitingTasks: 1, runnableTasks: 0 });
    gate.wake('deep');
    expect(await task.join()).toBe('deep');
  });

  it('while one task waits, another one runs: nothing larger is suspended', async () => {
    const gate = waitToken();
    const log: string[] = [];
    const parent = lab.rt.spawn(function* () {
      yield* gate.wait();
      log.push('parent');
    });
    await lab.rt.run(function* () {
      yield* sleep(1);
      log.push('other');
      gate.wake();
    });
    await parent.join();
    expect(log).toEqual(['other', 'parent']);
  });

  it('the scheduler, the bus and the task know no actor', () => {
    for (const folder of ['scheduler', 'bus', 'task', 'engine']) {
      for (const { path, text } of sourcesOf(folder)) {
        expect(text, path).not.toMatch(/actor|supervis/i);
        for (const from of importsOf(text)) expect(from, path).not.toMatch(/\/sync\//);
      }
    }
  });
});
