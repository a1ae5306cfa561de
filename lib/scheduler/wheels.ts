// Wheels: the engines of one scheduler as far as time goes: when the next timer is due, and the
// phase in which those that are due fire.
// Owner: the scheduler. Invariants: an alarm is set while something is armed, by the park phase
// inside a turn and at once outside of one; nothing ticks otherwise (S-4).
// Not here: one wheel (engine/engine_timers.ts), when the phase comes (scheduler.ts).
import { EngineRegistry } from '../engine/engine_registry.ts';
import type { TimerHost } from '../engine/engine_timers.ts';
import type { Clock } from '../time/timer_port.ts';
import type { SchedulerHost } from './scheduler_host.ts';

/** Timers that fire in one turn at most, per engine; the rest wait for the next. */
const EXPIRED_MAX = 1000;

export class Wheels implements TimerHost {
  readonly clock: Clock;
  readonly engines: EngineRegistry;
  /** The park phase of the turn under way will set the alarm. */
  isInTurn = false;
  /** Timers fire: what happens now is their doing. Recordings tell it. */
  isExpiring = false;
  readonly #host: SchedulerHost;
  #activeCount = 0;

  constructor(host: SchedulerHost) {
    this.clock = host.clock;
    this.#host = host;
    this.engines = new EngineRegistry(this);
  }

  timerArmed(deadlineMs: number): void {
    if (!this.isInTurn) this.#host.setAlarm(deadlineMs);
  }

  timersActive(isActive: boolean): void {
    // Counted: an engine whose last timer is gone says nothing of the others.
    this.#activeCount += isActive ? 1 : -1;
    this.#host.keepAlive(this.#activeCount > 0);
  }

  nextDeadlineMs(): number {
    let nextMs = Infinity;
    for (const engine of this.engines) {
      nextMs = Math.min(nextMs, engine.activeTimers?.nextDeadlineMs() ?? Infinity);
    }
    return nextMs;
  }

  /** Fires what is due; `onFired` is told how many, once per engine. */
  expire(turnMs: number, onFired: (count: number) => void): void {
    for (const engine of this.engines) {
      const timers = engine.activeTimers;
      if (timers === undefined || timers.armedCount === 0) continue;
      // A poller may have been entered since the turn began.
      const nowMs = Math.max(turnMs, this.clock.masterMs());
      this.isExpiring = true;
      try {
        const count = timers.expire(nowMs, EXPIRED_MAX);
        if (count > 0) onFired(count);
      } finally {
        this.isExpiring = false;
      }
    }
  }
}
