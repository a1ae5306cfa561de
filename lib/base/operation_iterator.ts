// OperationIterator: what `yield* operation` drives in a task body.
// Owner: the body that waits. Invariants: yields itself at most once, and only while the operation
// is pending or the budget is spent; return() never yields.
// Not here: what the scheduler does with it (scheduler/dispatch.ts).
import { inspect } from 'node:util';
import { NephriteError } from './errors.ts';
import { type Operation, PENDING, REJECTED } from './operation.ts';
import { chargeReductions, type Suspension, unwinding } from './suspension.ts';

/** What drives a `yield* operation`: its own suspension. */
export interface OperationSuspension<T> extends Suspension, Iterator<Suspension, T, unknown> {
  next(): IteratorResult<Suspension, T>;
  return(value: T): IteratorResult<Suspension, T>;
  throw(error: unknown): IteratorResult<Suspension, T>;
}

/** Somebody who is no scheduler drives a body. */
export function foreignDriver(): NephriteError {
  return new NephriteError(
    'ERR_FOREIGN_YIELD',
    'resumed before the operation had settled: `yield*` an operation inside a task only',
  );
}

/** The iterator behind `yield* op`. Its return() never yields: cancellation is the scheduler's. */
export class OperationIterator<T> implements OperationSuspension<T> {
  // Assigned in the constructor, as in Operation.
  declare readonly done: false;
  declare readonly value: Suspension;
  declare readonly waitable: Operation<T>;
  declare private hasYielded: boolean;

  constructor(operation: Operation<T>) {
    this.done = false;
    this.value = this;
    this.waitable = operation;
    this.hasYielded = false;
  }

  get isSuspension(): true {
    return true;
  }

  [inspect.custom](): string {
    return `Suspension { ${this.waitable.describeWait()} }`;
  }

  next(): IteratorResult<Suspension, T> {
    const operation = this.waitable;
    if (operation.state === PENDING) {
      if (this.hasYielded) {
        throw foreignDriver();
      }
      this.hasYielded = true;
      unwinding.trace?.arrived(this.next);
      return this;
    }
    // Before giving way: a failure that a task stands at is not one that nobody looks at.
    operation.markObserved();
    // A loop over operations that are always ready must give way too.
    if (!this.hasYielded && chargeReductions(1)) {
      this.hasYielded = true;
      unwinding.trace?.arrived(this.next);
      return this;
    }
    if (operation.state === REJECTED) throw operation.settledValue;
    return { done: true, value: operation.settledValue as T };
  }

  // Not `value?`: the type of a `yield*` is that of next() and of this parameter.
  return(value: T): IteratorResult<Suspension, T> {
    unwinding.trace?.left(this.return);
    return { done: true, value };
  }

  /** Without it, generator.throw(error) would become a TypeError at the `yield*`. */
  throw(error: unknown): IteratorResult<Suspension, T> {
    throw error;
  }
}
