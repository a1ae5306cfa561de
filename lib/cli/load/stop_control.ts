// The one switch that ends a run early: Ctrl-C, or too many failures in a row.
// Owner: the run; lanes look at it before every operation. Invariants: the first reason stays.
// Not here: the signals (stress/interrupt.ts).

export type StopReason = 'SIGINT' | 'SIGTERM' | 'failures';

/** Asked once per operation, so it is a plain field and not an AbortSignal. */
export class StopControl {
  isStopped = false;
  reason: StopReason | null = null;
  readonly #listeners = new Set<() => void>();

  request(reason: StopReason): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }

  /** Calls back at the stop; returns the function that forgets the callback. */
  onStop(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
