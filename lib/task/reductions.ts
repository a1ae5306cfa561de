// Checkpoints: the safe points of a body (S-7) at which a spent budget makes it give way (S-6) and
// a cancellation reaches it.
// Owner: one thread. Invariants: free of allocation; a checkpoint that does not give way costs a
// few nanoseconds. Not here: who refills the budget (scheduler/).

import { outOfRange } from '../base/errors.ts';
import { operationOwner } from '../base/operation_owner.ts';
import { chargeReductions, type Suspension, UNBOUNDED, unwinding } from '../base/suspension.ts';
import { currentAsyncTask } from './current.ts';
import { TaskCancelledError } from './outcome.ts';
import { isCancellable } from './state.ts';
import { labelOf, type Task } from './task.ts';

/** What `yield* checkpoint()` drives and `await checkpoint()` waits for. */
export class Checkpoint implements Suspension, PromiseLike<void> {
  readonly done = false as const;
  readonly value: Suspension = this;
  readonly waitable = undefined;
  /** @internal */
  mustGiveWay = false;

  get isSuspension(): true {
    return true;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Suspension, void> {
    if (!this.mustGiveWay) return DONE;
    this.mustGiveWay = false;
    unwinding.trace?.arrived(this.next);
    return this;
  }

  return(): IteratorResult<Suspension, void> {
    unwinding.trace?.left(this.return);
    return DONE;
  }

  throw(error: unknown): IteratorResult<Suspension, void> {
    throw error;
  }

  then<A = void, B = never>(
    onFulfilled?: ((value: undefined) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return passAsync().then(onFulfilled, onRejected);
  }
}

const DONE: IteratorResult<Suspension, void> = Object.freeze({ done: true, value: undefined });
const shared = new Checkpoint();

/**
 * A safe point: charges `cost` reductions (default 1, a number >= 0). When the budget of the slice
 * is spent (4000 reductions of the default engine, or about 1 ms), the task goes to the end of its
 * queue and others run; a requested cancellation takes effect here. Elsewhere a no-op.
 * Always as `yield* checkpoint()` (in an async body `await checkpoint()`). S-6, S-7.
 * @throws ERR_OUT_OF_RANGE
 */
export function checkpoint(cost = 1): Checkpoint {
  if (!(cost >= 0)) throw outOfRange('cost', 'a number >= 0', cost);
  const task = operationOwner.current as Task | undefined;
  if (task === undefined) return shared;
  // Whole and small, as the budget is.
  const charge = cost < UNBOUNDED ? Math.ceil(cost) : UNBOUNDED;
  shared.mustGiveWay = chargeReductions(charge) || isCancellable(task.word);
  return shared;
}

/** In an async body: a turn of the queue when the slice of the thread is over. */
async function passAsync(): Promise<undefined> {
  const task = currentAsyncTask();
  if (task === undefined) return undefined;
  task.reductionCount++;
  await task.sink.giveWay();
  if (isCancellable(task.word)) {
    throw new TaskCancelledError(labelOf(task), task.extras?.cancelReason);
  }
  return undefined;
}
