// Deadlines: one-shot timers for operations, on a wheel of the thread's own.
// Owner: one thread. Invariants: never early, on the real clock; right at any distance; O(1) to arm
// and to cancel; an armed deadline keeps the process alive, and nothing ticks when none is.
// Not here: sleeping tasks (a wheel per engine), what wakes the thread (alarm.ts).
import { type AlarmClient, alarm } from './alarm.ts';
import { NEVER_HANDLE, type TimerTarget, TimerWheel } from './timer_wheel.ts';

// Per turn of the event loop; the rest comes a millisecond later.
const FIRE_COUNT_MAX = 4096;

/** What `cancelDeadline` takes. */
export class Deadline implements TimerTarget {
  readonly #onExpired: () => void;
  /** Of the wheel; NEVER_HANDLE when it will not expire. */
  handle = NEVER_HANDLE;
  /** Of a deadline from another source. */
  stop: (() => void) | undefined = undefined;

  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  timerExpired(): void {
    this.handle = NEVER_HANDLE;
    alarm.unref();
    this.#onExpired();
  }
}

class DeadlineWheel implements AlarmClient {
  readonly wheel = new TimerWheel({ nowMs: performance.now() });

  nextDeadlineMs(): number {
    return this.wheel.nextDeadlineMs();
  }

  alarmExpired(nowMs: number): void {
    this.wheel.advance(nowMs, FIRE_COUNT_MAX);
  }
}

/** Where deadlines come from in place of the real clock: the virtual one of a test runtime. */
export interface DeadlineSource {
  /** Calls `call` once, `delayMs` from now; returns a function that prevents it. */
  after(delayMs: number, call: () => void): () => void;
}

let source: DeadlineSource | undefined;

/** Makes another source this thread's until it is called again; returns the one before. */
export function exchangeDeadlineSource(
  other: DeadlineSource | undefined,
): DeadlineSource | undefined {
  const before = source;
  source = other;
  return before;
}

// Made at the first deadline.
let deadlines: DeadlineWheel | undefined;

function startDeadlines(): DeadlineWheel {
  const started = new DeadlineWheel();
  alarm.attach(started);
  return started;
}

/**
 * Calls `onExpired` once, `delayMs` from now or later. Infinity never expires.
 * @throws ERR_ENGINE_LIMIT beyond 2^24 deadlines
 */
export function armDeadline(delayMs: number, onExpired: () => void): Deadline {
  const deadline = new Deadline(onExpired);
  if (delayMs === Infinity) return deadline;
  if (source !== undefined) {
    deadline.stop = source.after(delayMs, onExpired);
    return deadline;
  }
  deadlines ??= startDeadlines();
  const { wheel } = deadlines;
  const nowMs = performance.now();
  // A wheel that stood still would put a near deadline at a far level.
  if (wheel.armedCount === 0) wheel.advance(nowMs, 0);
  deadline.handle = wheel.arm(nowMs + delayMs, deadline);
  if (deadline.handle === NEVER_HANDLE) return deadline;
  alarm.ref();
  alarm.rearm(deadlines);
  return deadline;
}

/** No effect when it has expired or was cancelled. */
export function cancelDeadline(deadline: Deadline): void {
  deadline.stop?.();
  if (deadline.handle === NEVER_HANDLE) return;
  deadlines?.wheel.cancel(deadline.handle);
  deadline.handle = NEVER_HANDLE;
  alarm.unref();
}

/** Armed deadlines of this thread. */
export function deadlineCount(): number {
  return deadlines?.wheel.armedCount ?? 0;
}
