// The result of a target that runs one subject, the library, and has checks instead of bytes.
// Flow: counts of the run -> [buildLoadResult] -> report, JSON
// Owner: nobody; a pure function but for the reading of the machine. Invariants: a violated check
// fails the run, whatever --fail-if says. Not here: files (result.ts).
import { readMachine } from '../host/machine.ts';
import type { StopReason } from '../load/stop_control.ts';
import type { Condition } from './fail_if.ts';
import {
  type Check,
  checkConditions,
  type LoadResult,
  type Measured,
  peakRssMiB,
  subjectResult,
} from './result.ts';

export interface LoadOutcome {
  readonly name: string;
  readonly startedAt: Date;
  readonly measured: Measured;
  readonly checks: readonly Check[];
  readonly conditions: readonly Condition[];
  /** What was asked for, as JSON. */
  readonly options: LoadResult['options'];
  readonly stopped: StopReason | null;
}

export function buildLoadResult(outcome: LoadOutcome): LoadResult {
  const { measured, checks } = outcome;
  const subject = subjectResult(measured, false, checks);
  const conditions = checkConditions(outcome.conditions, subject, null);
  return {
    name: outcome.name,
    startedAt: outcome.startedAt.toISOString(),
    environment: { ...readMachine(), peakRssMiB: peakRssMiB() },
    options: outcome.options,
    subjects: [subject],
    ratio: null,
    finalCheck: null,
    conditions,
    stopped: outcome.stopped,
    isFailed:
      checks.some(({ violationCount }) => violationCount > 0) ||
      conditions.some((condition) => condition.isFailed) ||
      outcome.stopped === 'failures' ||
      subject.unfinished > 0,
  };
}
