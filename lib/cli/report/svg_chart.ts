// A line chart as inline SVG: axes, grid, series, legend; no script, no external file.
// Flow: points -> [renderChart] -> SVG text inside report/html.ts
// Owner: nobody; a pure function. Invariants: every text is escaped; an empty series draws nothing;
// all coordinates are finite. Colours are CSS classes s0, s1, ..., so a page decides light or dark.
// Not here: the page and its style (html.ts).

/** One axis: how a value becomes a place, and what is written beside the grid lines. */
export interface Axis {
  readonly label: string;
  readonly isLogarithmic: boolean;
  readonly min: number;
  readonly max: number;
  readonly ticks: ReadonlyArray<{ readonly value: number; readonly text: string }>;
}

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
  /** Shown when the pointer rests on the point. */
  readonly title: string;
}

export interface ChartSeries {
  readonly name: string;
  readonly points: readonly ChartPoint[];
}

export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly ChartSeries[];
}

const WIDTH = 860;
const HEIGHT = 320;
const LEFT = 76;
const RIGHT = 16;
const TOP = 14;
const BOTTOM = 46;
/** Beyond this many, points get no dots of their own: the line says it all. */
const DOTS_MAX = 150;

/** Renders a chart as one <svg> element. */
export function renderChart(chart: Chart): string {
  const place = (axis: Axis, value: number, from: number, to: number): number => {
    const scale = (v: number): number => (axis.isLogarithmic ? Math.log10(Math.max(v, 1e-9)) : v);
    const span = scale(axis.max) - scale(axis.min);
    const share = span === 0 ? 0 : (scale(value) - scale(axis.min)) / span;
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  };
  const xOf = (value: number): number => place(chart.x, value, LEFT, WIDTH - RIGHT);
  const yOf = (value: number): number => place(chart.y, value, HEIGHT - BOTTOM, TOP);
  const parts = [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(chart.title)}">`,
    ...chart.y.ticks.map(({ value, text }) => {
      const y = fixed(yOf(value));
      return (
        `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>` +
        `<text x="${LEFT - 8}" y="${y}" dy="0.32em" text-anchor="end">${escapeHtml(text)}</text>`
      );
    }),
    ...chart.x.ticks.map(({ value, text }) => {
      const x = fixed(xOf(value));
      const anchor = xOf(value) > WIDTH - RIGHT - 24 ? 'end' : 'middle';
      return (
        `<line class="grid" x1="${x}" x2="${x}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>` +
        `<text x="${x}" y="${HEIGHT - BOTTOM + 16}" text-anchor="${anchor}">${escapeHtml(text)}</text>`
      );
    }),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">` +
      `${escapeHtml(chart.x.label)}</text>`,
    `<text transform="translate(14 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" ` +
      `text-anchor="middle">${escapeHtml(chart.y.label)}</text>`,
    ...chart.series.map((series, index) => renderSeries(series, index, xOf, yOf)),
    '</svg>',
  ];
  return parts.join('\n');
}

function renderSeries(
  series: ChartSeries,
  index: number,
  xOf: (value: number) => number,
  yOf: (value: number) => number,
): string {
  if (series.points.length === 0) return '';
  const places = series.points.map((point) => `${fixed(xOf(point.x))},${fixed(yOf(point.y))}`);
  const line = `<polyline class="line s${index}" points="${places.join(' ')}"/>`;
  if (series.points.length > DOTS_MAX) return line;
  const dots = series.points.map(
    (point) =>
      `<circle class="dot s${index}" cx="${fixed(xOf(point.x))}" cy="${fixed(yOf(point.y))}" ` +
      `r="2.5"><title>${escapeHtml(`${series.name}: ${point.title}`)}</title></circle>`,
  );
  return [line, ...dots].join('\n');
}

/** An axis from 0 with four to eight round steps. */
export function linearAxis(label: string, max: number, format: (value: number) => string): Axis {
  const step = roundStep(Math.max(max, 1e-9) / 6);
  const count = Math.max(1, Math.ceil(max / step - 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, index) => ({
    value: index * step,
    text: format(index * step),
  }));
  return { label, isLogarithmic: false, min: 0, max: count * step, ticks };
}

/** A logarithmic axis over whole decades, with a tick at each. */
export function logAxis(
  label: string,
  min: number,
  max: number,
  format: (value: number) => string,
): Axis {
  const first = Math.floor(Math.log10(Math.max(min, 1e-3)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(max, 1e-3))));
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => {
    const value = 10 ** (first + index);
    return { value, text: format(value) };
  });
  return { label, isLogarithmic: true, min: 10 ** first, max: 10 ** last, ticks };
}

/** Text that is safe inside an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((candidate) => candidate * power >= rough) ?? 10;
  return factor * power;
}

function fixed(value: number): string {
  return value.toFixed(1);
}
