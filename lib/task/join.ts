// Joins: operations that wait for a task's outcome. A failure crosses the border of the task as
// data and is raised again in the joiner (S-12).
// Owner: the joined task lists them until it completes. Invariants: whoever asked for the outcome
// has observed the failure; cancelling a join never touches the task.
// Not here: scopes (structured/).
import { AbortError } from '../base/errors.ts';
import { Operation } from '../base/operation.ts';
import { type Outcome, TaskCancelledError, TaskTrapError, type TrapInfo } from './outcome.ts';
import { OBSERVED } from './state.ts';
import { labelOf, type Task } from './task.ts';

/** Settles when its task completes. */
export abstract class CompletionOperation<R> extends Operation<R> {
  // Assigned in the constructor, as in Operation.
  declare readonly target: Task<unknown>;
  declare nextJoin: CompletionOperation<unknown> | undefined;
  declare previousJoin: CompletionOperation<unknown> | undefined;

  constructor(target: Task<unknown>) {
    super();
    this.target = target;
    this.nextJoin = undefined;
    this.previousJoin = undefined;
    target.word |= OBSERVED;
    if (target.outcomeStatus !== undefined) {
      this.taskCompleted();
      return;
    }
    const last = target.lastJoin;
    this.previousJoin = last as CompletionOperation<unknown> | undefined;
    if (last === undefined) target.firstJoin = this as CompletionOperation<unknown>;
    else last.nextJoin = this as CompletionOperation<unknown>;
    target.lastJoin = this as CompletionOperation<unknown>;
  }

  /** The task has its outcome, and this is in no list any more. */
  abstract taskCompleted(): void;

  /** The outcome stays the task's: others may join it. */
  override giveBack(): void {}

  override describeWait(): string {
    return `join of ${labelOf(this.target)}`;
  }

  override cancel(reason?: unknown): void {
    if (this.isSettled) return;
    const { target, previousJoin, nextJoin } = this;
    if (previousJoin === undefined) target.firstJoin = nextJoin;
    else previousJoin.nextJoin = nextJoin;
    if (nextJoin === undefined) target.lastJoin = previousJoin;
    else nextJoin.previousJoin = previousJoin;
    this.previousJoin = undefined;
    this.nextJoin = undefined;
    this.reject(new AbortError(reason));
  }
}

export class JoinOperation<T> extends CompletionOperation<T> {
  constructor(target: Task<unknown>) {
    super(target);
  }

  // No `static name`: with one, V8 (Node 20) starts to optimize the constructor thousands of times and
  // drops each ("dependency change"): 600 ns a spawn and join instead of 380.

  override taskCompleted(): void {
    const { outcomeStatus, outcomeValue } = this.target;
    if (outcomeStatus === 'success') this.fulfill(outcomeValue as T);
    else this.reject(joinError(this.target));
  }
}

export class OutcomeOperation<T> extends CompletionOperation<Outcome<T>> {
  override taskCompleted(): void {
    this.fulfill(this.target.outcome as Outcome<T>);
  }
}

/** What join() of a task that did not succeed rejects with. */
export function joinError(task: Task<unknown>): unknown {
  const value = task.outcomeValue;
  if (task.outcomeStatus === 'trap') return new TaskTrapError(labelOf(task), value as TrapInfo);
  if (task.outcomeStatus === 'cancelled') return new TaskCancelledError(labelOf(task), value);
  return value;
}
