// Operation: the one waitable, for tasks (`yield* op`) and for ordinary code (`await op`).
// Owner: one thread. It starts when created and settles exactly once.
// The wait protocol that tasks use: subscribe(waiter) / unsubscribe(waiter), cancel(reason), and
// the iterator's return(), which never yields. Invariants: waiters are called from a flat loop,
// never from inside the call that submitted; a failure that nobody observes is reported like an
// unhandled rejection, once.
// Not here: how an operation is carried out (io/), signals and timeouts (operation_options.ts).
import { AsyncResource } from 'node:async_hooks';
import { type InspectOptions, inspect } from 'node:util';
import { invariant } from './assert.ts';
import { disposeLate } from './late_value.ts';
import { OperationIterator, type OperationSuspension } from './operation_iterator.ts';
import { type OperationOwner, operationOwner } from './operation_owner.ts';
import type { Waitable } from './suspension.ts';

export const PENDING = 0;
export const FULFILLED = 1;
export const REJECTED = 2;
export type OperationState = typeof PENDING | typeof FULFILLED | typeof REJECTED;

/** Something that waits for an operation. One waiter object is in at most one list at a time. */
export interface OperationWaiter {
  /** Owned by the operation while subscribed, undefined otherwise. */
  nextWaiter: OperationWaiter | undefined;
  operationSettled(operation: Operation<unknown>): void;
}

type OnFulfilled<T, A> = ((value: T) => A | PromiseLike<A>) | null | undefined;
// biome-ignore lint/suspicious/noExplicitAny: as Promise types it, or handlers would not move over.
type OnRejected<B> = ((reason: any) => B | PromiseLike<B>) | null | undefined;

/**
 * The result of every I/O call: waitable by `await`, `yield*`, then/catch/finally. Settles exactly
 * once. A Promise in all but class: `Promise.resolve(op)` makes a real one.
 */
export class Operation<T> implements Promise<T>, Waitable {
  // Declared here and assigned in the constructor, not initialized as class fields or #private
  // ones: those of a class with more than four subclasses cost V8 some 200 ns each and instance
  // (DECISIONS.md). Below `state` and `settledValue` all are the operation's own business.
  /** Written here only. */
  declare readonly state: OperationState;
  /** The value or the error; the caller knows that it has settled. */
  declare readonly settledValue: unknown;
  // A ring through nextWaiter: the last one's next is the first one.
  declare private lastWaiter: OperationWaiter | undefined;
  // Set when a failure found no waiter: Node's own machinery then reports or forgives it. Null once
  // somebody has looked at the outcome, or nobody will.
  declare private unobserved: Promise<never> | undefined | null;
  declare private housekeeper: OperationWaiter | undefined;
  /** The task that cancels it when it ends; links of that task's list. @internal */
  declare owner: OperationOwner | undefined;
  /** @internal */
  declare nextOwned: Operation<unknown> | undefined;
  /** @internal */
  declare previousOwned: Operation<unknown> | undefined;

  constructor() {
    this.state = PENDING;
    this.settledValue = undefined;
    this.lastWaiter = undefined;
    this.unobserved = undefined;
    this.housekeeper = undefined;
    this.owner = undefined;
    this.nextOwned = undefined;
    this.previousOwned = undefined;
  }

  get isSettled(): boolean {
    return this.state !== PENDING;
  }

  get [Symbol.toStringTag](): string {
    return 'Operation';
  }

  /** As a promise shows itself; what is inside is nobody's business. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    if (this.state === PENDING) return 'Operation { <pending> }';
    const value = inspect(this.settledValue, { ...options, depth: 0 });
    return `Operation { ${this.state === REJECTED ? '<rejected> ' : ''}${value} }`;
  }

  toJSON(): object {
    return {};
  }

  /**
   * Asks the operation to stop. It settles when its target has completed, with what that gives: an
   * AbortError (cause: `reason`), or the value if that was faster. No effect once settled.
   */
  cancel(_reason?: unknown): void {}

  /**
   * It was fulfilled, and who waited for it will never see the value: undoes what was given. Here:
   * a value that can be closed is closed (a file).
   */
  giveBack(): void {
    if (this.state === FULFILLED) disposeLate(this.settledValue);
  }

  /** What somebody who waits for it waits for, in dumps. */
  describeWait(): string {
    return 'operation';
  }

