// Async bodies: an async function as a task, with what JavaScript allows. Its continuations are run
// by the engine, not by the scheduler; cancellation reaches it as a rejected TaskCancelledError, at
// the operation it awaits and at every later one, and `catch` can see it.
// Owner: one thread. Invariants: cancelling never abandons what the body has started: its open
// operations are asked to stop, and their targets decide.
// Not here: generator bodies (execution.ts).
import { Operation, type OperationWaiter, REJECTED } from '../base/operation.ts';
import { operationOwner } from '../base/operation_owner.ts';
import { currentAsyncTask } from './current.ts';
import { TaskCancelledError } from './outcome.ts';
import { CANCEL_REQUESTED, isCancellable, MASK_UNIT } from './state.ts';
import { labelOf, type Task } from './task.ts';

/** The promise of an async body, as what its task waits for. */
export class AsyncBodyOperation extends Operation<unknown> {
  readonly #task: Task;

  constructor(task: Task, promise: PromiseLike<unknown>) {
    super();
    this.#task = task;
    promise.then(
      (value) => this.fulfill(value),
      (error: unknown) => {
        this.reject(error);
      },
    );
  }

  /** Asks what the body has going on to stop; the body itself goes on and decides. */
  override cancel(reason?: unknown): void {
    cancelOwned(this.#task, reason);
  }

  override describeWait(): string {
    const first = this.#task.firstOwned;
    return first === undefined ? 'async body' : `async body: ${first.describeWait()}`;
  }
}

/** The task has ended: nobody will ask what became of the operations that it left open. */
export function abandonOwned(task: Task): void {
  for (let one = task.firstOwned; one !== undefined; one = one.nextOwned) one.markObserved();
  cancelOwned(task, undefined);
}

/** Asks every open operation of the task to stop. */
export function cancelOwned(task: Task, reason: unknown): void {
  // A copy: one may settle at once and leave the list, and take others with it.
  const open: Operation<unknown>[] = [];
  for (let one = task.firstOwned; one !== undefined; one = one.nextOwned) open.push(one);
  for (const operation of open) operation.cancel(reason);
}

/**
 * For `await operation` in an async body: undefined where nothing is special. In a cancelled body
 * another operation, which rejects with TaskCancelledError when this one has settled; in a body
 * that is cancelled later, one that rejects with it instead of with the AbortError.
 */
export function guardAwait<T>(operation: Operation<T>): Operation<T> | undefined {
  // A generator's own code, whatever context it calls functions in.
  if (operationOwner.current !== undefined) return undefined;
  if (operation instanceof GuardedOperation) return undefined;
  const task = currentAsyncTask();
  if (task === undefined || task.outcomeStatus !== undefined) return undefined;
  const isRefused = isCancellable(task.word);
  if (isRefused) operation.cancel(task.extras?.cancelReason);
  else if (operation.isSettled) return undefined;
  return new GuardedOperation<T>(task, operation, isRefused);
}

class GuardedOperation<T> extends Operation<T> implements OperationWaiter {
  nextWaiter: OperationWaiter | undefined = undefined;
  readonly #task: Task;
  readonly #source: Operation<T>;
  // The body was cancelled before it asked: whatever comes out, it is not told.
  readonly #isRefused: boolean;

  constructor(task: Task, source: Operation<T>, isRefused: boolean) {
    super();
    this.#task = task;
    this.#source = source;
    this.#isRefused = isRefused;
    task.own(this as Operation<unknown>);
    source.subscribe(this);
  }

  /** The body is cancelled while it waits: for operations that it has not started, and joins. */
  override cancel(reason?: unknown): void {
    if (this.#task.outcomeStatus === undefined) this.#source.cancel(reason);
  }

  override describeWait(): string {
    return this.#source.describeWait();
  }

  #refuse(): void {
    const task = this.#task;
    this.reject(new TaskCancelledError(labelOf(task), task.extras?.cancelReason));
  }

  operationSettled(source: Operation<unknown>): void {
    const task = this.#task;
    const isRejected = source.state === REJECTED;
    const wasCancelled =
      isRejected && (task.word & CANCEL_REQUESTED) !== 0 && task.word < MASK_UNIT;
    if (this.#isRefused) {
      source.giveBack();
      // By a turn of the event loop: a body that catches and tries again for ever would keep it
      // from ever coming, since each try is refused at once.
      task.sink.giveWay().then(() => this.#refuse());
    } else if (wasCancelled) {
      source.giveBack();
      this.#refuse();
    } else if (isRejected) {
      this.reject(source.settledValue);
    } else {
      this.fulfill(source.settledValue as T);
    }
  }
}
