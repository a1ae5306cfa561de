// Close of a runtime: drain, cancel, force, within a deadline, with a report.
// Owner: one runtime. Invariants: never waits longer than asked; closing twice gives the same
// report; no task starts once closing has begun.

import { NephriteError } from './base/errors.ts';
import { OP_CLOSE } from './bus/commands.ts';
import type { Parts } from './runtime_parts.ts';
import { labelOf, type Task } from './task/task.ts';

export interface CloseOptions {
  /** Milliseconds that tasks get to end by themselves, >= 0; default Infinity. */
  readonly deadline?: number | undefined;
}

/** How the tasks ended that were there when close() was called. */
export interface CloseReport {
  /** Ended by themselves. */
  readonly drained: number;
  /** Were cancelled when the deadline had passed, and have ended. */
  readonly cancelled: number;
  /** Did not end although cancelled; left behind: 'name #id (what it waits for)'. */
  readonly abandoned: readonly string[];
}

// What a cancelled task gets for its `finally` blocks.
const GRACE_MS = 1000;

/** Waits until the scheduler has no tasks, at most `timeoutMs`. True if it has none. */
function untilIdle(
  { scheduler, host }: Parts,
  onIdle: (listener: () => void) => void,
  timeoutMs: number,
) {
  return new Promise<boolean>((resolve) => {
    if (scheduler.live.count === 0) {
      resolve(true);
      return;
    }
    const stop =
      timeoutMs === Infinity ? undefined : host.callAfter(timeoutMs, () => resolve(false));
    onIdle(() => {
      stop?.();
      resolve(true);
    });
  });
}

export async function closeScheduler(
  parts: Parts,
  onIdle: (listener: () => void) => void,
  deadlineMs: number,
): Promise<CloseReport> {
  const { scheduler } = parts;
  scheduler.isClosed = true;
  if (parts.bus.taps.isOpen) parts.bus.trace(OP_CLOSE, 0, 0, undefined);
  const there: Task[] = scheduler.live.all();
  if (await untilIdle(parts, onIdle, deadlineMs)) {
    return { drained: there.length, cancelled: 0, abandoned: [] };
  }
  const late = scheduler.live.all();
  const reason = new NephriteError('ERR_RUNTIME_CLOSED', 'the runtime was closed');
  for (const task of late) task.sink.cancel(task, reason, undefined);
  await untilIdle(parts, onIdle, GRACE_MS);
  const abandoned = scheduler.live.all();
  return {
    drained: there.length - late.length,
    cancelled: late.length - abandoned.length,
    abandoned: abandoned.map((task) => `${labelOf(task)} (${task.waitCondition ?? task.state})`),
  };
}
