// CompositeOperation: an Operation made of steps, written as an async function over a scope.
// Owner: the thread. Invariants: cancelling it cancels the steps in flight and refuses the next
// one, so the body sees the cancellation as the failure of a step and cleans up in `finally`; it
// settles with its body, never before. What must happen (cleaning up) is not a step. All requests
// run under the authority of the call that made the operation.
// Not here: what the steps are (fs/), signals and timeouts (operation_options.ts).
import { AbortError } from '../base/errors.ts';
import { Operation, type OperationWaiter } from '../base/operation.ts';
import { ownOperation } from '../base/operation_owner.ts';
import { currentFileAuthority, type FileAuthority } from './authority.ts';
import type { IoThread } from './io_thread.ts';
import type { Cancellable } from './operation_options.ts';
import { type Decode, type Request, start } from './path_operation.ts';

/** What the body of a composite works with. */
export interface CompositeScope {
  readonly thread: IoThread;
  /** Of the call; undefined: no restriction. */
  readonly authority: FileAuthority | undefined;
  /** @throws the cancellation, if there was one */
  check(): void;
  /** One request as a step; gives the kernel's result. @throws the cancellation */
  request(request: Request): Operation<number>;
  /** As request(), with a result read by `decode`. @throws the cancellation */
  decoded<U>(request: Request, decode: Decode<U>): Operation<U>;
  /** A request that is not a step: cancellations do not concern it. */
  start<U>(request: Request, decode: Decode<U>): Operation<U>;
  /** Any other step; made only when there was no cancellation. @throws the cancellation */
  run<U>(make: () => Cancellable<U>): Operation<U>;
}

export type CompositeBody<T> = (scope: CompositeScope) => Promise<T>;

const toResult: Decode<number> = (result) => result;

class Scope implements CompositeScope, OperationWaiter {
  readonly thread: IoThread;
  readonly authority: FileAuthority | undefined;
  /** Of OperationWaiter: as a housekeeper the scope is in no list. */
  nextWaiter: OperationWaiter | undefined = undefined;
  readonly #steps = new Set<Operation<unknown>>();
  #cancelError: Error | undefined = undefined;

  constructor(thread: IoThread, authority: FileAuthority | undefined) {
    this.thread = thread;
    this.authority = authority;
  }

  check(): void {
    if (this.#cancelError !== undefined) throw this.#cancelError;
  }

  request(request: Request): Operation<number> {
    return this.decoded(request, toResult);
  }

  decoded<U>(request: Request, decode: Decode<U>): Operation<U> {
    this.check();
    return this.#track(start(this.thread, request, decode, this.authority));
  }

  start<U>(request: Request, decode: Decode<U>): Operation<U> {
    return start(this.thread, request, decode, this.authority);
  }

  run<U>(make: () => Cancellable<U>): Operation<U> {
    this.check();
    return this.#track(make());
  }

  #track<U>(step: Cancellable<U>): Operation<U> {
    if (step.isSettled) return step;
    this.#steps.add(step);
    step.onSettled(this);
    return step;
  }

  operationSettled(step: Operation<unknown>): void {
    this.#steps.delete(step);
  }

  cancel(error: Error): void {
    if (this.#cancelError !== undefined) return;
    this.#cancelError = error;
    for (const step of [...this.#steps]) (step as Cancellable<unknown>).cancelWith(error);
  }
}

/** An operation of several steps. The body starts at once and runs to its first step. */
export class CompositeOperation<T> extends Operation<T> {
  readonly #scope: Scope;

  /** `authority`: when it is made later than in the call itself. */
  constructor(
    thread: IoThread,
    body: CompositeBody<T>,
    authority: FileAuthority | undefined = currentFileAuthority(),
  ) {
    super();
    ownOperation(this);
    this.#scope = new Scope(thread, authority);
    body(this.#scope).then(
      (value) => this.fulfill(value),
      (error: unknown) => this.reject(error),
    );
  }

  override cancel(reason?: unknown): void {
    this.cancelWith(new AbortError(reason));
  }

  /** As cancel(), with the error that the operation will fail with. */
  cancelWith(error: Error): void {
    if (!this.isSettled) this.#scope.cancel(error);
  }
}
