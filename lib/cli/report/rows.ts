// The rows of the results table, the same for the text report and the page.
// Owner: nobody. Invariants: what was not measured says so; units are part of every cell.
// Not here: layout (text.ts, html.ts).
import type { SubjectResult } from '../stress/result.ts';
import { formatBytes, formatCount, formatUs, trimNumber } from '../units.ts';

/** One row: a label and how to fill its cell for a subject. */
export interface ReportRow {
  readonly label: string;
  readonly cell: (subject: SubjectResult) => string;
}

const LATENCIES = ['p50', 'p90', 'p99', 'p99.9', 'p99.99', 'max'] as const;

export const REPORT_ROWS: readonly ReportRow[] = [
  { label: 'backend', cell: (subject) => subject.backend },
  { label: 'operations', cell: (subject) => formatCount(subject.operations) },
  { label: 'rate', cell: (subject) => `${formatCount(subject.opsPerSecond.median)}/s` },
  { label: 'rate over rounds', cell: spreadCell },
  {
    label: 'throughput',
    cell: (subject) => (movesBytes(subject) ? `${trimNumber(subject.mibPerSecond)} MiB/s` : ''),
  },
  { label: 'errors', cell: (subject) => formatCount(subject.errors.total) },
  ...LATENCIES.map((name) => ({
    label: `latency ${name}`,
    cell: (subject: SubjectResult) =>
      subject.latencyUs === null ? '-' : `${formatUs(subject.latencyUs[name])} us`,
  })),
  { label: 'CPU time per operation', cell: (subject) => usCell(subject.cpuUsPerOperation) },
  {
    label: 'system calls per operation (own thread)',
    cell: (subject) => (movesBytes(subject) ? countCell(subject.systemCallsPerOperation) : ''),
  },
  {
    label: 'context switches per operation',
    cell: (subject) => countCell(subject.contextSwitchesPerOperation),
  },
  { label: 'verified', cell: verifiedCell },
  { label: 'never started', cell: (subject) => lateCell(subject.notStarted) },
];

/** Rows that say something about at least one subject. */
export function rowsFor(subjects: readonly SubjectResult[]): readonly ReportRow[] {
  return REPORT_ROWS.filter((row) => subjects.some((subject) => row.cell(subject) !== ''));
}

/** Targets without bytes (timers) have checks instead, which are listed below the table. */
function movesBytes(subject: SubjectResult): boolean {
  return subject.bytes > 0 || subject.checks.length === 0;
}

function spreadCell(subject: SubjectResult): string {
  if (subject.roundsOpsPerSecond.length < 2) return '';
  const { min, max } = subject.opsPerSecond;
  return `${formatCount(min)} to ${formatCount(max)}/s`;
}

function usCell(value: number | null): string {
  return value === null ? 'not measured' : `${trimNumber(value)} us`;
}

function countCell(value: number | null): string {
  return value === null ? 'not measured' : value.toFixed(3);
}

function verifiedCell(subject: SubjectResult): string {
  if (subject.verified === null) return subject.checks.length === 0 ? 'no' : '';
  const { bytes, mismatchCount } = subject.verified;
  return `${formatBytes(bytes)}, ${formatCount(mismatchCount)} mismatches`;
}

function lateCell(notStarted: number | null): string {
  return notStarted === null || notStarted === 0 ? '' : formatCount(notStarted);
}
