// The result of a run: one plain object that is the JSON, and that all reports are made from.
// Flow: contestants' counts -> [result] -> report/text.ts, report/html.ts, JSON
// Owner: the run. Invariants: what was not measured is null, never zero; times are microseconds
// unless the name says otherwise; fields are only added between releases.
// Not here: printing.
import type { FileSystemFacts } from '../host/file_system.ts';
import type { MachineFacts } from '../host/machine.ts';
import type { Contestant } from '../load/contestant.ts';
import type { FinalCheck } from '../load/final_check.ts';
import {
  type DistributionPoint,
  distributionOf,
  type LatencyUs,
  summarize,
} from '../load/latency.ts';
import type { ErrorCount, Mismatch, Sample } from '../load/recorder.ts';
import type { StopReason } from '../load/stop_control.ts';
import { type ConditionOutcome, evaluate, type Figures, parseCondition } from './fail_if.ts';
import { dataSetBytes, type StressOptions } from './options.ts';

/** What one subject did. */
export interface SubjectResult {
  readonly subject: string;
  readonly backend: string;
  readonly backendReason: string;
  readonly operations: number;
  readonly operationsByKind: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly elapsedMs: number;
  readonly opsPerSecond: { readonly min: number; readonly median: number; readonly max: number };
  readonly roundsOpsPerSecond: readonly number[];
  readonly mibPerSecond: number;
  /** Open loop: from the intended start. Closed loop: from the actual one. */
  readonly latencyUs: LatencyUs | null;
  readonly cpuUsPerOperation: number | null;
  readonly systemCallsPerOperation: number | null;
  readonly contextSwitchesPerOperation: number | null;
  readonly errors: {
    readonly total: number;
    readonly byCode: Readonly<Record<string, ErrorCount>>;
  };
  /** Null when reads are not checked. */
  readonly verified: {
    readonly bytes: number;
    readonly mismatchCount: number;
    readonly mismatches: readonly Mismatch[];
  } | null;
  /** Open loop: operations due that nobody had time to start; null in a closed loop. */
  readonly notStarted: number | null;
  /** Operations that never completed. */
  readonly unfinished: number;
  readonly samples: readonly Sample[];
  readonly latencyDistribution: readonly DistributionPoint[];
}

/** A whole run. */
export interface StressResult {
  readonly name: 'stress files';
  readonly startedAt: string;
  readonly environment: MachineFacts & {
    readonly fileSystem: FileSystemFacts;
    readonly peakRssMiB: number;
  };
  readonly options: Readonly<Record<string, string | number | boolean | null>>;
  readonly subjects: readonly SubjectResult[];
  /** Median rate of the first subject divided by the peer's; null without a peer. */
  readonly ratio: number | null;
  readonly finalCheck: FinalCheck | null;
  readonly conditions: readonly ConditionOutcome[];
  /** Why the run ended before its time, or null. */
  readonly stopped: StopReason | null;
  readonly isFailed: boolean;
}

/** What the run hands over. */
export interface RunOutcome {
  readonly startedAt: Date;
  readonly machine: MachineFacts;
  readonly fileSystem: FileSystemFacts;
  readonly contestants: readonly Contestant[];
  readonly finalCheck: FinalCheck | null;
  readonly stopped: StopReason | null;
}

