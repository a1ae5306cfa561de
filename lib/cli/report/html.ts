// The report as one self-contained page: tables and three charts, light and dark, printable.
// Flow: StressResult -> [renderHtml] -> the file of --html
// Owner: nobody; a pure function. Invariants: loads nothing (no script, font or image); every text
// from outside is escaped.
// Not here: drawing (svg_chart.ts), the rows of the table (rows.ts).
import type { LoadResult, SubjectResult } from '../stress/result.ts';
import { formatCount, formatUs, trimNumber } from '../units.ts';
import type { Headline } from './headline.ts';
import { rowsFor } from './rows.ts';
import { type Chart, escapeHtml, linearAxis, logAxis, renderChart } from './svg_chart.ts';
import { describeChecks, describeMismatch, describeViolations } from './text.ts';

const STYLE = `
:root { color-scheme: light dark; --bg: #fff; --fg: #1c2024; --dim: #667; --grid: #d8dce2;
  --c0: #0b7a4b; --c1: #b4531a; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171a; --fg: #e6e8ea; --dim: #98a0a8;
  --grid: #30363d; --c0: #4cc38a; --c1: #f0a463; --bad: #ff8a80; } }
body { background: var(--bg); color: var(--fg); font: 15px/1.5 system-ui, sans-serif;
  max-width: 900px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin-bottom: 0.2rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
p.dim { color: var(--dim); margin: 0.2rem 0; } .bad { color: var(--bad); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.9rem 0.2rem 0; text-align: right; }
th:first-child, td:first-child { text-align: left; color: var(--dim); font-weight: normal; }
tr { border-bottom: 1px solid var(--grid); }
svg { width: 100%; height: auto; } svg text { fill: var(--dim); font-size: 12px; }
.grid { stroke: var(--grid); stroke-width: 1; }
.line { fill: none; stroke-width: 1.8; } .dot { stroke: none; }
.line.s0 { stroke: var(--c0); } .dot.s0 { fill: var(--c0); }
.line.s1 { stroke: var(--c1); } .dot.s1 { fill: var(--c1); }
.key::before { content: ''; display: inline-block; width: 0.8em; height: 0.8em;
  margin: 0 0.4em 0 0; border-radius: 2px; }
.k0::before { background: var(--c0); } .k1::before { background: var(--c1); }
.key { margin-right: 1.2em; } pre { overflow-x: auto; }
`;

