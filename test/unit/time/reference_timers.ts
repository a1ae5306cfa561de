// Reference timers: the contract of TimerWheel over a sorted array, to compare the wheel with.
// Owner: one test. Invariants: no digits, no levels, nothing shared with the wheel but its words.
// Not here: bounds on what one advance moves, which an array has no need of.
import type { TimerTarget } from '../../../lib/time/timer_wheel.ts';

/** What both have in common. */
export interface Timers {
  arm(deadlineMs: number, target: TimerTarget): number;
  cancel(handle: number): boolean;
  advance(nowMs: number, fireCountMax: number): number;
  nextDeadlineMs(): number;
  clear(): void;
  readonly armedCount: number;
}

interface Entry {
  readonly handle: number;
  readonly tick: number;
  readonly target: TimerTarget;
}

// The remainder is exact, a quotient is not.
function tickAfter(timeMs: number, tickMs: number): number {
  const restMs = timeMs % tickMs;
  return Math.round((timeMs - restMs) / tickMs) + (restMs > 0 ? 1 : 0);
}

function tickBefore(timeMs: number, tickMs: number): number {
  return Math.round((timeMs - (timeMs % tickMs)) / tickMs);
}

export class ReferenceTimers implements Timers {
  readonly #tickMs: number;
  /** By tick, then in the order of arming. */
  #ahead: Entry[] = [];
  #due: Entry[] = [];
  #nextDue: Entry[] = [];
  #nextTick: number;
  #armed = 0;

  constructor(nowMs: number, tickMs: number) {
    this.#tickMs = tickMs;
    this.#nextTick = tickBefore(nowMs, tickMs) + 1;
  }

  get armedCount(): number {
    return this.#ahead.length + this.#due.length + this.#nextDue.length;
  }

  arm(deadlineMs: number, target: TimerTarget): number {
    if (deadlineMs === Infinity) return -1;
    const tick = tickAfter(deadlineMs, this.#tickMs);
    if (tick >= Number.MAX_SAFE_INTEGER) return -1;
    const entry = { handle: this.#armed++, tick, target };
    if (tick < this.#nextTick) this.#nextDue.push(entry);
    else {
      const after = this.#ahead.findIndex((other) => other.tick > tick);
      this.#ahead.splice(after < 0 ? this.#ahead.length : after, 0, entry);
    }
    return entry.handle;
  }

  cancel(handle: number): boolean {
    const before = this.armedCount;
    const isOther = (entry: Entry): boolean => entry.handle !== handle;
    this.#ahead = this.#ahead.filter(isOther);
    this.#due = this.#due.filter(isOther);
    this.#nextDue = this.#nextDue.filter(isOther);
    return this.armedCount < before;
  }

  advance(nowMs: number, fireCountMax: number): number {
    const endTick = tickBefore(nowMs, this.#tickMs);
    this.#due.push(...this.#nextDue);
    this.#nextDue = [];
    for (let firedCount = 0; ; ) {
      for (let entry = this.#due[0]; entry !== undefined; entry = this.#due[0]) {
        if (firedCount === fireCountMax) return firedCount;
        firedCount++;
        this.#due.shift();
        entry.target.timerExpired(entry.handle);
      }
      const first = this.#ahead[0];
      if (first === undefined || first.tick > endTick) {
        this.#nextTick = Math.max(this.#nextTick, endTick + 1);
        return firedCount;
      }
      this.#nextTick = first.tick + 1;
      while (this.#ahead[0]?.tick === first.tick) this.#due.push(this.#ahead.shift() as Entry);
    }
  }

  /** Exact, where the wheel's may be a lower bound. */
  nextDeadlineMs(): number {
    if (this.#due.length + this.#nextDue.length > 0) return (this.#nextTick - 1) * this.#tickMs;
    return this.#ahead[0] === undefined ? Infinity : this.#ahead[0].tick * this.#tickMs;
  }

  clear(): void {
    this.#ahead = [];
    this.#due = [];
    this.#nextDue = [];
  }
}
