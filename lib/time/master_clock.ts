// Master clock: monotonic time in shared memory, read without a system call.
// Owner: the process; the cell is moved forward by whoever enters a poller (native/base/clock.h).
// Invariants: never decreases, on any thread; a thread that learnt of an event from another never
// reads an earlier time than that event's. Staleness: at most the time since the last enter of any
// poller of the process; a thread that needs the present calls refresh().
// Not here: time budgets, which read the real clock.
import { advanceClockCell, clockCell } from '../backend/clock_cell.ts';

export class MasterClock {
  readonly #cell = clockCell();

  /** Nanoseconds since an arbitrary point (boot, on Linux); 0 before any poller was entered. */
  nowNs(): number {
    return this.#cell[0];
  }

  /** Milliseconds on the same scale, with fraction. */
  nowMs(): number {
    return this.#cell[0] / 1e6;
  }

  /** Moves the clock to the present and reads it: one system call. */
  refresh(): number {
    advanceClockCell();
    return this.#cell[0];
  }
}
