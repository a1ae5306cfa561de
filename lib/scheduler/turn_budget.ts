// TurnBudget: how long a turn and the slices in it may take, in reductions and in real time.
// Owner: one scheduler. Invariants: the clock is read about every CLOCK_INTERVAL_MS however fast or
// slow the steps are (reading it costs 40 to 120 ns, a step 50); a turn ends after TURN_MS, so that
// libuv, microtasks and other schedulers get theirs.
// Not here: what runs (scheduler.ts).
import { budget, UNBOUNDED } from '../base/suspension.ts';
import type { Clock } from '../time/timer_port.ts';

/** The longest that libuv and microtasks wait for their turn. */
export const TURN_MS = 1;
/** Length of a tick of ages. */
export const TICK_MS = 1000 / 64;
// A tenth of a turn: a task is preempted at most so late.
const CLOCK_INTERVAL_MS = 0.1;
// "Every few dozen": steps that were fast may become slow, and the first slow ones run unseen.
const STEPS_MAX = 32;
// In each slice sooner: a body that is slower than the ones before it is seen at its fourth safe
// point. (With 32 the first of four equal ones got three times the time of the others.)
const FIRST_CHECKS = 4;

export class TurnBudget {
  /** The clock as it was last read. */
  nowMs: number;
  /** In 1/64 s, for the ages of tasks. */
  nowTicks: number;
  isSpent = false;
  /** Of the slice that ended because the time was over. */
  unusedReductions = 0;
  readonly #clock: Clock;
  readonly #onRead: (elapsedMs: number) => void;
  #endMs = 0;
  #steps = STEPS_MAX;
  readonly #readClock = (): void => this.readClock();

  constructor(clock: Clock, onRead: (elapsedMs: number) => void) {
    this.#clock = clock;
    this.#onRead = onRead;
    this.nowMs = clock.nowMs();
    this.nowTicks = Math.floor(this.nowMs / TICK_MS);
  }

  beginTurn(): void {
    this.nowMs = this.#clock.nowMs();
    this.nowTicks = Math.floor(this.nowMs / TICK_MS);
    this.#endMs = this.nowMs + TURN_MS;
    this.isSpent = false;
    budget.readClock = this.#readClock;
    this.#setSteps();
  }

  endTurn(): void {
    budget.reductionsLeft = UNBOUNDED;
    budget.stepsToClock = UNBOUNDED;
    budget.checksToClock = UNBOUNDED;
  }

  #setSteps(): void {
    budget.stepsToClock = this.#steps;
    budget.checksAtStart = Math.min(FIRST_CHECKS, this.#steps);
  }

  /** Looks at the real clock, and adapts how soon to look again. */
  readClock(): void {
    const nowMs = this.#clock.nowMs();
    const elapsedMs = nowMs - this.nowMs;
    this.nowMs = nowMs;
    if (elapsedMs > CLOCK_INTERVAL_MS) {
      const fitting = Math.floor((this.#steps * CLOCK_INTERVAL_MS) / elapsedMs);
      this.#steps = Math.max(1, fitting);
    } else if (this.#steps < STEPS_MAX) {
      this.#steps = Math.min(STEPS_MAX, this.#steps * 2);
    }
    this.#setSteps();
    budget.checksToClock = this.#steps;
    this.#onRead(elapsedMs);
    if (nowMs < this.#endMs) return;
    this.isSpent = true;
    this.unusedReductions = Math.max(0, budget.reductionsLeft);
    budget.reductionsLeft = 0;
  }
}
