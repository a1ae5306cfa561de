// ReplayClock: the time of a replay, which is that of the record.
// Owner: one replaying runtime. Invariants: never decreases; never reaches a timer before the
// record says that it has fired. Not here: the clock of the simulated I/O, which only orders it.
import { NephriteError } from '../base/errors.ts';
import { TestClock } from './test_clock.ts';

// Below the tick of every wheel.
const JUST_BEFORE_MS = 1e-3;

export class ReplayClock extends TestClock {
  #nowMs: number;

  constructor(startMs: number) {
    super(false);
    this.#nowMs = startMs;
  }

  override now(): number {
    return this.#nowMs;
  }

  override nowMs(): number {
    return this.#nowMs;
  }

  override masterMs(): number {
    return this.#nowMs;
  }

  /** It is that time in the record; `deadlineMs`: of the next timer. */
  follow(atMs: number, deadlineMs: number): void {
    const timeMs = Math.min(atMs, deadlineMs - JUST_BEFORE_MS);
    if (timeMs > this.#nowMs) this.#nowMs = timeMs;
  }

  /** Lets the next timer fire. */
  reach(deadlineMs: number): void {
    if (deadlineMs > this.#nowMs) this.#nowMs = deadlineMs;
  }

  override advance(): Promise<void> {
    const text = 'the time of a replayed run comes from its recording';
    return Promise.reject(new NephriteError('ERR_INVALID_STATE', text));
  }
}
