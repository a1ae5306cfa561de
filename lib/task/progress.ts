// Progress: what a task reports while it runs, as an async iterator for whoever watches.
// Owner: the reader. Invariants: bounded; a slow reader loses the oldest reports, never the task's
// time. Not here: messages between tasks (sync/channel.ts).

const REPORTS_MAX = 256;

export class ProgressFeed implements AsyncIterableIterator<unknown> {
  /** Reports lost because the reader was slow. */
  droppedCount = 0;
  /** @internal */
  onReturn: (() => void) | undefined = undefined;
  readonly #reports: unknown[] = [];
  readonly #waiting: ((result: IteratorResult<unknown, undefined>) => void)[] = [];
  #isEnded = false;

  /** @internal */
  push(value: unknown): void {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      waiting({ done: false, value });
      return;
    }
    this.#reports.push(value);
    if (this.#reports.length <= REPORTS_MAX) return;
    this.#reports.shift();
    this.droppedCount++;
  }

  /** @internal */
  end(): void {
    this.#isEnded = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<unknown, undefined>> {
    if (this.#reports.length > 0) {
      return Promise.resolve({ done: false, value: this.#reports.shift() });
    }
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<unknown, undefined>> {
    this.onReturn?.();
    this.#reports.length = 0;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
