// Suspension: what a task body yields, and the budget that tells it when to.
// Owner: one thread. A suspension is an iterator that `yield*` drives and at the same time the
// result that reaches the scheduler: a generator hands the result object of `yield*` through
// unchanged, so no object is made for it, and a bare `yield x` is told apart (it is not one of
// these). Invariants: only the scheduler refills the budget; the body never sees a suspension
// (seed 1, 3.3 and S-18).
// Not here: what is waited for (operation.ts), who refills (scheduler/).

/** What the scheduler knows of a wait: its identity, and how to have it stopped (seed 1, 3.2). */
export interface Waitable {
  readonly isSettled: boolean;
  /** May settle it at once, later, or not at all where the target was faster. */
  cancel(reason?: unknown): void;
  /** For dumps: 'sleep 10 ms', 'join of load #7'. */
  describeWait(): string;
}

/**
 * What a body may yield, always through `yield*`; its type is what refuses a bare `yield`. Not a base
 * class: V8 (Node 20) inlines no constructor with a super() call, 30 ns for each.
 */
export interface Suspension {
  // The result object of a `yield*` is the suspension itself.
  readonly done: false;
  readonly value: Suspension;
  /** What must settle before the body goes on; undefined: only the budget was spent. */
  readonly waitable: Waitable | undefined;
  readonly isSuspension: true;
}

/** Whether a generator's result is a suspension that came through `yield*`. */
export function isSuspension(result: { value?: unknown }): result is Suspension {
  // `yield x` makes a result object of its own around x.
  return result.value === result && (result as Suspension).isSuspension === true;
}

/** A small integer, as all counts here: a double in a field is an object of its own. */
export const UNBOUNDED = 2 ** 30;

/**
 * What is left to the running task: reductions (S-6), and steps until somebody should look at the
 * real clock. Counting alone let a peer's 1 ms timer fire after 1.8 s behind busy tasks; reading
 * the clock at each step costs 40 to 120 ns, so it is read every few dozen.
 */
export const budget = {
  /** Below 1: the running body gives way at its next safe point (S-7). */
  reductionsLeft: UNBOUNDED,
  /** Slices until somebody looks at the clock. */
  stepsToClock: UNBOUNDED,
  /** Safe points of this slice until its body does. */
  checksToClock: UNBOUNDED,
  /** The same at the start of each slice. */
  checksAtStart: UNBOUNDED,
  /** Reads the clock, sets what is above, and clears reductionsLeft when the time is over. */
  readClock: (): void => {},
};

/** Charges the running task; true when it should give way. */
export function chargeReductions(cost: number): boolean {
  budget.reductionsLeft -= cost;
  if (budget.reductionsLeft <= 0) return true;
  if (--budget.checksToClock <= 0) budget.readClock();
  return budget.reductionsLeft <= 0;
}

/**
 * Where a body was when it was cancelled, and where it is now: a body that survives its
 * cancellation (`finally { continue }`) is at the very same `yield*` again. Undefined, and free,
 * except while a cancelled body runs.
 */
export const unwinding: { trace: UnwindTrace | undefined } = { trace: undefined };

export interface UnwindTrace {
  /** Called from inside return() of the suspension that the body was at. */
  left(below: (...given: never[]) => unknown): void;
  /** Called from inside next() of a suspension that the body comes to. */
  arrived(below: (...given: never[]) => unknown): void;
}
