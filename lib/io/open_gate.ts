// Open gate: whole-file operations that met EMFILE wait here for one of their own to close.
// Owner: one thread. Invariants: an operation waits only while another whole-file operation holds a
// descriptor (else nobody would wake it and the caller gets EMFILE); woken first in first out.
// Not here: descriptors of open(), which are the caller's to close.

/** Something that can try its open again. */
export interface GateWaiter {
  retryOpen(): void;
}

export class OpenGate {
  /** False once the backend has said that it cannot read files in one entry. */
  canReadWhole = true;
  #openCount = 0;
  readonly #waiting: GateWaiter[] = [];

  get waitingCount(): number {
    return this.#waiting.length;
  }

  opened(): void {
    this.#openCount++;
  }

  closed(): void {
    this.#openCount--;
    // Nobody will close after the last one: who waits then gets the descriptor or its EMFILE.
    const wakeCount = this.#openCount === 0 ? this.#waiting.length : 1;
    for (const waiter of this.#waiting.splice(0, wakeCount)) waiter.retryOpen();
  }

  /** True: the waiter will be called. False: nobody would wake it. */
  wait(waiter: GateWaiter): boolean {
    if (this.#openCount === 0) return false;
    this.#waiting.push(waiter);
    return true;
  }

  remove(waiter: GateWaiter): boolean {
    const index = this.#waiting.indexOf(waiter);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    return true;
  }
}
