// WaitOperation: an operation that another party on this thread settles (a wake, a sender, an
// unlock), and WaitQueue, the line in which such operations stand.
// Owner: one thread. Invariants: an operation stands in at most one queue and leaves it before it
// settles, so cancelling is O(1) and what was granted is never granted twice; granting and settling
// are one step; what a cancelled task was granted and never got goes back (giveBack).
// Not here: what is waited for (wait_token.ts, sync/).
import { invariant } from '../base/assert.ts';
import { AbortError, NephriteError } from '../base/errors.ts';
import {
  FULFILLED,
  ManualOperation,
  type Operation,
  type OperationWaiter,
  PENDING,
  rejectedOperation,
} from '../base/operation.ts';
import { OperationIterator } from '../base/operation_iterator.ts';
import { ownOperation } from '../base/operation_owner.ts';

/**
 * How many may wait in one queue (1,048,576); the next one fails with ERR_QUEUE_FULL. More than a
 * million tasks may wait for the same thing, but a producer that never awaits is found out.
 */
export const WAITING_MAX = 2 ** 20;

export abstract class WaitOperation<T> extends ManualOperation<T> {
  /** The queue it stands in; its links there. Written by WaitQueue only. */
  declare queue: WaitQueue<WaitOperation<unknown>> | undefined;
  declare previousInQueue: WaitOperation<unknown> | undefined;
  declare nextInQueue: WaitOperation<unknown> | undefined;
  // How many have asked for the outcome: with a second one, there is nothing to give back.
  declare private observerCount: number;
  declare private isGivenBack: boolean;
  declare private isThenSubscribing: boolean;

  // Assigned, not initialized as class fields: those of a base class with many subclasses cost V8
  // some 200 ns each and instance (an uncontended lock: 2,400 ns, see sync/DECISIONS.md).
  constructor() {
    super();
    this.queue = undefined;
    this.previousInQueue = undefined;
    this.nextInQueue = undefined;
    this.observerCount = 0;
    this.isGivenBack = false;
    this.isThenSubscribing = false;
  }

  abstract override describeWait(): string;

  /** Leaves its queue at once and fails with an AbortError. No effect once settled. */
  override cancel(reason?: unknown): void {
    if (!this.isSettled) this.cancelWith(new AbortError(reason));
  }

  /** As cancel(), with the error that the operation will fail with. */
  cancelWith(error: Error): void {
    if (this.isSettled) return;
    this.queue?.remove(this);
    this.rejectWith(error);
    this.leftQueue();
  }

  /**
   * Undoes a grant that reaches nobody: a task was cancelled between the grant and its next step,
   * or a race was decided by another one. No effect while pending, after a failure, the second
   * time, and when anybody else has asked for the outcome.
   */
  override giveBack(): void {
    if (this.state !== FULFILLED || this.isGivenBack || this.observerCount > 1) return;
    this.isGivenBack = true;
    this.undoGrant(this.settledValue as T);
  }

  /** Called after a cancelled one has left its queue: others may have become able to go on. */
  protected leftQueue(): void {}

  /** Gives back what `value` stands for. */
  protected undoGrant(_value: T): void {}

  /** One that waits is called from inside the call that settles it: handlers must not run there. */
  override subscribe(waiter: OperationWaiter): void {
    const isDeferred = this.isThenSubscribing && this.state === PENDING;
    super.subscribe(isDeferred ? new DeferredWaiter(waiter) : waiter);
  }

  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    // biome-ignore lint/suspicious/noExplicitAny: as in Operation and Promise.
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Operation<A | B> {
    if (this.isGivenBack) return rejectedOperation<T>(givenBack()).then(onFulfilled, onRejected);
    this.observerCount++;
    this.isThenSubscribing = true;
    try {
      return super.then(onFulfilled, onRejected);
    } finally {
      this.isThenSubscribing = false;
    }
  }

  override [Symbol.iterator](): OperationIterator<T> {
    if (this.isGivenBack) throw givenBack();
    this.observerCount++;
    return new WaitIterator<T>(this);
  }
}

function givenBack(): NephriteError {
  return new NephriteError(
    'ERR_INVALID_STATE',
    'what the operation was granted went back when the task that waited for it was cancelled',
  );
}

const RESOLVED = Promise.resolve();

// Handlers of then() run in a microtask of their own, as with promises: neither inside the call of
// the other party, nor nested into each other until the stack is full.
class DeferredWaiter implements OperationWaiter {
  nextWaiter: OperationWaiter | undefined = undefined;
  readonly #waiter: OperationWaiter;

  constructor(waiter: OperationWaiter) {
    this.#waiter = waiter;
  }

  operationSettled(operation: Operation<unknown>): void {
    // A third of what queueMicrotask() costs, which makes an AsyncResource (measured, 170 ns).
    RESOLVED.then(() => this.#waiter.operationSettled(operation));
  }
}

class WaitIterator<T> extends OperationIterator<T> {
  readonly #wait: WaitOperation<T>;

  constructor(wait: WaitOperation<T>) {
    super(wait);
    this.#wait = wait;
  }

  /** The body is left while it stands at this `yield*`: it will never see the outcome. */
  override return(value: T): ReturnType<OperationIterator<T>['return']> {
    this.#wait.giveBack();
    return super.return(value);
  }
}

/** First in, first out; intrusive and linked both ways: no operation costs more than O(1). */
export class WaitQueue<W extends WaitOperation<unknown>> {
  #head: W | undefined = undefined;
  #tail: W | undefined = undefined;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get head(): W | undefined {
    return this.#head;
  }

  get tail(): W | undefined {
    return this.#tail;
  }

  /**
   * Puts a new operation at the end and gives it back; it belongs to the running task from now on.
   * When the queue is full, the operation fails with ERR_QUEUE_FULL instead.
   */
  wait(operation: W): W {
    if (this.#count >= WAITING_MAX) {
      const what = `${WAITING_MAX} already wait for ${operation.describeWait()}`;
      operation.rejectWith(new NephriteError('ERR_QUEUE_FULL', what));
      return operation;
    }
    this.insertAfter(this.#tail, operation);
    ownOperation(operation);
    return operation;
  }

  /** `previous` undefined: to the front. */
  insertAfter(previous: W | undefined, operation: W): void {
    invariant(operation.queue === undefined, 'waits in one queue');
    const next = previous === undefined ? this.#head : (previous.nextInQueue as W | undefined);
    operation.queue = this as unknown as WaitQueue<WaitOperation<unknown>>;
    operation.previousInQueue = previous;
    operation.nextInQueue = next;
    if (previous === undefined) this.#head = operation;
    else previous.nextInQueue = operation;
    if (next === undefined) this.#tail = operation;
    else next.previousInQueue = operation;
    this.#count++;
  }

  remove(operation: W): void {
    const previous = operation.previousInQueue as W | undefined;
    const next = operation.nextInQueue as W | undefined;
    if (previous === undefined) this.#head = next;
    else previous.nextInQueue = next;
    if (next === undefined) this.#tail = previous;
    else next.previousInQueue = previous;
    operation.queue = undefined;
    operation.previousInQueue = undefined;
    operation.nextInQueue = undefined;
    this.#count--;
  }

  shift(): W | undefined {
    const head = this.#head;
    if (head !== undefined) this.remove(head);
    return head;
  }
}
