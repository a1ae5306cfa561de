// The shape of a benchmark's result, as it is printed and as `--json FILE` writes it.
// Rows hold what was measured and nothing derived: ratios and verdicts are computed from rows
// (goals.ts), so a reader of the JSON can check them.
import { writeFileSync } from 'node:fs';

export interface Spread {
  min: number;
  median: number;
  max: number;
}

export interface Row {
  case: string;
  subject: string;
  opsPerSecond: Spread;
  /** Latency of single operations over all rounds; absent where a call covers many operations. */
  p50Us?: number;
  p99Us?: number;
  peakRssMiB?: number;
  /** CPU time of the process, all threads, user and kernel, per operation: median over rounds. */
  cpuUsPerOp?: number;
  /** Case-specific measures, named with their unit. */
  values?: Record<string, number>;
  /** What a reader must know about this row. */
  note?: string;
  /** Checksum of the verified run: equal for all subjects that did the same work. */
  hash?: string;
}

export interface Skip {
  case: string;
  subject: string;
  reason: string;
  /** False where the machine cannot do what the case needs; true for a defect. */
  failed: boolean;
}

export type Environment = Record<string, string | number>;

export interface Verdict {
  case: string;
  subject: string;
  /** What is compared, as `x fs.promises` or `p99Us`. */
  measure: string;
  required: string;
  gate: string;
  measured?: number;
  verdict: 'PASS' | 'MISS' | 'GATE MISS' | 'not run';
}

export interface Report {
  name: string;
  environment: Environment;
  rounds: number;
  rows: Row[];
  skips: Skip[];
  verdicts: Verdict[];
  /** Over the hashes of all rows, so that two reports tell whether they did the same work. */
  hash: string;
}

export function writeReport(file: string, report: Report): void {
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}