  /** Calls the waiter once, at settlement; at once (synchronously) when already settled. */
  subscribe(waiter: OperationWaiter): void {
    if (this.state !== PENDING) {
      this.markObserved();
      waiter.operationSettled(this);
      return;
    }
    invariant(waiter.nextWaiter === undefined, 'waiter is in no list');
    const last = this.lastWaiter;
    // First in, first out, as promise reactions.
    waiter.nextWaiter = last === undefined ? waiter : last.nextWaiter;
    if (last !== undefined) last.nextWaiter = waiter;
    this.lastWaiter = waiter;
  }

  unsubscribe(waiter: OperationWaiter): void {
    const last = this.lastWaiter;
    if (last === undefined) return;
    let previous = last;
    do {
      const item = previous.nextWaiter as OperationWaiter;
      if (item === waiter) {
        this.#removeAfter(previous);
        return;
      }
      previous = item;
    } while (previous !== last);
  }

  #removeAfter(previous: OperationWaiter): OperationWaiter {
    const removed = previous.nextWaiter as OperationWaiter;
    if (removed === previous) this.lastWaiter = undefined;
    else {
      previous.nextWaiter = removed.nextWaiter;
      if (removed === this.lastWaiter) this.lastWaiter = previous;
    }
    removed.nextWaiter = undefined;
    return removed;
  }

  /**
   * As subscribe(), for housekeeping: does not count as an observer of a failure. At most one, and
   * before settlement.
   */
  onSettled(waiter: OperationWaiter): void {
    invariant(this.housekeeper === undefined, 'one housekeeper');
    this.housekeeper = waiter;
  }

  /** The failure, if there is one, has found somebody. */
  markObserved(): void {
    this.unobserved?.catch(() => {});
    this.unobserved = null;
  }

  protected fulfill(value: T): void {
    this.#settle(FULFILLED, value);
  }

  protected reject(error: unknown): void {
    this.#settle(REJECTED, error);
  }

  #settle(state: OperationState, value: unknown): void {
    if (this.state !== PENDING) invariant(false, 'operation settles once', this.state, state);
    const settled = this as { state: OperationState; settledValue: unknown };
    settled.state = state;
    settled.settledValue = value;
    if (this.owner !== undefined) this.owner.disown(this);
    if (state === REJECTED && this.lastWaiter === undefined && this.unobserved !== null) {
      this.#reportUnobserved();
    }
    if (this.housekeeper !== undefined) this.#settleHousekeeper(this.housekeeper);
    else if (this.lastWaiter !== undefined) this.notify();
  }

  #settleHousekeeper(housekeeper: OperationWaiter): void {
    this.housekeeper = undefined;
    try {
      housekeeper.operationSettled(this);
    } finally {
      // Also when a 'close' listener throws: its exception is not theirs.
      if (this.lastWaiter !== undefined) this.notify();
    }
  }

  #reportUnobserved(): void {
    this.unobserved = Promise.reject(this.settledValue);
  }

  /** Calls those that wait, in order; one of them may unsubscribe another. */
  protected notify(): void {
    const only = this.lastWaiter;
    if (only !== undefined && only.nextWaiter === only) {
      this.lastWaiter = undefined;
      only.nextWaiter = undefined;
      only.operationSettled(this);
      return;
    }
    // The last one may have left since the settlement.
    const isUnobserved = this.lastWaiter === undefined && this.unobserved === undefined;
    if (isUnobserved && this.state === REJECTED) this.#reportUnobserved();
    for (let last = this.lastWaiter; last !== undefined; last = this.lastWaiter) {
      this.#removeAfter(last).operationSettled(this);
    }
  }

  then<A = T, B = never>(
    onFulfilled?: OnFulfilled<T, A>,
    onRejected?: OnRejected<B>,
  ): Operation<A | B> {
    // Two handlers: `await`, Promise.resolve() and the like, whose callers continue in their own
    // context. Telling them from a user's two costs 110 ns an await (measured), so those do not.
    const isAwait = typeof onFulfilled === 'function' && typeof onRejected === 'function';
    const guarded = isAwait ? operationOwner.guardAwait?.(this) : undefined;
    if (guarded !== undefined) return guarded.then(onFulfilled, onRejected) as Operation<A | B>;
    const derived = new DerivedOperation<A | B>(
      (isAwait ? onFulfilled : inContext(onFulfilled)) as OnFulfilled<unknown, A | B>,
      (isAwait ? onRejected : inContext(onRejected)) as OnRejected<A | B>,
      this as Operation<unknown>,
    );
    if (this.state === PENDING) {
      this.subscribe(derived);
    } else {
      // Never synchronously inside then(), as with promises.
      this.markObserved();
      queueMicrotask(() => derived.operationSettled(this));
    }
    return derived;
  }

  catch<B = never>(onRejected?: OnRejected<B>): Operation<T | B> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Operation<T> {
    const handler = inContext(onFinally);
    if (typeof handler !== 'function') return this.then() as Operation<T>;
    return this.then(
      (value) => after(handler(), () => value),
      (error: unknown) =>
        after(handler(), () => {
          throw error;
        }),
    );
  }

  /** For `yield* op` in a task: yields itself as the wait condition unless it has settled. */
  [Symbol.iterator](): OperationSuspension<T> {
    return new OperationIterator<T>(this);
  }
}

