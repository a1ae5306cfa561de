// fromPromise: a promise as an operation, so that a task can wait for it and be cancelled
// meanwhile.
// Owner: the task or caller. Invariants: cancelled at once; what the promise gives later is
// ignored, and never an unhandled rejection.
// Not here: async bodies as tasks (async_body.ts), stopping what the promise stands for (a promise
// cannot be stopped: hand `current().signal` to whoever made it).
import { AbortError, invalidArgType } from '../../base/errors.ts';
import { Operation } from '../../base/operation.ts';
import { ownOperation } from '../../base/operation_owner.ts';

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}

export class PromiseOperation<T> extends Operation<T> {
  constructor(promise: PromiseLike<T>) {
    super();
    ownOperation(this);
    // A foreign thenable may call back at once, twice or never; a real promise does not.
    Promise.resolve(promise).then(
      (value) => {
        if (!this.isSettled) this.fulfill(value);
      },
      (error: unknown) => {
        if (!this.isSettled) this.reject(error);
      },
    );
  }

  override cancel(reason?: unknown): void {
    if (!this.isSettled) this.reject(new AbortError(reason));
  }

  /** What a promise gave may belong to others as well. */
  override giveBack(): void {}

  override describeWait(): string {
    return 'promise';
  }
}

/**
 * Waits for a promise: `const page = yield* fromPromise(fetch(url))`. Cancelling rejects with an
 * AbortError at once; the promise goes on, and its late result is ignored.
 * An Operation is given back as it is.
 * @throws ERR_INVALID_ARG_TYPE
 */
export function fromPromise<T>(promise: PromiseLike<T>): Operation<T> {
  if (promise instanceof Operation) return promise as Operation<T>;
  if (!isThenable(promise)) throw invalidArgType('promise', 'a promise', promise);
  return new PromiseOperation<T>(promise);
}
