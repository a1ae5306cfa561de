// Joins: operations that wait for a task's outcome. A failure crosses the border of the task as
// data and is raised again in the joiner (S-12).
// Owner: the joined task lists them until it completes. Invariants: whoever asked for the outcome
// has observed the failure; cancelling a join never touches the task.
// Not here: scopes (structured/).
import { AbortError } from '../base/errors.ts';
import { FULFILLED, Operation, PENDING, REJECTED } from '../base/operation.ts';
import { foreignDriver, type OperationSuspension } from '../base/operation_iterator.ts';
import { operationOwner } from '../base/operation_owner.ts';
import { chargeReductions, type Suspension, unwinding } from '../base/suspension.ts';
import { type Outcome, TaskCancelledError, TaskTrapError, type TrapInfo } from './outcome.ts';
import { OBSERVED } from './state.ts';
import { labelOf, type Task } from './task.ts';

/**
 * Settles when its task completes. It is the iterator of its own `yield*`: the wait that tasks do
 * most, at one object less. No class between it and Operation, and no `static name`: a second
 * super() keeps V8 (Node 20) from inlining the constructor (30 ns), and with a name it starts to
 * optimize it thousands of times (200 ns).
 */
export class JoinOperation<T> extends Operation<T> implements Suspension {
  // Assigned in the constructor, as in Operation.
  declare readonly target: Task<unknown>;
  declare nextJoin: JoinOperation<unknown> | undefined;
  declare previousJoin: JoinOperation<unknown> | undefined;
  declare private hasYielded: boolean;

  constructor(target: Task<unknown>) {
    super();
    this.target = target;
    this.nextJoin = undefined;
    this.previousJoin = undefined;
    this.hasYielded = false;
    target.word |= OBSERVED;
    if (target.outcomeStatus === undefined) this.#enlist(target);
    else this.taskCompleted();
  }

  #enlist(target: Task<unknown>): void {
    const last = target.lastJoin;
    this.previousJoin = last;
    if (last === undefined) target.firstJoin = this as JoinOperation<unknown>;
    else last.nextJoin = this as JoinOperation<unknown>;
    target.lastJoin = this as JoinOperation<unknown>;
  }

  /** The task has its outcome, and this is in no list any more. */
  taskCompleted(): void {
    const { outcomeStatus, outcomeValue } = this.target;
    if (outcomeStatus === 'success') this.fulfill(outcomeValue as T);
    else this.reject(joinError(this.target));
  }

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

  // What `yield*` drives; as OperationIterator.
  override [Symbol.iterator](): OperationSuspension<T> {
    return this;
  }

  get done(): false {
    return false;
  }

  get value(): Suspension {
    return this;
  }

  get waitable(): this {
    return this;
  }

  get isSuspension(): true {
    return true;
  }

  next(): IteratorResult<Suspension, T> {
    if (this.state === FULFILLED && this.hasYielded) {
      this.hasYielded = false;
      return { done: true, value: this.settledValue as T };
    }
    return this.#nextSeldom();
  }

  #nextSeldom(): IteratorResult<Suspension, T> {
    const { hasYielded } = this;
    this.hasYielded = true;
    if (this.state === PENDING) {
      const current = operationOwner.current as Task | undefined;
      // Several tasks may stand at one join; outside of tasks nobody drives it.
      if (current === undefined) throw foreignDriver();
      // Perhaps not the first task that comes to it; or `for (… of join)`, which goes on asking. A
      // task's wait is cleared when it is dispatched: what it waits for it has asked in this slice.
      if (hasYielded) {
        if (current.waitingFor === this) throw foreignDriver();
        current.waitingFor = this;
      }
      unwinding.trace?.arrived(this.next);
      return this;
    }
    this.markObserved();
    if (!hasYielded && chargeReductions(1)) {
      unwinding.trace?.arrived(this.next);
      return this;
    }
    this.hasYielded = false;
    if (this.state === REJECTED) throw this.settledValue;
    return { done: true, value: this.settledValue as T };
  }

  return(value: T): IteratorResult<Suspension, T> {
    const current = operationOwner.current as Task | undefined;
    if (current?.waitingFor === this) current.waitingFor = undefined;
    unwinding.trace?.left(this.return);
    return { done: true, value };
  }

  throw(error: unknown): IteratorResult<Suspension, T> {
    throw error;
  }
}

export class OutcomeOperation<T> extends JoinOperation<Outcome<T>> {
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
