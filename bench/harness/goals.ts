// Required values and gates, and the verdicts on a report's rows. A ratio goal compares medians of
// two subjects of one case; a limit goal compares one measure of one row with a bound, a relative
// goal with the same measure of a peer. `gate` must hold, `atLeast` is to be reached. A peer
// without a row gives 'not run', never a pass.
import type { Row, Verdict } from './report.ts';

export interface RatioGoal {
  kind: 'ratio';
  case: string;
  subject: string;
  peer: string;
  atLeast: number;
  gate?: number;
}

export interface LimitGoal {
  kind: 'limit';
  case: string;
  subject: string;
  /** A key of the row's `values`. */
  measure: string;
  atMost: number;
  /** The limit itself is the gate; a number is a gate of its own. */
  gate: boolean | number;
}

/** One measure of two rows: the subject's is at most `atMost` times the peer's. */
export interface RelativeGoal {
  kind: 'relative';
  case: string;
  subject: string;
  measure: string;
  peer: string;
  atMost: number;
}

export type Goal = RatioGoal | LimitGoal | RelativeGoal;

export function judge(goals: readonly Goal[], rows: readonly Row[]): Verdict[] {
  return goals.map((goal) => {
    if (goal.kind === 'ratio') return judgeRatio(goal, rows);
    return goal.kind === 'limit' ? judgeLimit(goal, rows) : judgeRelative(goal, rows);
  });
}

export function ratioTo(row: Row, peer: string, rows: readonly Row[]): number | undefined {
  const other = find(rows, row.case, peer)?.opsPerSecond.median ?? 0;
  return other === 0 ? undefined : row.opsPerSecond.median / other; // 0: a peer that did nothing
}

function judgeRatio(goal: RatioGoal, rows: readonly Row[]): Verdict {
  const row = find(rows, goal.case, goal.subject);
  const measured = row === undefined ? undefined : ratioTo(row, goal.peer, rows);
  const verdict: Verdict = {
    case: goal.case,
    subject: goal.subject,
    measure: `x ${goal.peer}`,
    required: `>= ${goal.atLeast}`,
    gate: goal.gate === undefined ? '' : `>= ${goal.gate}`,
    verdict: 'not run',
  };
  if (measured === undefined) return verdict;
  verdict.measured = measured;
  if (measured >= goal.atLeast) verdict.verdict = 'PASS';
  else verdict.verdict = goal.gate !== undefined && measured < goal.gate ? 'GATE MISS' : 'MISS';
  return verdict;
}

function judgeLimit(goal: LimitGoal, rows: readonly Row[]): Verdict {
  const measured = find(rows, goal.case, goal.subject)?.values?.[goal.measure];
  const gate = gateOf(goal);
  const verdict: Verdict = {
    case: goal.case,
    subject: goal.subject,
    measure: goal.measure,
    required: `<= ${goal.atMost}`,
    gate: gate === undefined ? '' : `<= ${gate}`,
    verdict: 'not run',
  };
  if (measured === undefined) return verdict;
  verdict.measured = measured;
  if (measured <= goal.atMost) verdict.verdict = 'PASS';
  else verdict.verdict = gate !== undefined && measured > gate ? 'GATE MISS' : 'MISS';
  return verdict;
}

function gateOf({ gate, atMost }: LimitGoal): number | undefined {
  if (typeof gate === 'number') return gate;
  return gate ? atMost : undefined;
}

function judgeRelative(goal: RelativeGoal, rows: readonly Row[]): Verdict {
  const own = find(rows, goal.case, goal.subject)?.values?.[goal.measure];
  const peers = find(rows, goal.case, goal.peer)?.values?.[goal.measure];
  const verdict: Verdict = {
    case: goal.case,
    subject: goal.subject,
    measure: `${goal.measure} / ${goal.peer}`,
    required: `<= ${goal.atMost}`,
    gate: '',
    verdict: 'not run',
  };
  if (own === undefined || peers === undefined || peers === 0) return verdict;
  verdict.measured = own / peers;
  verdict.verdict = verdict.measured <= goal.atMost ? 'PASS' : 'MISS';
  return verdict;
}

function find(rows: readonly Row[], caseName: string, subject: string): Row | undefined {
  return rows.find((row) => row.case === caseName && row.subject === subject);
}
