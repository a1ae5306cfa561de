// Tally: promises that are checked all along a run, counted apart from how fast it is.
// Owner: the run of a target. Invariants: counts are exact, examples are bounded.
// Not here: what is promised (tasks/ledger.ts, timers/timer_load.ts).
import type { Check } from './result.ts';

const VIOLATIONS_KEPT_MAX = 8;

export class Tally {
  readonly what: string;
  count = 0;
  violationCount = 0;
  readonly #violations: string[] = [];

  constructor(what: string) {
    this.what = what;
  }

  /** Counts a check; `describe` is called when it did not hold. */
  check(isHeld: boolean, describe: () => string): void {
    this.count++;
    if (!isHeld) this.violate(describe());
  }

  violate(text: string): void {
    this.violationCount++;
    if (this.#violations.length < VIOLATIONS_KEPT_MAX) this.#violations.push(text);
  }

  result(): Check {
    const { what, count, violationCount } = this;
    return { what, count, violationCount, violations: this.#violations };
  }
}
