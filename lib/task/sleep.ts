// Sleep: operations that wait for time. Owner: the task or caller; armed in the timer wheel of the
// running task's engine. Invariants: never early; cancelled at once.
// Not here: wheels (time/), timeouts of others (structured/).
import { AbortError, invalidArgType, outOfRange } from '../base/errors.ts';
import { Operation } from '../base/operation.ts';
import { ownOperation } from '../base/operation_owner.ts';
import type { TimerPort } from '../time/timer_port.ts';
import { currentTask } from './current.ts';
import { currentSink } from './thread_tasks.ts';

/** The timers of the running task's engine. @throws ERR_ENGINE_NO_TIMER_WHEEL */
export function currentTimers(): TimerPort {
  return (currentTask()?.engine ?? currentSink().defaultEngine).timers();
}

/** @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE */
export function checkDelay(name: string, value: unknown): number {
  if (typeof value !== 'number') throw invalidArgType(name, 'of type number', value);
  if (!(value >= 0)) throw outOfRange(name, '>= 0 milliseconds', value);
  return value;
}

// Instead of a delay.
const UNTIL_A_TIME = -1;

class SleepOperation extends Operation<void> {
  readonly #timers: TimerPort;
  readonly #delayMs: number;
  readonly #handle: number;

  constructor(timers: TimerPort, deadlineMs: number, delayMs: number) {
    super();
    this.#timers = timers;
    this.#delayMs = delayMs;
    // First: it may be refused, and then nobody owns anything.
    this.#handle = timers.arm(deadlineMs, this);
    ownOperation(this);
  }

  timerExpired(): void {
    this.fulfill(undefined);
  }

  override cancel(reason?: unknown): void {
    if (this.isSettled) return;
    this.#timers.cancel(this.#handle);
    this.reject(new AbortError(reason));
  }

  override describeWait(): string {
    // Not what is left until a given time: a replay would have another.
    return this.#delayMs === UNTIL_A_TIME ? 'sleep until a time' : `sleep ${this.#delayMs} ms`;
  }
}

/**
 * Waits at least `delayMs` milliseconds (0 up; fractions count; Infinity: until cancelled), on the
 * engine's timer wheel: at most a tick longer than asked when the thread is free.
 * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_ENGINE_NO_TIMER_WHEEL, ERR_ENGINE_LIMIT
 */
export function sleep(delayMs: number): Operation<void> {
  checkDelay('delayMs', delayMs);
  const timers = currentTimers();
  return new SleepOperation(timers, timers.clock.nowMs() + delayMs, delayMs);
}

/** Waits until that time of the runtime's clock (`rt.clock.now()`); in the past: not at all. */
export function sleepUntil(timeMs: number): Operation<void> {
  if (typeof timeMs !== 'number') throw invalidArgType('timeMs', 'of type number', timeMs);
  if (Number.isNaN(timeMs)) throw outOfRange('timeMs', 'a number', timeMs);
  return new SleepOperation(currentTimers(), timeMs, UNTIL_A_TIME);
}
