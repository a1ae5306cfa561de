// Everything that is counted of one subject: operations, bytes, latencies, errors, mismatches.
// Flow: lanes -> [recorder] -> stress/result.ts, report/progress.ts
// Owner: one recorder per subject over all its rounds; warm-up gets one of its own that is thrown
// away. Invariants: lists are bounded (errors by code, mismatches, samples); counts are exact.
// Not here: statistics over rounds (stress/result.ts).
import { errorCodeOf, errorTextOf } from '../cli_error.ts';
import { OP_READ, OP_WRITE, OPERATION_NAMES } from '../workload/operations.ts';
import type { BlockDifference } from '../workload/pattern.ts';
import { createHistogram, type LatencyHistogram, percentileUs, recordMs } from './latency.ts';

const MISMATCHES_KEPT_MAX = 16;
const ERROR_CODES_MAX = 32;
const INTERVAL_MS_MIN = 120;

/** A block whose content was not what it should be. */
export interface Mismatch extends BlockDifference {
  readonly path: string;
  /** Offset of the first wrong byte in the file. */
  readonly offsetBytes: number;
  readonly blockOffsetBytes: number;
  readonly expectedHeader: string;
  /** Who read it: the subject, or `final check`. */
  readonly reader: string;
}

/** One interval of the run. */
export interface Sample {
  /** End of the interval, in measured milliseconds of this subject. */
  readonly atMs: number;
  readonly intervalMs: number;
  readonly opsPerSecond: number;
  readonly mibPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly errors: number;
}

/** How often an error code came, and its first message. */
export interface ErrorCount {
  count: number;
  readonly example: string;
}

/** Counts of one subject. */
export class Recorder {
  readonly total: LatencyHistogram = createHistogram();
  readonly mismatches: Mismatch[] = [];
  readonly samples: Sample[] = [];
  readonly errorsByCode = new Map<string, ErrorCount>();
  readonly #interval = createHistogram();
  readonly #names: readonly string[];
  readonly #byKind: Float64Array;
  operations = 0;
  bytes = 0;
  verifiedBytes = 0;
  mismatchCount = 0;
  errors = 0;
  errorsInARow = 0;
  #elapsedBeforeMs = 0;
  #phaseStartMs = 0;
  #sampledMs = 0;
  #sampledOperations = 0;
  #sampledBytes = 0;
  #sampledErrors = 0;

  /** `names` of the kinds of operations, by number. */
  constructor(names: readonly string[] = OPERATION_NAMES) {
    this.#names = names;
    this.#byKind = new Float64Array(names.length);
  }

  startPhase(nowMs: number): void {
    this.#phaseStartMs = nowMs;
    this.#sampledMs = this.#elapsedBeforeMs;
  }

  endPhase(nowMs: number): void {
    this.sample(nowMs);
    this.#elapsedBeforeMs += nowMs - this.#phaseStartMs;
  }

  /** Ends a warm-up in mid-load: what was found wrong stays, how fast it was does not. */
  restart(nowMs: number): void {
    this.total.reset();
    this.#interval.reset();
    this.#byKind.fill(0);
    this.samples.length = 0;
    this.operations = 0;
    this.bytes = 0;
    this.#sampledOperations = 0;
    this.#sampledBytes = 0;
    this.#sampledErrors = this.errors;
    this.startPhase(nowMs);
  }

  /** Measured milliseconds of all finished phases. */
  get elapsedMs(): number {
    return this.#elapsedBeforeMs;
  }

