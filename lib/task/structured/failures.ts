// Failures: what becomes of the errors of tasks and operations that belong together. The first one
// is the root; what fails by itself beside it is kept; what cancelling brings about is told apart.
// Owner: one scope, all() or race(). Invariants: one failure is rethrown as it is; several become
// an AggregateError with the root first; failures of clean-up wrap what was dealt with
// (SuppressedError), as `using` does it.
// Not here: who is cancelled when (scope.ts, group_operation.ts).
import { AbortError } from '../../base/errors.ts';
import { type SuppressedErrorLike, suppress, TaskCancelledError } from '../outcome.ts';
import { ASYNC_BODY, CANCEL_REQUESTED, UNWINDING } from '../state.ts';
import type { Task } from '../task.ts';

// Causes are looked at no deeper.
const CAUSES_MAX = 16;

/** What it gives, unless the error's own code throws (a getter, the traps of a proxy). */
function unlessHostile<R>(read: () => R, otherwise: R): R {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Whether the error only says that something was cancelled, perhaps wrapped by a `catch`. */
export function stemsFromCancellation(error: unknown): boolean {
  return unlessHostile(() => isCancellation(error), false);
}

function isCancellation(error: unknown): boolean {
  let link = error;
  for (let depth = 0; depth < CAUSES_MAX && link instanceof Error; depth++) {
    if (link instanceof AbortError || link instanceof TaskCancelledError) return true;
    // What fetch() and others reject with for our signal.
    if (link.name === 'AbortError') return true;
    link = link.cause;
  }
  return false;
}

/** own: it failed by itself. cleanup: while it was cancelled. cancelled: no failure at all. */
export type FailureKind = 'own' | 'cleanup' | 'cancelled';

/**
 * Of a task that failed. `wasInterrupted`: an async body that was waiting when it was cancelled;
 * with generators the task knows.
 */
export function kindOfFailure(task: Task, error: unknown, wasInterrupted: boolean): FailureKind {
  const { word } = task;
  if ((word & CANCEL_REQUESTED) === 0) return 'own';
  const isCleanup = (word & ASYNC_BODY) === 0 ? (word & UNWINDING) !== 0 : wasInterrupted;
  if (!isCleanup) return 'own';
  return stemsFromCancellation(cleanupError(error)) ? 'cancelled' : 'cleanup';
}

/** What the clean-up threw, without the cancellation that the scheduler suppressed in it. */
export function cleanupError(error: unknown): unknown {
  return unlessHostile(() => withoutCancellation(error), error);
}

function withoutCancellation(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'SuppressedError') return error;
  const { error: own, suppressed } = error as SuppressedErrorLike;
  return suppressed instanceof TaskCancelledError ? own : error;
}

export class Failures {
  readonly #what: string;
  // In order of arrival; a failure that several passed on counts once.
  readonly #own = new Set<unknown>();
  readonly #cleanups: unknown[] = [];

  /** `what` failed, for messages: 'scope', 'all()'. */
  constructor(what: string) {
    this.#what = what;
  }

  get isEmpty(): boolean {
    return this.#own.size === 0 && this.#cleanups.length === 0;
  }

  add(error: unknown): void {
    this.#own.add(error);
  }

  addCleanup(error: unknown): void {
    this.#cleanups.push(cleanupError(error));
  }

  addByKind(kind: FailureKind, error: unknown): void {
    if (kind === 'own') this.add(error);
    else if (kind === 'cleanup') this.addCleanup(error);
  }

  /** What to throw. `basis`: what ended it otherwise (an AbortError), if anything did. */
  toError(basis?: Error): unknown {
    const own = [...this.#own];
    const cleanups = [...this.#cleanups];
    let error: unknown = own.length > 0 ? own[0] : (basis ?? cleanups.shift());
    if (own.length > 1) {
      const message = `${own.length} failures in ${this.#what}, first: ${messageOf(own[0])}`;
      error = new AggregateError(own, message, { cause: own[0] });
    }
    for (const cleanup of cleanups) {
      const message = `clean-up failed in ${this.#what}: ${messageOf(cleanup)}`;
      error = suppress(cleanup, error, message);
    }
    return error;
  }
}

function messageOf(error: unknown): string {
  const read = () => `${error instanceof Error ? error.message : String(error)}`;
  return unlessHostile(read, 'an error that cannot be read');
}
