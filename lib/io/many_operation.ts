// ManyOperation: many small operations with a bounded number in flight, without a promise for each.
// Owner: the thread. Invariants: at most `concurrency` are in flight; results are in order, a
// failure stays in its entry; after a cancel no more start and it rejects when the last has ended.
// Not here: what each one does (fs/many.ts).
import { AbortError } from '../base/errors.ts';
import { Operation, type OperationWaiter, REJECTED } from '../base/operation.ts';

/** One entry's outcome, as Promise.allSettled gives it. */
export type Settled<T> = PromiseSettledResult<T>;

/**
 * Runs many small operations with a bounded number in flight, without a promise for each. Results
 * in order, a failure in its entry.
 */
export class ManyOperation<T> extends Operation<Settled<T>[]> {
  readonly #results: Settled<T>[];
  readonly #startOne: (index: number) => Operation<T>;
  readonly #running = new Set<Operation<T>>();
  #nextIndex = 0;
  #settledCount = 0;
  #cancelError: Error | undefined = undefined;

  constructor(count: number, concurrency: number, startOne: (index: number) => Operation<T>) {
    super();
    this.#results = new Array<Settled<T>>(count);
    this.#startOne = startOne;
    if (count === 0) this.fulfill(this.#results);
    const first = Math.min(count, concurrency);
    for (let started = 0; started < first; started++) this.#startNext(new ManyWaiter(this));
  }

  // A loop, not a recursion: an operation may have failed before it began.
  #startNext(waiter: ManyWaiter<T>): void {
    while (this.#nextIndex < this.#results.length && this.#cancelError === undefined) {
      waiter.index = this.#nextIndex++;
      const operation = this.#startOne(waiter.index);
      if (!operation.isSettled) {
        this.#running.add(operation);
        operation.subscribe(waiter);
        return;
      }
      this.#record(waiter.index, operation);
    }
  }

  #record(index: number, operation: Operation<T>): void {
    operation.markObserved();
    const value = operation.settledValue;
    this.#results[index] =
      operation.state === REJECTED
        ? { status: 'rejected', reason: value }
        : { status: 'fulfilled', value: value as T };
    this.#settledCount++;
    const isComplete = this.#settledCount === this.#results.length;
    if (isComplete && this.#cancelError === undefined) this.fulfill(this.#results);
  }

  /** One entry has settled; its waiter goes on with the next. */
  entrySettled(waiter: ManyWaiter<T>, operation: Operation<T>): void {
    this.#running.delete(operation);
    this.#record(waiter.index, operation);
    if (this.#cancelError === undefined) this.#startNext(waiter);
    else if (this.#running.size === 0 && !this.isSettled) this.reject(this.#cancelError);
  }

  override cancel(reason?: unknown): void {
    this.cancelWith(new AbortError(reason));
  }

  /** Stops what is in flight and starts no more; rejects when the last has ended. */
  cancelWith(error: Error): void {
    if (this.isSettled || this.#cancelError !== undefined) return;
    this.#cancelError = error;
    for (const operation of [...this.#running]) operation.cancel(error);
  }
}

class ManyWaiter<T> implements OperationWaiter {
  nextWaiter: OperationWaiter | undefined = undefined;
  index = -1;
  readonly #many: ManyOperation<T>;

  constructor(many: ManyOperation<T>) {
    this.#many = many;
  }

  operationSettled(operation: Operation<unknown>): void {
    this.#many.entrySettled(this, operation as Operation<T>);
  }
}
