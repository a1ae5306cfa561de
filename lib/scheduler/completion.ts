// Completion: what follows from a task's end: its outcome is written, its open operations are
// cancelled, those who wait are told, and a failure that nobody asked for is reported, once.
// Owner: the scheduler. Invariants: exactly one outcome; nothing the task held is kept by it;
// those who wait are told, whatever the code of others throws on the way.
// Not here: which outcome it is (dispatch.ts).
import { invariant } from '../base/assert.ts';
import { callSafely, throwLater } from '../base/throw_later.ts';
import { abandonOwned } from '../task/async_body.ts';
import { forgetEnded } from '../task/family.ts';
import type { Outcome } from '../task/outcome.ts';
import { COMPLETED, completed, OBSERVED, stateOf } from '../task/state.ts';
import type { Task } from '../task/task.ts';
import { taskTracing, traceCompleted, traceCompletion } from '../task/tracing.ts';

/**
 * Writes the outcome, whose value is in place, and tells everybody. Returns whether somebody is
 * owed a report of a failure.
 */
export function completeTask(task: Task, status: Outcome<unknown>['status']): boolean {
  if (task.outcomeStatus !== undefined) {
    invariant(false, 'one outcome', task.outcomeStatus, status);
  }
  task.word = completed(task.word);
  task.outcomeStatus = status;
  task.frame = undefined;
  task.waitingFor = undefined;
  if (task.extras !== undefined || task.firstOwned !== undefined || taskTracing.isActive) {
    completeRest(task);
  } else if (task.firstJoin !== undefined) {
    tellJoins(task);
  }
  task.args = undefined;
  task.context = undefined;
  const isFailure = status === 'failure' || status === 'trap';
  // Of such a failure the parent itself must be known: it decides when the failure is reported.
  if (isFailure && (task.word & OBSERVED) === 0) return true;
  if (task.parent !== undefined) forgetEnded(task);
  return false;
}

/** What few tasks have. */
function completeRest(task: Task): void {
  if (task.firstOwned !== undefined) callSafely(() => abandonOwned(task));
  const { extras } = task;
  const trace = taskTracing.isActive ? traceCompletion(task) : undefined;
  if (extras !== undefined) {
    callSafely(() => extras.completed());
    const { watcher, failedChildren } = extras;
    if (watcher !== undefined) callSafely(() => watcher.taskCompleted(task));
    // They are reported now, and may have descendants that live on.
    if (failedChildren !== undefined) for (const child of failedChildren) forgetEnded(child);
  }
  tellJoins(task);
  if (trace !== undefined) traceCompleted(trace);
}

function tellJoins(task: Task): void {
  for (let join = task.firstJoin; join !== undefined; join = task.firstJoin) {
    // Out of the list first: whoever is told may cancel another join of the task.
    const next = join.nextJoin;
    task.firstJoin = next;
    if (next === undefined) {
      task.lastJoin = undefined;
    } else {
      next.previousJoin = undefined;
      join.nextJoin = undefined;
    }
    try {
      join.taskCompleted();
    } catch (error) {
      throwLater(error);
    }
  }
}

// A parent that joins its children late has few; a server that spawns one for each request and
// joins none runs for months.
const FAILED_CHILDREN_MAX = 256;

/**
 * A failure without an observer: kept for the parent as long as it runs (it may join later, as in
 * `first = spawn(...); b = load(); first.join()`). Returns the one to report: this one when nobody
 * is left who could join it, the oldest one when the parent has too many.
 */
export function unobservedFailure(task: Task): Task | undefined {
  const { parent } = task;
  if (parent === undefined || stateOf(parent.word) === COMPLETED) {
    forgetEnded(task);
    return task;
  }
  const extras = parent.ensureExtras();
  extras.failedChildren ??= [];
  extras.failedChildren.push(task);
  if (extras.failedChildren.length <= FAILED_CHILDREN_MAX) return undefined;
  // Those that were joined in the meantime are nobody's concern.
  extras.failedChildren = extras.failedChildren.filter(({ word }) => (word & OBSERVED) === 0);
  if (extras.failedChildren.length < FAILED_CHILDREN_MAX) return undefined;
  return extras.failedChildren.shift();
}
