// Wake timer: one call of onWake for all completions that arrive in one turn of the event loop.
// libuv hands over everything that its pool has finished in one poll phase, callback by callback;
// setImmediate runs right after that phase, so it batches them (microtasks and nextTick run between
// the callbacks and would not; see DECISIONS.md for the measured difference).
// Owner: a backend written in TypeScript. Invariants: at most one call until the next disarm(),
// none after stop().

export class WakeTimer {
  readonly #onWake: () => void;
  #immediate: NodeJS.Immediate | null = null;
  /** onWake was called and nobody has collected since. */
  #hasCalled = false;
  #isForced = false;
  #isStopped = false;

  constructor(onWake: () => void) {
    this.#onWake = onWake;
  }

  /** Completions are waiting. */
  arm(): void {
    if (!this.#hasCalled) this.#schedule();
  }

  /** Calls onWake whether or not completions are waiting. */
  force(): void {
    this.#isForced = true;
    this.#schedule();
  }

  /** Everything was collected. */
  disarm(): void {
    this.#hasCalled = false;
    if (this.#immediate === null || this.#isForced) return;
    clearImmediate(this.#immediate);
    this.#immediate = null;
  }

  stop(): void {
    this.#isForced = false;
    this.#isStopped = true;
    this.disarm();
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#immediate ??= setImmediate(() => {
      this.#immediate = null;
      this.#isForced = false;
      this.#hasCalled = true;
      this.#onWake();
    });
  }
}
