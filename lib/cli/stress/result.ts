// The result of a run: one plain object that is the JSON, and that all reports are made from. What
// all targets have is LoadResult.
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
import {
  type Condition,
  type ConditionOutcome,
  evaluate,
  type Figures,
  parseCondition,
} from './fail_if.ts';
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
  /** Null when reads are not checked; bytes of files. */
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
  /** What was proved beside the bytes; empty for files. */
  readonly checks: readonly Check[];
}

/** One promise of the library that was checked all along. */
export interface Check {
  readonly what: string;
  /** How many times it was checked. */
  readonly count: number;
  readonly violationCount: number;
  /** The first few, in words. */
  readonly violations: readonly string[];
}

/** A run of any target. */
export interface LoadResult {
  readonly name: string;
  readonly startedAt: string;
  readonly environment: MachineFacts & { readonly peakRssMiB: number };
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

/** A run of `stress files`. */
export interface StressResult extends LoadResult {
  readonly name: 'stress files';
  readonly environment: LoadResult['environment'] & { readonly fileSystem: FileSystemFacts };
}

/** What a subject's result is made from. */
export type Measured = Pick<
  Contestant,
  'name' | 'backend' | 'why' | 'recorder' | 'totals' | 'isVerified'
>;

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
  const isOpenLoop = options.ratePerSecond !== null;
  const subjects = outcome.contestants.map((contestant) => subjectResult(contestant, isOpenLoop));
  const [first, peer] = subjects;
  const ratio =
    first === undefined || peer === undefined || peer.opsPerSecond.median === 0
      ? null
      : first.opsPerSecond.median / peer.opsPerSecond.median;
  const conditions = first === undefined ? [] : checkConditions(options.conditions, first, ratio);
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
      peakRssMiB: peakRssMiB(),
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

export function peakRssMiB(): number {
  return process.resourceUsage().maxRSS / 1024;
}

/** Counts of one subject as figures. */
export function subjectResult(
  contestant: Measured,
  isOpenLoop: boolean,
  checks: readonly Check[] = [],
): SubjectResult {
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
    notStarted: isOpenLoop ? totals.notStarted : null,
    unfinished: totals.unfinished,
    samples: recorder.samples,
    latencyDistribution: distributionOf(recorder.total),
    checks,
  };
}

/** Without a condition of the user's own on errors, any error fails the run. */
export function checkConditions(
  given: readonly Condition[],
  first: SubjectResult,
  ratio: number | null,
): ConditionOutcome[] {
  const isErrorsNamed = given.some(({ metric }) => metric === 'errors');
  const conditions = isErrorsNamed ? given : [...given, parseCondition('errors>0')];
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
