// Delay: a step of a composite that only waits.
// Owner: one thread. Invariants: never early; cancelling it settles it at once.
// Not here: sleeping tasks (they get a timer wheel).
import { AbortError } from '../base/errors.ts';
import { Operation } from '../base/operation.ts';
import { armDeadline, cancelDeadline, type Deadline } from '../time/deadlines.ts';

export class DelayOperation extends Operation<void> {
  readonly #deadline: Deadline;

  constructor(delayMs: number) {
    super();
    this.#deadline = armDeadline(delayMs, () => this.fulfill());
  }

  override cancel(reason?: unknown): void {
    this.cancelWith(new AbortError(reason));
  }

  cancelWith(error: Error): void {
    if (this.isSettled) return;
    cancelDeadline(this.#deadline);
    this.reject(error);
  }
}
