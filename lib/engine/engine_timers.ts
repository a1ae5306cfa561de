// EngineTimers: the timer wheel of one engine on one worker, as tasks use it (TimerPort).
// Owner: its engine. Invariants: the wheel exists from the first timer on; while something is armed
// the host keeps the process alive and an alarm set, and nothing ticks otherwise (S-4).
// Not here: the wheel (time/timer_wheel.ts), when it is advanced (scheduler/).
import { NephriteError } from '../base/errors.ts';
import type { Clock, TimerPort } from '../time/timer_port.ts';
import { type TimerTarget, TimerWheel } from '../time/timer_wheel.ts';

/** The scheduler, as its timers see it. */
export interface TimerHost {
  readonly clock: Clock;
  /** Something is armed for then; look at it when the time has come. */
  timerArmed(deadlineMs: number): void;
  /** The first timer was armed, or the last one is gone. */
  timersActive(isActive: boolean): void;
}

export class EngineTimers implements TimerPort {
  readonly clock: Clock;
  readonly #host: TimerHost;
  readonly #tickMs: number;
  /** Changed by an update of the engine. */
  timersMax: number;
  readonly #engineId: string;
  #wheel: TimerWheel | undefined;
  #isActive = false;

  constructor(host: TimerHost, engineId: string, tickMs: number, timersMax: number) {
    this.#host = host;
    this.clock = host.clock;
    this.#engineId = engineId;
    this.#tickMs = tickMs;
    this.timersMax = timersMax;
  }

  get armedCount(): number {
    return this.#wheel?.armedCount ?? 0;
  }

  arm(deadlineMs: number, target: TimerTarget): number {
    let wheel = this.#wheel;
    if (wheel === undefined) {
      wheel = new TimerWheel({ tickMs: this.#tickMs, nowMs: this.clock.nowMs() });
      this.#wheel = wheel;
    }
    if (wheel.armedCount >= this.timersMax) {
      const text = `engine "${this.#engineId}" has ${this.timersMax} timers armed, its limit`;
      throw new NephriteError('ERR_ENGINE_LIMIT', text);
    }
    const handle = wheel.arm(deadlineMs, target);
    if (!this.#isActive) this.#setActive(wheel.armedCount > 0);
    this.#host.timerArmed(deadlineMs);
    return handle;
  }

  cancel(handle: number): boolean {
    const wheel = this.#wheel;
    if (wheel === undefined) return false;
    const isCancelled = wheel.cancel(handle);
    if (this.#isActive && wheel.armedCount === 0) this.#setActive(false);
    return isCancelled;
  }

  /** Fires at most `countMax` timers that are due; returns how many. */
  expire(nowMs: number, countMax: number): number {
    const wheel = this.#wheel;
    if (wheel === undefined || wheel.armedCount === 0) return 0;
    try {
      return wheel.advance(nowMs, countMax);
    } finally {
      if (this.#isActive && wheel.armedCount === 0) this.#setActive(false);
    }
  }

  nextDeadlineMs(): number {
    return this.#wheel?.nextDeadlineMs() ?? Infinity;
  }

  #setActive(isActive: boolean): void {
    if (isActive === this.#isActive) return;
    this.#isActive = isActive;
    this.#host.timersActive(isActive);
  }
}
