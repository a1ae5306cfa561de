// WaitingList: operations that wait for a slot, a chunk or their share of a turn, first in first
// out but for closes, which go to the front.
// Owner: one thread's IoThread. Invariants: intrusive, so waiting allocates nothing; an operation
// is in at most one list (`waitingIn`), linked both ways, since a burst of aborts takes out
// thousands in any order. Not here: when they get their turn (io_thread.ts).
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
    operation.previousWaiting = this.#tail;
    if (this.#tail === undefined) this.#head = operation;
    else this.#tail.nextWaiting = operation;
    this.#tail = operation;
  }

  /** Takes from the front as long as `start` accepts; the one it refuses keeps its place. */
  drain(start: (operation: IoOperation<unknown>) => boolean): void {
    for (let head = this.#head; head !== undefined; head = this.#head) {
      // Out of the list first: a start that fails settles it, and its next entry may be submitted.
      this.remove(head);
      if (start(head)) continue;
      this.unshift(head);
      return;
    }
  }

  /** Takes out those that `matches`, oldest first. */
  removeAll(matches: (operation: IoOperation<unknown>) => boolean): IoOperation<unknown>[] {
    const removed: IoOperation<unknown>[] = [];
    for (let item = this.#head; item !== undefined; ) {
      const next: IoOperation<unknown> | undefined = item.nextWaiting;
      if (matches(item)) {
        this.remove(item);
        removed.push(item);
      }
      item = next;
    }
    return removed;
  }

  /** Puts it before all others. */
  unshift(operation: IoOperation<unknown>): void {
    const next = this.#head;
    operation.waitingIn = this;
    operation.nextWaiting = next;
    if (next === undefined) this.#tail = operation;
    else next.previousWaiting = operation;
    this.#head = operation;
  }

  remove(operation: IoOperation<unknown>): void {
    const { previousWaiting: previous, nextWaiting: next } = operation;
    if (previous === undefined) this.#head = next;
    else previous.nextWaiting = next;
    if (next === undefined) this.#tail = previous;
    else next.previousWaiting = previous;
    operation.previousWaiting = undefined;
    operation.nextWaiting = undefined;
    operation.waitingIn = undefined;
  }

  shift(): IoOperation<unknown> | undefined {
    const head = this.#head;
    if (head !== undefined) this.remove(head);
    return head;
  }
}
