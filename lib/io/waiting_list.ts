// WaitingList: operations that wait for a slot, a chunk or their share of a turn, first in first out.
// Owner: one thread's IoThread. Invariants: intrusive, so waiting allocates nothing; an operation is
// in at most one list (`waitingIn`). Not here: when they get their turn (io_thread.ts).
import { invariant } from '../base/assert.ts';
import type { IoOperation } from './io_operation.ts';

export class WaitingList {
  #head: IoOperation<unknown> | undefined;
  #tail: IoOperation<unknown> | undefined;

  get isEmpty(): boolean {
    return this.#head === undefined;
  }

  push(operation: IoOperation<unknown>): void {
    invariant(operation.waitingIn === undefined, 'operation waits once');
    operation.waitingIn = this;
    operation.nextWaiting = undefined;
    if (this.#tail === undefined) this.#head = operation;
    else this.#tail.nextWaiting = operation;
    this.#tail = operation;
  }

  /** Takes from the front as long as `start` accepts. */
  drain(start: (operation: IoOperation<unknown>) => boolean): void {
    for (let head = this.#head; head !== undefined; head = this.#head) {
      const next: IoOperation<unknown> | undefined = head.nextWaiting;
      if (!start(head)) return;
      head.waitingIn = undefined;
      head.nextWaiting = undefined;
      this.#head = next;
      if (next === undefined) this.#tail = undefined;
    }
  }

  remove(operation: IoOperation<unknown>): void {
    let previous: IoOperation<unknown> | undefined;
    for (let item = this.#head; item !== undefined; previous = item, item = item.nextWaiting) {
      if (item !== operation) continue;
      if (previous === undefined) this.#head = item.nextWaiting;
      else previous.nextWaiting = item.nextWaiting;
      if (this.#tail === item) this.#tail = previous;
      item.waitingIn = undefined;
      item.nextWaiting = undefined;
      return;
    }
  }

  shift(): IoOperation<unknown> | undefined {
    const head = this.#head;
    if (head !== undefined) this.remove(head);
    return head;
  }
}
