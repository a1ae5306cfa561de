// The report as text: environment, one table per case with a ratio column per peer, what was
// skipped and why, and the required values with their verdicts. Losing rows are printed like all
// others.
import { ratioTo } from './goals.ts';
import type { Report, Row, Verdict } from './report.ts';

const BLANK = '-';

export function renderReport(report: Report, ratioPeers: readonly string[]): string {
  const caseNames = [...new Set(report.rows.map((row) => row.case))];
  const parts = [
    `bench ${report.name}, ${report.rounds} interleaved rounds, work hash ${report.hash}`,
    renderEnvironment(report),
    ...caseNames.map((name) => renderCase(name, report, ratioPeers)),
    renderSkips(report),
    renderVerdicts(report.verdicts),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function renderEnvironment(report: Report): string {
  const entries = Object.entries(report.environment);
  const width = Math.max(...entries.map(([key]) => key.length));
  return entries.map(([key, value]) => `  ${key.padEnd(width)}  ${value}`).join('\n');
}

function renderCase(name: string, report: Report, ratioPeers: readonly string[]): string {
  const rows = report.rows.filter((row) => row.case === name);
  const peers = ratioPeers.filter((peer) => rows.some((row) => row.subject === peer));
  const head = [
    'subject',
    'ops/s min',
    'median',
    'max',
    'p50 us',
    'p99 us',
    'cpu us/op',
    'RSS MiB',
  ];
  const body = rows.map((row) => [
    row.subject,
    count(row.opsPerSecond.min),
    count(row.opsPerSecond.median),
    count(row.opsPerSecond.max),
    decimal(row.p50Us, 1),
    decimal(row.p99Us, 1),
    decimal(row.cpuUsPerOp, 2),
    decimal(row.peakRssMiB, 0),
    ...peers.map((peer) => decimal(ratioTo(row, peer, rows), 2)),
  ]);
  const table = columns([[...head, ...peers.map((peer) => `x ${peer}`)], ...body]);
  return [name, table, ...rows.flatMap(detailLines)].join('\n');
}

function detailLines(row: Row): string[] {
  const values = Object.entries(row.values ?? {}).map(([key, value]) => `${key} ${round(value)}`);
  const parts = [...values, ...(row.note === undefined ? [] : [row.note])];
  return parts.length === 0 ? [] : [`    ${row.subject}: ${parts.join(', ')}`];
}

function renderSkips(report: Report): string {
  if (report.skips.length === 0) return '';
  const byReason = new Map<string, string[]>();
  for (const { case: caseName, subject, reason } of report.skips) {
    const names = byReason.get(reason) ?? [];
    byReason.set(reason, [...names, `${caseName} ${subject}`]);
  }
  const lines = [...byReason].map(([reason, names]) => `  ${reason}\n    ${names.join(', ')}`);
  return ['not measured', ...lines].join('\n');
}

function renderVerdicts(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return '';
  const head = ['case', 'subject', 'measure', 'required', 'gate', 'measured', 'verdict'];
  const body = verdicts.map((verdict) => [
    verdict.case,
    verdict.subject,
    verdict.measure,
    verdict.required,
    verdict.gate === '' ? BLANK : verdict.gate,
    verdict.measured === undefined ? BLANK : String(round(verdict.measured)),
    verdict.verdict,
  ]);
  return ['required values', columns([head, ...body], 3)].join('\n');
}

/** The first `textColumns` columns are aligned left, numbers right. */
function columns(rows: readonly (readonly string[])[], textColumns = 1): string {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  return rows
    .map((row) => {
      const cells = row.map((cell, i) =>
        i < textColumns ? cell.padEnd(widths[i]) : cell.padStart(widths[i]),
      );
      return `  ${cells.join('  ')}`.trimEnd();
    })
    .join('\n');
}

function count(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(2);
}

function decimal(value: number | undefined, digits: number): string {
  return value === undefined ? BLANK : value.toFixed(digits);
}

function round(value: number): number {
  return Number(value.toPrecision(3)) === value ? value : Number(value.toFixed(value < 10 ? 2 : 0));
}
