// Rules of cancellation in async bodies, with what JavaScript allows: it comes as a rejected
// TaskCancelledError, at the operation that is awaited and at every later one. Owner: none.
// Not here: generator bodies (cancellation_rules.test.ts).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as fs from '../../lib/fs.ts';
import { checkpoint, current, sleep, type TaskCancelledError, waitToken } from '../../lib/index.ts';
import type { Task } from '../../lib/task/task.ts';
import { armedTimers, descriptorCount, tick, until, useLab } from './lab.ts';

const lab = useLab();
const hour = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'nephrite-async-'));
const path = join(folder, 'file');
writeFileSync(path, 'x'.repeat(1000));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function cancelWaiting(
  body: (log: string[]) => Promise<unknown>,
  reason?: unknown,
): Promise<{ log: string[]; task: Task<unknown> }> {
  const log: string[] = [];
  const task = lab.rt.spawn(body, log);
  await until(() => task.state === 'waiting' && task.firstOwned !== undefined);
  expect(task.cancel(reason)).toBe(true);
  await task.settled();
  return { log, task };
}

describe('cancellation of an async body', () => {
  it('rejects what it awaits with TaskCancelledError, and ends as cancelled', async () => {
    const { log, task } = await cancelWaiting(async (log) => {
      try {
        await sleep(hour);
      } catch (error) {
        log.push((error as Error).name, String((error as TaskCancelledError).reason));
        throw error;
      } finally {
        log.push('finally');
      }
    }, 'why');
    expect(log).toEqual(['TaskCancelledError', 'why', 'finally']);
    expect(task.outcome).toEqual({ status: 'cancelled', reason: 'why' });
  });

  it('one that catches it and goes on is told at every later operation', async () => {
    const { log, task } = await cancelWaiting(async (log) => {
      for (let round = 0; round < 3; round++) {
        try {
          await (round === 1 ? fs.readFile(path) : sleep(hour));
          log.push('went through');
        } catch (error) {
          log.push((error as Error).name);
        }
      }
      return 'value';
    });
    expect(log).toEqual(Array(3).fill('TaskCancelledError'));
    expect(task.outcome?.status).toBe('cancelled');
  });

  it('one that returns all the same is cancelled', async () => {
    const { task } = await cancelWaiting(async () => {
      await sleep(hour).catch(() => {});
      return 'value';
    }, 'why');
    expect(task.outcome).toEqual({ status: 'cancelled', reason: 'why' });
  });

  it('one that throws something else fails with it', async () => {
    const error = new Error('own');
    const { task } = await cancelWaiting(async () => {
      try {
        await sleep(hour);
      } catch {
        throw error;
      }
    });
    expect(task.outcome).toEqual({ status: 'failure', error });
  });

  it('before its first run: never entered', async () => {
    let isEntered = false;
    const task = lab.rt.spawn(async () => {
      isEntered = true;
    });
    task.cancel();
    expect((await task.settled()).status).toBe('cancelled');
    expect(isEntered).toBe(false);
  });

  it('of itself: at its next operation', async () => {
    const log: string[] = [];
    const task = lab.rt.spawn(async () => {
      current().cancel('mine');
      log.push('goes on');
      await sleep(1);
      log.push('not reached');
    });
    expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'mine' });
    expect(log).toEqual(['goes on']);
  });

  it('at a checkpoint', async () => {
    let rounds = 0;
    const task = lab.rt.spawn(async () => {
      for (;;) {
        await checkpoint();
        rounds++;
      }
    });
    await until(() => rounds > 3, 1000);
    task.cancel();
    await until(() => task.state === 'completed', 1000);
    expect(task.outcome?.status).toBe('cancelled');
  });

  it('Promise.all: every operation is asked to stop', async () => {
    const never = waitToken();
    const { log, task } = await cancelWaiting(async (log) => {
      try {
        await Promise.all([sleep(hour), never.wait(), sleep(hour), fs.readFile(path)]);
      } catch (error) {
        log.push((error as Error).name);
        throw error;
      }
    });
    expect(log).toEqual(['TaskCancelledError']);
    expect(task.outcome?.status).toBe('cancelled');
    expect([armedTimers(lab.rt), never.waitingCount]).toEqual([0, 0]);
  });

  it('a file that comes too late is closed', async () => {
    await fs.stat(path);
    const before = descriptorCount();
    const tasks = Array.from({ length: 100 }, () =>
      lab.rt.spawn(async () => {
        const file = await fs.open(path);
        try {
          await sleep(hour);
        } finally {
          await file.close();
        }
      }),
    );
    await until(() => tasks.every(({ state }) => state === 'waiting'));
    for (const task of tasks) task.cancel();
    for (const task of tasks) expect((await task.settled()).status).toBe('cancelled');
    await until(() => descriptorCount() <= before);
  });

  it('an operation that a plain function hands out is cancelled with its task', async () => {
    const task = lab.rt.spawn(() => sleep(hour));
    await until(() => task.state === 'waiting');
    task.cancel('why');
    expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    expect(armedTimers(lab.rt)).toBe(0);
  });

  // An async function is told by its kind before it is called; a plain function that calls one runs
  // outside of our storage, so that what it awaits later belongs to nobody.
  it('an async function that a plain function calls is told too', async () => {
    const gate = waitToken();
    const inner = async (): Promise<void> => {
      await sleep(1);
      await gate.wait();
    };
    const task = lab.rt.spawn(() => inner());
    await until(() => gate.waitingCount === 1);
    task.cancel();
    for (let turn = 0; turn < 50 && task.state !== 'completed'; turn++) await tick();
    const { state } = task;
    gate.wake();
    await task.settled();
    expect(state).toBe('completed');
  });

  // What an async body awaits is known to the engine only.
  it.fails('async bodies that join one another are told that it is a ring', async () => {
    const gate = waitToken();
    const tasks: Task<unknown>[] = [];
    for (const other of [1, 0]) {
      tasks.push(
        lab.rt.spawn(async () => {
          await gate.wait();
          await tasks[other].join();
        }),
      );
    }
    await tick();
    gate.wake();
    for (let turn = 0; turn < 50; turn++) await tick();
    const statuses = tasks.map(({ outcome }) => outcome?.status);
    for (const task of tasks) task.cancel();
    for (const task of tasks) await task.settled();
    expect(statuses).toContain('trap');
  });
});

describe('cancellation: an async body that never gives up', () => {
  it('does not keep the event loop from its turn', async () => {
    let tries = 0;
    let isOver = false;
    const task = lab.rt.spawn(async () => {
      while (!isOver) {
        tries++;
        try {
          await sleep(1);
        } catch {
          // Tries again.
        }
      }
    });
    await until(() => tries > 0);
    task.cancel();
    await new Promise((resolve) => setTimeout(resolve, 5));
    isOver = true;
    expect((await task.settled()).status).toBe('cancelled');
    expect(tries).toBeGreaterThan(1);
  });
});
