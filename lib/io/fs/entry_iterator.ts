// Entry iterator: hands batches from a producer to `for await`, at most one batch ahead.
// Owner: one iteration. Invariants: the producer waits until its batch was taken, so memory is
// bounded by two batches whatever the directory's size; a failure of the operation ends the
// iteration; return() ends the producer and waits for it.
// Not here: where batches come from (readdir.ts).
import {
  ManualOperation,
  type Operation,
  type OperationWaiter,
  REJECTED,
} from '../../base/operation.ts';

/** Settles when the consumer has taken the batch; cancellable, as a step of a composite. */
class Turn extends ManualOperation<void> {
  end(): void {
    if (!this.isSettled) this.resolveWith();
  }

  cancelWith(error: Error): void {
    if (!this.isSettled) this.rejectWith(error);
  }
}

interface PendingNext<E> {
  resolve(result: IteratorResult<E, undefined>): void;
  reject(error: unknown): void;
}

export class EntryIterator<E> implements AsyncIterableIterator<E>, OperationWaiter {
  /** Of OperationWaiter. */
  nextWaiter: OperationWaiter | undefined = undefined;
  #isStopped = false;
  #batch: readonly E[] = [];
  #index = 0;
  #offered: { readonly batch: readonly E[]; readonly turn: Turn } | undefined = undefined;
  #drained: Turn | undefined = undefined;
  #pending: PendingNext<E>[] = [];
  #hasEnded = false;
  #failure: { readonly error: unknown } | undefined = undefined;
  #onEnd: (() => void)[] = [];

  /** The consumer has left: the producer may end. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Producer: one batch; the operation settles when it was taken. */
  offer(batch: readonly E[]): Turn {
    const turn = new Turn();
    if (this.#isStopped || batch.length === 0) turn.end();
    else {
      this.#offered = { batch, turn };
      this.#serve();
    }
    return turn;
  }

  /** Producer: settles when the consumer has had every entry. */
  drained(): Turn {
    this.#drained = new Turn();
    if (this.#isStopped) this.#drained.end();
    else this.#serve();
    return this.#drained;
  }

  /** The operation was cancelled; it ends when its steps have, the iteration at once. */
  cancelled(error: unknown): void {
    if (this.#hasEnded) return;
    this.#failure ??= { error };
    this.#drop();
    this.#serve();
  }

  /** The producing operation has ended. */
  operationSettled(operation: Operation<unknown>): void {
    if (operation.state === REJECTED) this.cancelled(operation.settledValue);
    this.#hasEnded = true;
    this.#serve();
    for (const onEnd of this.#onEnd.splice(0)) onEnd();
  }

  next(): Promise<IteratorResult<E, undefined>> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#serve();
    });
  }

  async return(): Promise<IteratorResult<E, undefined>> {
    this.#isStopped = true;
    this.#drop();
    this.#serve();
    if (!this.#hasEnded) await new Promise<void>((resolve) => this.#onEnd.push(resolve));
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #drop(): void {
    this.#batch = [];
    this.#index = 0;
    const offered = this.#offered;
    this.#offered = undefined;
    offered?.turn.end();
    this.#drained?.end();
  }

  #serve(): void {
    while (this.#pending.length > 0) {
      if (this.#index === this.#batch.length && !this.#takeOffered()) {
        if (this.#hasEnded || this.#isStopped || this.#failure !== undefined) this.#serveEnd();
        break;
      }
      this.#pending.shift()?.resolve({ done: false, value: this.#batch[this.#index++] });
    }
    const isDrained = this.#index === this.#batch.length && this.#offered === undefined;
    if (isDrained) this.#drained?.end();
  }

  #takeOffered(): boolean {
    const offered = this.#offered;
    if (offered === undefined) return false;
    this.#offered = undefined;
    this.#batch = offered.batch;
    this.#index = 0;
    offered.turn.end();
    return true;
  }

  // A failure is told once, then the iteration is at its end.
  #serveEnd(): void {
    const failure = this.#failure;
    if (failure !== undefined && !this.#isStopped) {
      this.#isStopped = true;
      this.#pending.shift()?.reject(failure.error);
    }
    for (const { resolve } of this.#pending.splice(0)) resolve({ done: true, value: undefined });
  }
}
