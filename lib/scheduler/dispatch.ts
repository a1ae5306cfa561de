// Dispatch: one slice of one task, from Runnable to Runnable, Waiting or Completed.
// Owner: the scheduler. Invariants: cancellation is delivered at suspension points only, when what
// the task waited for has settled (its target's completion, never earlier); a trap lets `finally`
// blocks run before it becomes the outcome; a step never throws.
// Not here: which task runs (run_queue.ts), how a body is stepped (task/execution.ts).
import { AbortError } from '../base/errors.ts';
import type { Operation } from '../base/operation.ts';
import { unwinding } from '../base/suspension.ts';
import {
  STEP_COMPLETED,
  STEP_PREEMPTED,
  STEP_SUSPENDED,
  STEP_THROWN,
  STEP_TRAPPED,
  type StepCode,
  startBody,
} from '../task/execution.ts';
import { joinCycle, mayCloseRing } from '../task/join_cycle.ts';
import { suppress, TaskCancelledError, TaskTrapError, type TrapInfo } from '../task/outcome.ts';
import {
  ASYNC_BODY,
  CANCEL_REQUESTED,
  isCancellable,
  STARTED,
  UNWINDING,
  WAIT_CANCELLED,
} from '../task/state.ts';
import { labelOf, type Task } from '../task/task.ts';

/**
 * How a slice ended. Success, failure, trap and cancelled: the task is over, with
 * task.outcomeValue.
 */
export const SLICE_WAITS = 0;
export const SLICE_GIVES_WAY = 1;
export const SLICE_SUCCESS = 2;
export const SLICE_FAILURE = 3;
export const SLICE_TRAP = 4;
export const SLICE_CANCELLED = 5;
export type Slice = 0 | 1 | 2 | 3 | 4 | 5;

// The task as `this`: runInAsyncScope() would make an array of arguments.
function runSliceOfThis(this: Task): Slice {
  return runSlice(this);
}

/** In the asynchronous context of its spawn, where there is one. */
function sliceOf(task: Task): Slice {
  const { context } = task;
  return context === undefined ? runSlice(task) : context.runInAsyncScope(runSliceOfThis, task);
}

/**
 * Runs the task's body up to its next suspension. The task is Running. Never throws: what escapes a
 * step is an object of the user's that throws when it is looked at.
 */
export function runTask(task: Task): Slice {
  try {
    return sliceOf(task);
  } catch (error) {
    unwinding.trace = undefined;
    task.waitingFor = undefined;
    task.outcomeValue = error;
    return SLICE_FAILURE;
  }
}

function runSlice(task: Task): Slice {
  const code = firstStep(task);
  // What nearly every slice ends with.
  if (code === STEP_COMPLETED && (task.word & CANCEL_REQUESTED) === 0 && !task.extras?.trap) {
    return SLICE_SUCCESS;
  }
  if (code === STEP_SUSPENDED && !mayCloseRing(task, task.waitingFor)) return SLICE_WAITS;
  if (code === STEP_PREEMPTED && (task.word & CANCEL_REQUESTED) === 0) return SLICE_GIVES_WAY;
  return endSlice(task, code);
}

function endSlice(task: Task, firstCode: StepCode): Slice {
  let code = firstCode;
  // Of a body that survives (`finally { continue }`) the next delivery is another slice's.
  let isDelivered = false;
  for (;;) {
    if (code === STEP_SUSPENDED) {
      const cycle = joinCycle(task, task.waitingFor);
      if (cycle === undefined) return SLICE_WAITS;
      const join = task.waitingFor as Operation<unknown>;
      task.waitingFor = undefined;
      join.markObserved();
      join.cancel();
      if (task.extras?.trap !== undefined) return abandoned(task, task.extras.trap);
      code = trapped(task, cycleTrap(cycle));
    } else if (code === STEP_PREEMPTED) {
      // A settled operation that it is at is delivered in its next slice, unless it is cancelled
      // now.
      if (isDelivered || !isCancellable(task.word)) return SLICE_GIVES_WAY;
      isDelivered = true;
      (task.waitingFor as Operation<unknown> | undefined)?.giveBack();
      task.waitingFor = undefined;
      code = unwound(task);
    } else if (code === STEP_COMPLETED) {
      return completed(task);
    } else if (code === STEP_THROWN) {
      return thrown(task);
    } else if (task.extras?.trap !== undefined) {
      return abandoned(task, task.extras.trap);
    } else {
      code = trapped(task, task.outcomeValue as TrapInfo);
    }
  }
}

