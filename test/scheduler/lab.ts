// Scheduler lab: a runtime per test, its turns as the test sees them, and the check that nothing is
// left of it. Owner: one test file. Invariants: no sleeps for synchronisation: a test waits for
// turns of the event loop or for outcomes; failures that nobody joins are collected, not lost.
// Not here: what is tested.
import { readdirSync } from 'node:fs';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { afterEach, beforeEach, expect } from 'vitest';
import { Runtime } from '../../lib/runtime.ts';
import type { Outcome } from '../../lib/task/outcome.ts';
import type { Task } from '../../lib/task/task.ts';
import type { TaskGenerator } from '../../lib/task/task_body.ts';

export interface Lab {
  rt: Runtime;
  /** Failures that nobody joined. */
  readonly unhandled: unknown[];
}

/** A turn of the event loop: what was runnable has run, microtasks too. */
export const tick = (): Promise<unknown> => turnOfLoop();

/** Turns until `isTrue`, at most `turnsMax`. */
export async function until(isTrue: () => boolean, turnsMax = 100_000): Promise<void> {
  for (let turn = 0; !isTrue() && turn < turnsMax; turn++) await tick();
  expect(isTrue(), 'within so many turns').toBe(true);
}

/** A new runtime before each test; after it, nothing may be left of any task. */
export function useLab(): Lab {
  const lab = { unhandled: [] } as unknown as Lab;
  beforeEach(async () => {
    lab.rt = await Runtime.start();
    lab.unhandled.length = 0;
    lab.rt.onUnhandled((error) => lab.unhandled.push(error));
  });
  afterEach(async () => {
    await expectIdle(lab.rt);
    await lab.rt.close();
  });
  return lab;
}

/** No task, no timer, nothing queued. */
export async function expectIdle(rt: Runtime): Promise<void> {
  await until(() => rt.dump().length === 0, 10_000);
  expect(rt.dump()).toEqual([]);
  expect(rt.metrics()).toMatchObject({ runnableTasks: 0, waitingTasks: 0, queuePressure: 0 });
  expect(armedTimers(rt)).toBe(0);
}

export function armedTimers(rt: Runtime): number {
  let count = 0;
  for (const engine of rt.parts.scheduler.engines) count += engine.activeTimers?.armedCount ?? 0;
  return count;
}

/** How often the task's outcome is told: must be once, and never change. */
export class OutcomeWatch {
  readonly told: Outcome<unknown>[] = [];

  constructor(task: Task<unknown>) {
    task.settled().then((outcome) => this.told.push(outcome));
  }
}

export const statusOf = async (task: Task<unknown>): Promise<string> =>
  (await task.settled()).status;

export const descriptorCount = (): number => readdirSync('/proc/self/fd').length;

/** Cancels a body while it waits, and gives what became of it. */
export async function cancelWhileWaiting(
  { rt }: Lab,
  body: (log: string[]) => TaskGenerator<unknown>,
  reason?: unknown,
): Promise<{ log: string[]; task: Task<unknown> }> {
  const log: string[] = [];
  const task = rt.spawn(body, log);
  await until(() => task.state === 'waiting');
  expect(task.cancel(reason)).toBe(true);
  await task.settled();
  return { log, task };
}
