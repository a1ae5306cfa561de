// Alarm: one Node timer per thread that wakes any number of clients (timer wheels).
// Owner: one thread. Invariants: a client is called only when its deadline has passed on the real
// clock (libuv's cached time can be ahead, so Node's timers can be early); right beyond 2^31 ms,
// where setTimeout would fire at once; no timer is set for a client that has nothing armed.
// A timer that is early, because what it was set for was cancelled, is left alone: it looks again,
// so that one re-arm serves many cancels. Not here: what is due (timer_wheel.ts), virtual clocks.
import { invariant } from '../base/assert.ts';

/** Milliseconds are those of `performance.now()`. */
export interface AlarmClient {
  /** A lower bound of the time at which to be called; Infinity: never. */
  nextDeadlineMs(): number;
  /** Called at or after `nextDeadlineMs()`, `nowMs` being the present. */
  alarmExpired(nowMs: number): void;
}

// Node's timers hold 31 bits; longer waits are re-armed.
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Alarm {
  readonly #clients = new Set<AlarmClient>();
  readonly #onTimer = (): void => this.#expire();
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Infinity;
  #refCount = 0;

  /** Clients are called in the order in which they were attached. */
  attach(client: AlarmClient): void {
    this.#clients.add(client);
    this.rearm(client);
  }

  detach(client: AlarmClient): void {
    this.#clients.delete(client);
  }

  /** The client's deadline may have come nearer. */
  rearm(client: AlarmClient): void {
    if (this.#clients.has(client)) this.#setFor(client.nextDeadlineMs());
  }

  /**
   * Counted: the process is kept alive while there is one and a timer is set. Clients say it of
   * their timers; those that are not referenced wake a process that lives for other reasons.
   */
  ref(): void {
    if (this.#refCount++ === 0) this.#timer?.ref();
  }

  unref(): void {
    invariant(this.#refCount > 0, 'an alarm is released as often as it was referenced');
    if (--this.#refCount === 0) this.#timer?.unref();
  }

  #setFor(deadlineMs: number): void {
    if (deadlineMs >= this.#timerAtMs) return;
    const nowMs = performance.now();
    clearTimeout(this.#timer);
    const delayMs = Math.min(Math.max(Math.ceil(deadlineMs - nowMs), 1), TIMER_MS_MAX);
    this.#timerAtMs = nowMs + delayMs;
    this.#timer = setTimeout(this.#onTimer, delayMs);
    if (this.#refCount === 0) this.#timer.unref();
  }

  #expire(): void {
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
    const nowMs = performance.now();
    try {
      for (const client of this.#clients) {
        if (client.nextDeadlineMs() <= nowMs) client.alarmExpired(nowMs);
      }
    } finally {
      // Also when one of them throws: the others have not expired for nothing.
      for (const client of this.#clients) this.#setFor(client.nextDeadlineMs());
    }
  }
}

/** The alarm of this thread. */
export const alarm = new Alarm();