function firstStep(task: Task): StepCode {
  const { word } = task;
  if ((word & STARTED) === 0) {
    if ((word & CANCEL_REQUESTED) === 0) return startBody(task);
    // Cancelled before its first run: the body is never entered.
    task.outcomeValue = undefined;
    return STEP_COMPLETED;
  }
  const awaited = task.waitingFor as Operation<unknown> | undefined;
  task.waitingFor = undefined;
  if ((word & WAIT_CANCELLED) !== 0) {
    task.word &= ~WAIT_CANCELLED;
    if ((word & ASYNC_BODY) === 0) {
      awaited?.giveBack();
      return unwound(task);
    }
  } else if (awaited === undefined && isCancellable(word)) {
    return unwound(task);
  }
  // Woken before it was cancelled: what it waited for is delivered, the cancellation comes at its
  // next suspension.
  // biome-ignore lint/style/noNonNullAssertion: set by startBody.
  return task.execution!.resume(task);
}

// `finally { continue }` at each wait: a body may survive so often, then it is left where it is.
const DELIVERIES_MAX = 10_000;

function unwound(task: Task): StepCode {
  const extras = task.ensureExtras();
  if (++extras.deliveryCount > DELIVERIES_MAX) {
    const message = `${labelOf(task)} survived its cancellation ${DELIVERIES_MAX} times`;
    extras.trap ??= { kind: 'limit', message };
    task.outcomeValue = extras.trap;
    return STEP_TRAPPED;
  }
  // biome-ignore lint/style/noNonNullAssertion: set by startBody.
  return task.execution!.unwind(task);
}

/** The task will end in a trap; its `finally` blocks run first. */
function trapped(task: Task, info: TrapInfo): StepCode {
  const extras = task.ensureExtras();
  extras.trap ??= info;
  return unwound(task);
}

/** It survived the first trap and fell into another: it is left where it is. */
function abandoned(task: Task, info: TrapInfo): Slice {
  task.outcomeValue = info;
  return SLICE_TRAP;
}

function cycleTrap(cycle: readonly Task[]): TrapInfo {
  const path = [...cycle, cycle[0]].map(labelOf).join(' -> ');
  return { kind: 'join-cycle', message: `tasks wait for one another: ${path}` };
}

function completed(task: Task): Slice {
  const trap = task.extras?.trap;
  if (trap !== undefined) {
    task.outcomeValue = trap;
    return SLICE_TRAP;
  }
  if ((task.word & CANCEL_REQUESTED) === 0) return SLICE_SUCCESS;
  task.outcomeValue = task.extras?.cancelReason;
  return SLICE_CANCELLED;
}

function thrown(task: Task): Slice {
  const error = task.outcomeValue;
  const reason = task.extras?.cancelReason;
  if ((task.word & ASYNC_BODY) !== 0 && (task.word & CANCEL_REQUESTED) !== 0) {
    // Its own cancellation, gone through; or that of the operation it handed out.
    const isOwn = error instanceof TaskCancelledError && error.reason === reason;
    if (isOwn || (error instanceof AbortError && error.cause === reason)) {
      task.outcomeValue = reason;
      return SLICE_CANCELLED;
    }
  }
  if (isStackOverflow(error)) {
    const message = `${labelOf(task)} ran out of stack`;
    task.outcomeValue = { kind: 'stack-overflow', message, cause: error } satisfies TrapInfo;
    return SLICE_TRAP;
  }
  const trap = task.extras?.trap;
  if (trap !== undefined) {
    const message = `${labelOf(task)} threw after it was trapped`;
    task.outcomeValue = suppress(error, new TaskTrapError(labelOf(task), trap), message);
    return SLICE_FAILURE;
  }
  const wasUnwinding = (task.word & UNWINDING) !== 0 && (task.word & CANCEL_REQUESTED) !== 0;
  if (wasUnwinding) {
    const cancelled = new TaskCancelledError(labelOf(task), reason);
    const message = `${labelOf(task)} threw while it was being cancelled`;
    task.outcomeValue = suppress(error, cancelled, message);
  }
  return SLICE_FAILURE;
}

function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}