/** Renders the page. */
export function renderHtml(result: LoadResult, headline: Headline): string {
  const { environment, subjects } = result;
  const legend = subjects
    .map(({ subject }, index) => `<span class="key k${index}">${escapeHtml(subject)}</span>`)
    .join('');
  const charts = [latencyChart(subjects), rateChart(subjects), tailChart(subjects)]
    .map((chart) => `<h2>${escapeHtml(chart.title)}</h2>\n<p>${legend}</p>\n${renderChart(chart)}`)
    .join('\n');
  const facts = [
    ...headline.facts,
    `nephrite ${environment.nephrite}, Node ${environment.node}, kernel ${environment.kernel}, ` +
      `${environment.cpus} CPUs (${environment.cpuModel}), ${result.startedAt}`,
    ...subjects.map(
      (subject) => `${subject.subject} on ${subject.backend}: ${subject.backendReason}`,
    ),
  ];
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>nephrite ${escapeHtml(`${result.name}: ${headline.mode}`)}</title>`,
    `<style>${STYLE}</style></head><body>`,
    `<h1>nephrite ${escapeHtml(result.name)}</h1>`,
    ...facts.map((fact) => `<p class="dim">${escapeHtml(fact)}</p>`),
    verdict(result),
    renderTable(subjects),
    ...subjects.flatMap(describeChecks).map((line) => `<p class="dim">${escapeHtml(line)}</p>`),
    charts,
    '</body></html>\n',
  ].join('\n');
}

function verdict(result: LoadResult): string {
  const mismatches = [
    ...result.subjects.flatMap(describeViolations),
    ...result.subjects.flatMap(({ verified }) => verified?.mismatches ?? []).map(describeMismatch),
    ...(result.finalCheck?.mismatches ?? []).map(describeMismatch),
  ];
  const failed = result.conditions.filter(({ isFailed }) => isFailed);
  const reasons = failed.map(
    ({ condition, actual }) => `${condition} (actual: ${actual ?? 'none'})`,
  );
  const ratio =
    result.ratio === null ? '' : `<p>Rate against the peer: ${result.ratio.toFixed(2)} x</p>`;
  if (!result.isFailed) return ratio;
  const details = mismatches.length === 0 ? '' : `<pre>${escapeHtml(mismatches.join('\n'))}</pre>`;
  const why = reasons.length === 0 ? '' : `: ${escapeHtml(reasons.join('; '))}`;
  return `${ratio}<p class="bad">Failed${why}</p>${details}`;
}

function renderTable(subjects: readonly SubjectResult[]): string {
  const head = subjects.map(({ subject }) => `<th>${escapeHtml(subject)}</th>`).join('');
  const rows = rowsFor(subjects).map(({ label, cell }) => {
    const cells = subjects.map((subject) => `<td>${escapeHtml(cell(subject))}</td>`).join('');
    return `<tr><td>${escapeHtml(label)}</td>${cells}</tr>`;
  });
  return `<table><tr><th></th>${head}</tr>\n${rows.join('\n')}\n</table>`;
}

/** x is 1 / (1 - quantile), so that each decade is one more nine. */
function latencyChart(subjects: readonly SubjectResult[]): Chart {
  const series = subjects.map(({ subject, latencyDistribution }) => ({
    name: subject,
    points: latencyDistribution
      .filter(({ percentile }) => percentile < 100)
      .map(({ percentile, us }) => ({
        x: 1 / (1 - percentile / 100),
        y: us,
        title: `p${trimPercentile(percentile)} is ${formatUs(us)} us`,
      })),
  }));
  const xs = series.flatMap(({ points }) => points.map(({ x }) => x));
  const ys = series.flatMap(({ points }) => points.map(({ y }) => y));
  return {
    title: 'Latency distribution',
    x: logAxis('percentile', 1, largest(xs, 10), (value) => trimPercentile(100 - 100 / value)),
    y: logAxis('microseconds', smallest(ys, 1), largest(ys, 10), (value) => trimNumber(value)),
    series,
  };
}

function rateChart(subjects: readonly SubjectResult[]): Chart {
  const series = subjects.map(({ subject, samples }) => ({
    name: subject,
    points: samples.map((sample) => ({
      x: sample.atMs / 1e3,
      y: sample.opsPerSecond,
      title:
        `${trimNumber(sample.atMs / 1e3)} s: ${formatCount(sample.opsPerSecond)}/s, ` +
        `${trimNumber(sample.mibPerSecond)} MiB/s`,
    })),
  }));
  return {
    title: 'Throughput over time',
    x: timeAxis(subjects),
    y: linearAxis('operations per second', largest(ysOf(series), 1), formatCount),
    series,
  };
}

function tailChart(subjects: readonly SubjectResult[]): Chart {
  const series = subjects.map(({ subject, samples }) => ({
    name: subject,
    points: samples.map(({ atMs, p99Us }) => ({
      x: atMs / 1e3,
      y: p99Us,
      title: `${trimNumber(atMs / 1e3)} s: p99 is ${formatUs(p99Us)} us`,
    })),
  }));
  const ys = ysOf(series);
  return {
    title: 'Latency p99 over time',
    x: timeAxis(subjects),
    y: logAxis('microseconds', smallest(ys, 1), largest(ys, 10), (value) => trimNumber(value)),
    series,
  };
}

function timeAxis(subjects: readonly SubjectResult[]): Chart['x'] {
  const last = Math.max(...subjects.map(({ elapsedMs }) => elapsedMs / 1e3), 0.001);
  return linearAxis('seconds of measured time', last, (value) => trimNumber(value));
}

function ysOf(series: Chart['series']): number[] {
  return series.flatMap(({ points }) => points.map(({ y }) => y));
}

function largest(values: readonly number[], fallback: number): number {
  return values.reduce((left, right) => Math.max(left, right), 0) || fallback;
}

function smallest(values: readonly number[], fallback: number): number {
  const positive = values.filter((value) => value > 0);
  return positive.length === 0 ? fallback : positive.reduce((a, b) => Math.min(a, b));
}

/** 99.90000001 -> `99.9`. */
function trimPercentile(percentile: number): string {
  return Number(percentile.toFixed(5)).toString();
}
