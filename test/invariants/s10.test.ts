// S-10. Not here: what becomes of children (structured concurrency).
// „Neue parallele Ausführung entsteht explizit durch Task-Erzeugung.“
import { describe, expect, it } from 'vitest';
import { checkpoint, sleep, spawn } from '../../lib/index.ts';
import type { TaskGenerator } from '../../lib/task/task_body.ts';
import { useLab } from '../scheduler/lab.ts';

const lab = useLab();

describe('S-10: new parallel execution comes about by creating a task, and by nothing else', () => {
  it('helpers, waits and ready operations create none', async () => {
    const counts = new Set<number>();
    function* helper(depth: number): TaskGenerator<void> {
      counts.add(lab.rt.dump().length);
      if (depth > 0) yield* helper(depth - 1);
      yield* sleep(0);
      yield* checkpoint();
    }
    await lab.rt.run(() => helper(10));
    expect([...counts]).toEqual([1]);
  });

  it('a body that waits does not go on beside itself', async () => {
    let isWaiting = false;
    let isBroken = false;
    await lab.rt.run(function* () {
      for (let round = 0; round < 20; round++) {
        isBroken ||= isWaiting;
        isWaiting = true;
        yield* sleep(0);
        isWaiting = false;
      }
    });
    expect(isBroken).toBe(false);
  });

  it('spawn creates exactly one, with its caller as parent', async () => {
    const spawned: unknown[] = [];
    const stop = lab.rt.bus.tap(({ command, taskId }) => {
      if (command === 'spawn') spawned.push(taskId);
    });
    const parent = lab.rt.spawn(function* () {
      const child = spawn(function* () {
        yield* checkpoint();
      });
      expect(lab.rt.dump().map(({ id, parent }) => [id, parent])).toEqual([
        [parent.id, undefined],
        [child.id, parent.id],
      ]);
      yield* child.join();
      return child.id;
    });
    const childId = await parent.join();
    stop();
    expect(spawned).toEqual([parent.id, childId]);
  });
});
