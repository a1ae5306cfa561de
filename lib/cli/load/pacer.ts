// Open loop: operation k is meant to start at start + k / rate, whether or not the ones before it
// are done. Latency counts from that moment, so that a stall is charged to everything that waited
// behind it (no coordinated omission).
// Owner: one phase of one subject. Invariants: claims are handed out in order; at most one waiter
// per lane; nothing is claimed at or after the end.
// Not here: closed loops, which need no pacer.

interface Waiter {
  readonly atMs: number;
  readonly wake: () => void;
}

/** A timer may fire this much late; the rest is waited for in turns of the event loop. */
const TIMER_MARGIN_MS = 2;

/** Hands out intended start times and waits for them. */
export class Pacer {
  readonly #startMs: number;
  readonly #endMs: number;
  readonly #intervalMs: number;
  #claimed = 0;
  readonly #waiters: Waiter[] = [];
  #isPumping = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(ratePerSecond: number, startMs: number, durationMs: number) {
    this.#intervalMs = 1000 / ratePerSecond;
    this.#startMs = startMs;
    this.#endMs = startMs + durationMs;
  }

  /** The next intended start, or NaN when the phase has no more. */
  claim(): number {
    const intendedMs = this.#startOf(this.#claimed);
    if (intendedMs >= this.#endMs) return Number.NaN;
    this.#claimed += 1;
    return intendedMs;
  }

  /** Gives back a claim whose operation was not started. */
  unclaim(): void {
    this.#claimed -= 1;
  }

  /** Operations that were due before `nowMs` and that nobody had time to start. */
  missedBefore(nowMs: number): number {
    const untilMs = Math.min(nowMs, this.#endMs);
    // The quotient is rounded: what counts as due must be what claim() would have handed out.
    let due = Math.max(0, Math.ceil((untilMs - this.#startMs) / this.#intervalMs));
    if (due > 0 && this.#startOf(due - 1) >= untilMs) due -= 1;
    else if (this.#startOf(due) < untilMs) due += 1;
    return Math.max(0, due - this.#claimed);
  }

  #startOf(index: number): number {
    return this.#startMs + index * this.#intervalMs;
  }

  /** Resolves at the intended start, never early, unless stop() comes first. */
  wait(intendedMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push({ atMs: intendedMs, wake: resolve });
      if (this.#isPumping) return;
      this.#isPumping = true;
      this.#schedule();
    });
  }

  /** Wakes every waiter at once. */
  stop(): void {
    clearTimeout(this.#timer);
    for (const waiter of this.#waiters.splice(0)) waiter.wake();
    this.#isPumping = false;
  }

  readonly #pump = (): void => {
    const nowMs = performance.now();
    let due = 0;
    while (due < this.#waiters.length && (this.#waiters[due]?.atMs ?? 0) <= nowMs) due += 1;
    for (const waiter of this.#waiters.splice(0, due)) waiter.wake();
    if (this.#waiters.length === 0) this.#isPumping = false;
    else this.#schedule();
  };

  #schedule(): void {
    const gapMs = (this.#waiters[0]?.atMs ?? 0) - performance.now();
    if (gapMs <= TIMER_MARGIN_MS) setImmediate(this.#pump);
    else this.#timer = setTimeout(this.#pump, Math.floor(gapMs - TIMER_MARGIN_MS / 2));
  }
}
