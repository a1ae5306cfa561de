// Descent: who was spawned by whom is known while it matters, and forgotten after that: chains of
// tasks that spawn their successors must not grow without end. Not here: scopes.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { checkpoint, sleep, spawn, type Task, waitToken } from '../../lib/index.ts';
import type { TaskGenerator } from '../../lib/task/task_body.ts';
import { tick, until, useLab } from './lab.ts';

const lab = useLab();
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('descent', () => {
  it('a task that spawns its successor and ends leaves nothing behind', async () => {
    let count = 0;
    let isStopped = false;
    function successor(): void {
      count++;
      if (!isStopped) spawn(successor);
    }
    lab.rt.spawn(successor);
    await until(() => count > 20_000);
    collect();
    const before = [count, process.memoryUsage().heapUsed];
    await until(() => count > before[0] + 100_000);
    collect();
    const grown = process.memoryUsage().heapUsed - before[1];
    isStopped = true;
    // 220 bytes each when every one keeps the one before it: 22 MB.
    expect(grown).toBeLessThan(4_000_000);
  });

  it('a living ancestor may cancel a descendant whose parent has ended', async () => {
    const without = lab.rt.with({ capabilities: { cancelOthers: false } });
    const never = waitToken();
    let grandchild: Task<void> | undefined;
    const ancestor = without.spawn(function* () {
      const child = spawn(() => {
        spawn(() => {
          grandchild = spawn(function* (): TaskGenerator<void> {
            yield* never.wait();
          });
        });
      });
      yield* child.join();
      while (grandchild?.state !== 'waiting') yield* checkpoint(10_000);
      return grandchild.cancel('from above');
    });
    expect(await ancestor.join()).toBe(true);
    expect(await grandchild?.settled()).toEqual({ status: 'cancelled', reason: 'from above' });
  });

  it('a failure whose parent has ended is reported at once, not kept by those above', async () => {
    const gate = waitToken();
    const error = new Error('orphan');
    const above = lab.rt.spawn(function* () {
      const parent = spawn(() => {
        spawn(function* (): TaskGenerator<void> {
          yield* sleep(1);
          throw error;
        });
      });
      yield* parent.join();
      yield* gate.wait();
    });
    await until(() => lab.unhandled.length > 0);
    expect(lab.unhandled).toEqual([error]);
    expect(above.state).toBe('waiting');
    gate.wake();
    await above.join();
    await tick();
    expect(lab.unhandled).toEqual([error]);
  });
});

describe('failures of children that nobody joins', () => {
  it('of a parent that runs for ever, are reported all the same', async () => {
    const gate = waitToken();
    const count = 1000;
    const parent = lab.rt.spawn(function* () {
      for (let index = 0; index < count; index++) {
        spawn(() => {
          throw index;
        });
        yield* checkpoint(10_000);
      }
      yield* gate.wait();
    });
    await until(() => parent.state === 'waiting');
    await tick();
    await tick();
    const kept = parent.extras?.failedChildren?.length ?? 0;
    expect(kept).toBeLessThanOrEqual(256);
    expect(new Set(lab.unhandled).size).toBe(count - kept);
    expect(lab.unhandled.length).toBe(count - kept);
    gate.wake();
    await parent.join();
    await until(() => lab.unhandled.length >= count);
    await tick();
    expect(lab.unhandled.length, 'each once').toBe(count);
    expect(new Set(lab.unhandled).size).toBe(count);
  });

  it('are forgotten when they were joined late', async () => {
    const parent: Task<number> = lab.rt.spawn(function* (): TaskGenerator<number> {
      for (let index = 0; index < 2000; index++) {
        const child = spawn(() => {
          throw index;
        });
        yield* checkpoint(10_000);
        yield* child.settled();
      }
      return parent.extras?.failedChildren?.length ?? 0;
    });
    expect(await parent.join()).toBeLessThanOrEqual(256);
    await tick();
    expect(lab.unhandled).toEqual([]);
  });
});