  recordOperation(kind: number, latencyMs: number, bytes: number): void {
    recordMs(this.#interval, latencyMs);
    this.#byKind[kind] = (this.#byKind[kind] ?? 0) + 1;
    this.operations += 1;
    this.bytes += bytes;
    this.errorsInARow = 0;
  }

  /** One that has no latency. */
  countOperation(kind: number): void {
    this.#byKind[kind] = (this.#byKind[kind] ?? 0) + 1;
    this.operations += 1;
  }

  recordError(error: unknown): void {
    this.errors += 1;
    this.errorsInARow += 1;
    const code = errorCodeOf(error);
    const known = this.errorsByCode.get(code);
    if (known !== undefined) known.count += 1;
    else if (this.errorsByCode.size < ERROR_CODES_MAX) {
      this.errorsByCode.set(code, { count: 1, example: errorTextOf(error) });
    }
  }

  recordMismatch(mismatch: Mismatch): void {
    this.mismatchCount += 1;
    if (this.mismatches.length < MISMATCHES_KEPT_MAX) this.mismatches.push(mismatch);
  }

  /** A round that another program ran and measured: counts and latency bins as it gives them. */
  recordExternalRound(
    counts: { readonly read: number; readonly write: number },
    bytes: number,
    elapsedMs: number,
    latencyNsCounts: ReadonlyArray<readonly [latencyNs: number, count: number]>,
  ): void {
    this.startPhase(0);
    this.#byKind[OP_READ] = (this.#byKind[OP_READ] ?? 0) + counts.read;
    this.#byKind[OP_WRITE] = (this.#byKind[OP_WRITE] ?? 0) + counts.write;
    this.operations += counts.read + counts.write;
    this.bytes += bytes;
    for (const [latencyNs, count] of latencyNsCounts) {
      recordMs(this.#interval, latencyNs / 1e6, count);
    }
    this.endPhase(elapsedMs);
  }

  /** Takes over errors, mismatches and checked bytes of a warm-up, not its rate or latencies. */
  adoptFindings(warmUp: Recorder): void {
    this.errors += warmUp.errors;
    this.verifiedBytes += warmUp.verifiedBytes;
    for (const [code, { count, example }] of warmUp.errorsByCode) {
      const known = this.errorsByCode.get(code);
      this.errorsByCode.set(code, { count: count + (known?.count ?? 0), example });
    }
    for (const mismatch of warmUp.mismatches) this.recordMismatch(mismatch);
    this.mismatchCount += warmUp.mismatchCount - warmUp.mismatches.length;
  }

  /** Operations by name, without those that did not occur. */
  operationsByKind(): Record<string, number> {
    const entries = this.#names.map((name, kind) => [name, this.#byKind[kind] ?? 0] as const);
    return Object.fromEntries(entries.filter(([, count]) => count > 0));
  }

  /** Closes an interval: adds a point to the series and its latencies to the total. */
  sample(nowMs: number): void {
    const atMs = this.#elapsedBeforeMs + nowMs - this.#phaseStartMs;
    const intervalMs = Math.max(atMs - this.#sampledMs, 1e-3);
    const operations = this.operations - this.#sampledOperations;
    const mib = (this.bytes - this.#sampledBytes) / 2 ** 20;
    const errors = this.errors - this.#sampledErrors;
    const last = this.samples.at(-1);
    if (intervalMs < INTERVAL_MS_MIN && last !== undefined && last.atMs === this.#sampledMs) {
      this.samples[this.samples.length - 1] = extended(last, atMs, operations, mib, errors);
    } else {
      this.samples.push({
        atMs,
        intervalMs,
        opsPerSecond: (operations / intervalMs) * 1e3,
        mibPerSecond: (mib / intervalMs) * 1e3,
        p50Us: this.#interval.totalCount === 0 ? 0 : percentileUs(this.#interval, 50),
        p99Us: this.#interval.totalCount === 0 ? 0 : percentileUs(this.#interval, 99),
        errors,
      });
    }
    this.#sampledMs = atMs;
    this.#sampledOperations = this.operations;
    this.#sampledBytes = this.bytes;
    this.#sampledErrors = this.errors;
    this.total.add(this.#interval);
    this.#interval.reset();
  }
}

/** The last moments of a phase are too short for a point of their own: they join the one before. */
function extended(
  last: Sample,
  atMs: number,
  operations: number,
  mib: number,
  errors: number,
): Sample {
  const intervalMs = last.intervalMs + atMs - last.atMs;
  const rate = (before: number, more: number): number =>
    (before * last.intervalMs + more * 1e3) / intervalMs;
  return {
    ...last,
    atMs,
    intervalMs,
    opsPerSecond: rate(last.opsPerSecond, operations),
    mibPerSecond: rate(last.mibPerSecond, mib),
    errors: last.errors + errors,
  };
}
