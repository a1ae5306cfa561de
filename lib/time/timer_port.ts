// TimerPort: what sleeps, timeouts and periodic work need of a timer wheel and its clock.
// Owner: none, types only. Not here: the wheel (timer_wheel.ts), who drives it (engine/).

/** nowMs(): real or virtual present; masterMs(): the same without a system call, a little behind.
 * */
export interface Clock {
  /** Milliseconds since an arbitrary point, with fraction; never decreases. */
  nowMs(): number;
  masterMs(): number;
}

export interface PortTarget {
  timerExpired(handle: number): void;
}

export interface TimerPort {
  readonly clock: Clock;
  /** Absolute time on `clock`; never early. @throws ERR_ENGINE_LIMIT */
  arm(deadlineMs: number, target: PortTarget): number;
  cancel(handle: number): boolean;
}