/** Turns counts into the result, and decides whether the run failed. */
export function buildResult(options: StressOptions, outcome: RunOutcome): StressResult {
  const subjects = outcome.contestants.map((contestant) => subjectResult(contestant, options));
  const [first, peer] = subjects;
  const ratio =
    first === undefined || peer === undefined || peer.opsPerSecond.median === 0
      ? null
      : first.opsPerSecond.median / peer.opsPerSecond.median;
  const conditions = first === undefined ? [] : checkConditions(options, first, ratio);
  const hasMismatch =
    (outcome.finalCheck?.mismatchCount ?? 0) > 0 ||
    subjects.some(({ verified }) => (verified?.mismatchCount ?? 0) > 0);
  const isFailed =
    hasMismatch ||
    conditions.some((condition) => condition.isFailed) ||
    outcome.stopped === 'failures' ||
    subjects.some(({ unfinished }) => unfinished > 0);
  return {
    name: 'stress files',
    startedAt: outcome.startedAt.toISOString(),
    environment: {
      ...outcome.machine,
      fileSystem: outcome.fileSystem,
      peakRssMiB: process.resourceUsage().maxRSS / 1024,
    },
    options: plainOptions(options),
    subjects,
    ratio,
    finalCheck: outcome.finalCheck,
    conditions,
    stopped: outcome.stopped,
    isFailed,
  };
}

function subjectResult(contestant: Contestant, options: StressOptions): SubjectResult {
  const { recorder, totals } = contestant;
  const { operations, bytes, elapsedMs } = recorder;
  const perOperation = (total: number | null): number | null =>
    total === null || operations === 0 ? null : total / operations;
  return {
    subject: contestant.name,
    backend: contestant.backend,
    backendReason: contestant.why,
    operations,
    operationsByKind: recorder.operationsByKind(),
    bytes,
    elapsedMs,
    opsPerSecond: spread(totals.roundRates),
    roundsOpsPerSecond: totals.roundRates,
    mibPerSecond: elapsedMs === 0 ? 0 : bytes / 2 ** 20 / (elapsedMs / 1e3),
    latencyUs: summarize(recorder.total),
    cpuUsPerOperation: perOperation(totals.cpuUs),
    systemCallsPerOperation: perOperation(totals.systemCalls),
    contextSwitchesPerOperation: perOperation(totals.contextSwitches),
    errors: { total: recorder.errors, byCode: Object.fromEntries(recorder.errorsByCode) },
    verified: contestant.isVerified
      ? {
          bytes: recorder.verifiedBytes,
          mismatchCount: recorder.mismatchCount,
          mismatches: recorder.mismatches,
        }
      : null,
    notStarted: options.ratePerSecond === null ? null : totals.notStarted,
    unfinished: totals.unfinished,
    samples: recorder.samples,
    latencyDistribution: distributionOf(recorder.total),
  };
}

/** Without a condition of the user's own on errors, any error fails the run. */
function checkConditions(
  options: StressOptions,
  first: SubjectResult,
  ratio: number | null,
): ConditionOutcome[] {
  const isErrorsNamed = options.conditions.some(({ metric }) => metric === 'errors');
  const conditions = isErrorsNamed
    ? options.conditions
    : [...options.conditions, parseCondition('errors>0')];
  const figures: Figures = {
    ops: first.opsPerSecond.median,
    mib: first.mibPerSecond,
    errors: first.errors.total,
    p50: first.latencyUs?.p50 ?? null,
    p90: first.latencyUs?.p90 ?? null,
    p99: first.latencyUs?.p99 ?? null,
    'p99.9': first.latencyUs?.['p99.9'] ?? null,
    'p99.99': first.latencyUs?.['p99.99'] ?? null,
    max: first.latencyUs?.max ?? null,
    mean: first.latencyUs?.mean ?? null,
    cpu: first.cpuUsPerOperation,
    syscalls: first.systemCallsPerOperation,
    ratio,
  };
  return conditions.map((condition) => evaluate(condition, figures));
}

/** Options as JSON, conditions and output files left out: they do not change what was measured. */
function plainOptions(options: StressOptions): StressResult['options'] {
  const { conditions, jsonPath, htmlPath, isQuiet, ...measured } = options;
  return { ...measured, sizeBytes: dataSetBytes(options) };
}

function spread(values: readonly number[]): SubjectResult['opsPerSecond'] {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  const lower = sorted[Math.max(0, sorted.length - 1 - middle)] ?? 0;
  return { min: sorted[0] ?? 0, median: (lower + upper) / 2, max: sorted.at(-1) ?? 0 };
}
