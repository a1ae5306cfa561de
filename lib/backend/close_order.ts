// Close order: a CLOSE waits until nothing is in flight on its descriptor.
// close(2) does not wait, and the number is free for the next open at once: a read still queued for
// a pool thread would then read a stranger's file.
// Owner: one backend written in TypeScript (native/poller/poller.cc does the same). Invariants: an
// operation held is released exactly once; a CLOSE that waits is given back exactly once.
// Not here: which descriptors are open (node/node_backend.ts).
import { type SubmissionEntry, usesDescriptor } from './submission_entry.ts';

export class CloseOrder<T extends { readonly entry: SubmissionEntry }> {
  readonly #pendingCounts = new Map<number, number>();
  readonly #waitingCloses = new Map<number, T[]>();

  /** An operation starts. */
  hold(operation: T): void {
    if (!usesDescriptor(operation.entry)) return;
    const { fd } = operation.entry;
    this.#pendingCounts.set(fd, (this.#pendingCounts.get(fd) ?? 0) + 1);
  }

  /** An operation is done. Gives the CLOSE operations that waited for it, to be started. */
  release(operation: T): readonly T[] {
    if (!usesDescriptor(operation.entry)) return [];
    const { fd } = operation.entry;
    const count = (this.#pendingCounts.get(fd) ?? 0) - 1;
    if (count > 0) {
      this.#pendingCounts.set(fd, count);
      return [];
    }
    this.#pendingCounts.delete(fd);
    const waiting = this.#waitingCloses.get(fd) ?? [];
    this.#waitingCloses.delete(fd);
    return waiting;
  }

  /** True: the CLOSE must wait, release() will give it back. */
  mustWait(close: T): boolean {
    const { fd } = close.entry;
    if (!this.#pendingCounts.has(fd)) return false;
    const waiting = this.#waitingCloses.get(fd);
    if (waiting === undefined) this.#waitingCloses.set(fd, [close]);
    else waiting.push(close);
    return true;
  }
}