/**
 * A handler that will run in the asynchronous context of now (AsyncLocalStorage), as those of a
 * promise: the pump that calls it runs in the context of whoever came first in its turn.
 */
function inContext<H>(handler: H): H {
  if (typeof handler !== 'function') return handler;
  const call = handler as unknown as (...given: unknown[]) => unknown;
  const context = new AsyncResource('NEPHRITE');
  const bound = (...given: unknown[]): unknown =>
    context.runInAsyncScope(call, undefined, ...given);
  return bound as unknown as H;
}

function after<R>(result: unknown, next: () => R): R | Promise<R> {
  return isThenable(result) ? Promise.resolve(result).then(next) : next();
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value !== null &&
    (typeof value === 'object' || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

// What then() returns. For `await` both handlers are V8's own resolve functions and the result is
// thrown away, so it is kept small; a Promise here would cost 100 ns an await.
class DerivedOperation<T> extends Operation<T> implements OperationWaiter {
  declare nextWaiter: OperationWaiter | undefined;
  declare private onFulfilled: OnFulfilled<unknown, T>;
  declare private onRejected: OnRejected<T>;
  declare private source: Operation<unknown> | undefined;

  constructor(
    onFulfilled: OnFulfilled<unknown, T>,
    onRejected: OnRejected<T>,
    source: Operation<unknown>,
  ) {
    super();
    this.nextWaiter = undefined;
    this.onFulfilled = onFulfilled;
    this.onRejected = onRejected;
    this.source = source;
  }

  override cancel(reason?: unknown): void {
    this.source?.cancel(reason);
  }

  /** One link of a chain per microtask, as promises: a long chain must not fill the stack. */
  protected override notify(): void {
    queueMicrotask(() => super.notify());
  }

  operationSettled(source: Operation<unknown>): void {
    // Settled by a task that runs (it cancelled it): what handlers start would become that task's.
    if (operationOwner.current === undefined) this.#run(source);
    else queueMicrotask(() => this.#run(source));
  }

  #run(source: Operation<unknown>): void {
    const isFulfilled = source.state === FULFILLED;
    const handler = isFulfilled ? this.onFulfilled : this.onRejected;
    this.source = undefined;
    this.onFulfilled = undefined;
    this.onRejected = undefined;
    const value = source.settledValue;
    if (typeof handler !== 'function') {
      if (isFulfilled) this.fulfill(value as T);
      else this.reject(value);
      return;
    }
    let result: T | PromiseLike<T>;
    try {
      result = (handler as (value: unknown) => T | PromiseLike<T>)(value);
      // Inside the try: a `then` getter may throw.
      if (result !== undefined && isThenable(result)) {
        this.#follow(result);
        return;
      }
    } catch (error) {
      this.reject(error);
      return;
    }
    this.fulfill(result as T);
  }

  #follow(result: PromiseLike<T>): void {
    if ((result as unknown) === this) throw new TypeError('Chaining cycle detected for operation');
    Promise.resolve(result).then(
      (settled) => this.fulfill(settled),
      (error: unknown) => this.reject(error),
    );
  }
}

/** An operation settled from outside, through the two functions. */
export class ManualOperation<T> extends Operation<T> {
  resolveWith(value: T): void {
    this.fulfill(value);
  }
  rejectWith(error: unknown): void {
    this.reject(error);
  }
}

/** An operation that failed before it began: bad input, a closed handle. */
export function rejectedOperation<T>(error: unknown): Operation<T> {
  const operation = new ManualOperation<T>();
  operation.rejectWith(error);
  return operation;
}

export function fulfilledOperation<T>(value: T): Operation<T> {
  const operation = new ManualOperation<T>();
  operation.resolveWith(value);
  return operation;
}
