// Permits: a bound on how many operations of one sort run at a time on this thread.
// Owner: whoever makes it. Invariants: first come, first served; a permit is given back exactly
// once.
// Not here: slots and chunks of the ring (io_thread.ts).
import { ManualOperation } from '../base/operation.ts';
import type { CompositeScope } from './composite.ts';

class PermitTurn extends ManualOperation<void> {
  readonly #waiting: Set<PermitTurn>;

  constructor(waiting: Set<PermitTurn>) {
    super();
    this.#waiting = waiting;
    waiting.add(this);
  }

  cancelWith(error: Error): void {
    if (this.isSettled) return;
    this.#waiting.delete(this);
    this.rejectWith(error);
  }
}

export class Permits {
  readonly #waiting = new Set<PermitTurn>();
  #freeCount: number;

  constructor(count: number) {
    this.#freeCount = count;
  }

  /** Runs `body` when there is a permit for it. */
  async with<T>(scope: CompositeScope, body: () => Promise<T>): Promise<T> {
    if (this.#freeCount > 0) this.#freeCount--;
    else await scope.run(() => new PermitTurn(this.#waiting));
    try {
      return await body();
    } finally {
      this.#giveBack();
    }
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#freeCount++;
      return;
    }
    this.#waiting.delete(next);
    next.resolveWith();
  }
}
