// Conditions of --fail-if: `p99>5ms`, `ops<10000`, `errors>0`.
// Flow: text -> [parseCondition] -> Condition -> [evaluate] with the figures of a finished run
// Owner: nobody; pure functions. Invariants: a condition that cannot be measured counts as failed,
// so that a gate never passes for lack of a number.
// Not here: where the figures come from (result.ts).
import { usageError } from '../cli_error.ts';
import { formatUs, trimNumber } from '../units.ts';

/** Figures a condition can name. Times are microseconds; null is "not measured". */
export interface Figures {
  readonly ops: number;
  readonly mib: number;
  readonly errors: number;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  readonly 'p99.9': number | null;
  readonly 'p99.99': number | null;
  readonly max: number | null;
  readonly mean: number | null;
  readonly cpu: number | null;
  readonly syscalls: number | null;
  readonly ratio: number | null;
}

export type Metric = keyof Figures;

const TIME_METRICS: readonly Metric[] = [
  'p50',
  'p90',
  'p99',
  'p99.9',
  'p99.99',
  'max',
  'mean',
  'cpu',
];
const COUNT_METRICS: readonly Metric[] = ['ops', 'mib', 'errors', 'syscalls', 'ratio'];
const TIME_FACTORS_US: Readonly<Record<string, number>> = { us: 1, ms: 1e3, s: 1e6 };

/** One parsed condition. */
export interface Condition {
  readonly text: string;
  readonly metric: Metric;
  readonly comparison: '<' | '<=' | '>' | '>=';
  readonly limit: number;
}

/** What became of a condition. */
export interface ConditionOutcome {
  readonly condition: string;
  readonly actual: number | null;
  readonly isFailed: boolean;
}

/** Parses one --fail-if text. Throws a usage error that says what is allowed. */
export function parseCondition(text: string): Condition {
  const match = /^\s*([a-z0-9.]+)\s*(<=|>=|<|>)\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  const metric = [...TIME_METRICS, ...COUNT_METRICS].find((name) => name === match?.[1]);
  const comparison = (['<=', '>=', '<', '>'] as const).find((sign) => sign === match?.[2]);
  if (match === null || metric === undefined || comparison === undefined) {
    const metrics = [...COUNT_METRICS, ...TIME_METRICS].join(', ');
    throw badCondition(text, `METRIC, then <, <=, > or >=, then a number; metrics: ${metrics}`);
  }
  const unit = (match[4] ?? '').toLowerCase();
  const number = Number(match[3]);
  if (TIME_METRICS.includes(metric)) {
    const factor = TIME_FACTORS_US[unit];
    if (factor === undefined) throw badCondition(text, `a time with us, ms or s for ${metric}`);
    return { text, metric, comparison, limit: number * factor };
  }
  if (unit !== '' && unit !== 'k' && unit !== 'm') {
    throw badCondition(text, `a plain number, or one with k or m, for ${metric}`);
  }
  const factor = unit === 'k' ? 1e3 : unit === 'm' ? 1e6 : 1;
  return { text, metric, comparison, limit: number * factor };
}

/** Checks a condition; one whose figure was not measured has failed. */
export function evaluate(condition: Condition, figures: Figures): ConditionOutcome {
  const actual = figures[condition.metric];
  const isFailed = actual === null || compare(actual, condition.comparison, condition.limit);
  return { condition: condition.text, actual, isFailed };
}

/** The actual value in words, for the report. */
export function describeActual(condition: Condition, outcome: ConditionOutcome): string {
  if (outcome.actual === null) return `${condition.metric} was not measured`;
  const isTime = TIME_METRICS.includes(condition.metric);
  const value = isTime ? `${formatUs(outcome.actual)} us` : trimNumber(outcome.actual);
  return `${condition.metric} is ${value}`;
}

function compare(actual: number, comparison: Condition['comparison'], limit: number): boolean {
  switch (comparison) {
    case '<':
      return actual < limit;
    case '<=':
      return actual <= limit;
    case '>':
      return actual > limit;
    case '>=':
      return actual >= limit;
  }
}

function badCondition(text: string, allowed: string): Error {
  return usageError(`--fail-if '${text}': expected ${allowed}`, 'ERR_CLI_BAD_VALUE');
}
