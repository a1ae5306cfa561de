// TestClock: virtual time as a test runtime's tasks and its user see it.
// Owner: one test runtime. Invariants: starts at 0; moves from event to event, never while
// something is runnable, in the hands of the real backend, or reacting. It moves by itself only for
// what is under way (I/O, tasks that compute without a pause); timers make it move when `advance()`
// lets it or `autoAdvance` is on. Not here: the events themselves
// (backend/simulated/virtual_clock.ts).
import { VirtualClock, type VirtualEvent } from '../backend/simulated/virtual_clock.ts';
import type { DeadlineSource } from '../time/deadlines.ts';
import type { Clock } from '../time/timer_port.ts';
import { type Duration, parseDuration } from './duration.ts';

const NS_PER_MS = 1e6;
// Of one instant, before it counts as time.
const DUE_MAX = 1000;
// Last of its instant.
const LAST = Infinity;

export class TestClock implements Clock, DeadlineSource {
  /** @internal */
  readonly virtual = new VirtualClock();
  #dueAtNs = -1;
  #dueCount = 0;
  /** Timers make the clock move. @internal */
  isDrivenByTimers: boolean;

  /** @internal Made by createTestRuntime(). */
  constructor(isDrivenByTimers: boolean) {
    this.isDrivenByTimers = isDrivenByTimers;
  }

  /** Milliseconds of virtual time, from 0 on. */
  now(): number {
    return this.virtual.nowNs / NS_PER_MS;
  }

  /** @internal */
  nowMs(): number {
    return this.virtual.nowNs / NS_PER_MS;
  }

  /** @internal */
  masterMs(): number {
    return this.virtual.nowNs / NS_PER_MS;
  }

  /**
   * Lets time pass: a number of milliseconds, or '250ms', '5s', '10m', '3h', '13d'. Every timer on
   * the way fires at its time. Resolves when the time is there and what runs at it has run.
   * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE (at once)
   */
  advance(duration: Duration): Promise<void> {
    const durationMs = parseDuration('duration', duration);
    return new Promise((resolve) => {
      this.virtual.schedule(durationMs * NS_PER_MS, LAST, () => this.#settle(resolve));
    });
  }

  /** What waits for the tasks of this instant gets its microtasks before the clock goes on. */
  #settle(resolve: () => void): void {
    this.virtual.hold();
    setImmediate(() => {
      this.virtual.release();
      resolve();
    });
  }

  /** Calls `call` when that time has come; returns a function that prevents it. @internal */
  after(delayMs: number, call: () => void): () => void {
    const event = this.at(this.now() + delayMs, call);
    return () => this.virtual.cancel(event);
  }

  /** What is due already does not wait for the clock to move. @internal */
  at(timeMs: number, call: () => void): VirtualEvent {
    const { virtual } = this;
    // Never early, though the product is rounded.
    const delayNs = Math.ceil(timeMs * NS_PER_MS - virtual.nowNs);
    if (delayNs <= 0) return virtual.schedule(this.#isDueForever() ? 1 : 0, 0, call);
    if (this.isDrivenByTimers) return virtual.schedule(delayNs, 0, call);
    return virtual.scheduleIdle(delayNs, 0, call);
  }

  /** Somebody arms what is due again and again: time must go on. */
  #isDueForever(): boolean {
    const { nowNs } = this.virtual;
    this.#dueCount = nowNs === this.#dueAtNs ? this.#dueCount + 1 : 0;
    this.#dueAtNs = nowNs;
    return this.#dueCount > DUE_MAX;
  }
}
