// RuntimeClock: the real clock, and the master clock on the same scale.
// Owner: none, stateless but for the offset of the two. Invariants: nowMs() is never stale, so a
// timer armed by it is never early; masterMs() costs no system call and is as fresh as the last
// enter of a poller. Not here: virtual time (backend/simulated/virtual_clock.ts).
import { MasterClock } from './master_clock.ts';
import type { Clock } from './timer_port.ts';

export class RuntimeClock implements Clock {
  readonly #master = new MasterClock();
  // Both count the nanoseconds of one monotonic clock, from different points.
  readonly #offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

  /** Milliseconds of `performance.now()`, read from the system. */
  nowMs(): number {
    return performance.now();
  }

  /** The present as the pollers have last seen it; negative before any was entered. */
  masterMs(): number {
    return this.#master.nowMs() - this.#offsetMs;
  }
}
