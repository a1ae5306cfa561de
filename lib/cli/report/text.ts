// The report of a stress run for people: plain text, no colours, 100 columns.
// Flow: StressResult -> [renderText] -> standard output
// Owner: nobody; a pure function. Invariants: failures come last, where the eye rests.
// Not here: progress during the run (progress.ts).

import type { Mismatch } from '../load/recorder.ts';
import { describeActual, parseCondition } from '../stress/fail_if.ts';
import type { LoadResult, SubjectResult } from '../stress/result.ts';
import { formatBytes, formatCount, trimNumber } from '../units.ts';
import type { Headline } from './headline.ts';
import { rowsFor } from './rows.ts';

/** Renders the whole report, with a line break at the end. */
export function renderText(result: LoadResult, headline: Headline): string {
  const { environment } = result;
  const quota = environment.cpuQuota === null ? '' : `, quota ${trimNumber(environment.cpuQuota)}`;
  const lines = [
    `nephrite ${environment.nephrite} ${result.name}`,
    ...headline.facts.map((fact) => `  ${fact}`),
    `  Node ${environment.node}, kernel ${environment.kernel}, ` +
      `${environment.cpus} CPUs (${environment.cpuModel})${quota}`,
    ...result.subjects.map(
      ({ subject, backend, backendReason }) => `  ${subject} on ${backend}: ${backendReason}`,
    ),
    '',
    ...table(result),
    ...notes(result),
    ...troubles(result),
  ];
  return `${lines.join('\n')}\n`;
}

function table(result: LoadResult): string[] {
  const header = ['', ...result.subjects.map(({ subject }) => subject)];
  const rows = rowsFor(result.subjects)
    .filter(({ label }) => label !== 'backend')
    .map(({ label, cell }) => [label, ...result.subjects.map(cell)]);
  const widths = header.map((_, column) =>
    Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  return [header, ...rows].map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `  ${cells.join('   ')}`.trimEnd();
  });
}

function notes(result: LoadResult): string[] {
  const lines: string[] = [];
  const [first, peer] = result.subjects;
  if (result.ratio !== null && first !== undefined && peer !== undefined) {
    lines.push(
      '',
      `  ${first.subject} did ${result.ratio.toFixed(2)} x the rate of ${peer.subject}`,
    );
  }
  const kinds = Object.entries(first?.operationsByKind ?? {});
  if (kinds.length > 1) {
    const parts = kinds.map(([kind, count]) => `${formatCount(count)} ${kind}`);
    lines.push('', `  operations of ${first?.subject}: ${parts.join(', ')}`);
  }
  if (first !== undefined && first.checks.length > 0) lines.push('', ...describeChecks(first));
  const check = result.finalCheck;
  if (check !== null) {
    const unknown =
      check.unknownBlocks === 0
        ? ''
        : `, ${formatCount(check.unknownBlocks)} blocks unknown after failed writes`;
    const cut = check.isComplete ? '' : ' (cut short)';
    lines.push(
      '',
      `  final check through node:fs: ${formatBytes(check.verifiedBytes)} as written, ` +
        `${formatCount(check.mismatchCount)} mismatches${unknown}${cut}`,
    );
  }
  return lines;
}

/** What was proved, one line each. */
export function describeChecks(subject: SubjectResult): string[] {
  return subject.checks.map(
    ({ what, count, violationCount }) =>
      `  ${what}: ${formatCount(count)} checked, ${formatCount(violationCount)} violations`,
  );
}

/** What was found wrong, in words. */
export function describeViolations(subject: SubjectResult): string[] {
  return subject.checks.flatMap(({ what, violations }) =>
    violations.map((violation) => `  VIOLATION of "${what}": ${violation}`),
  );
}

function troubles(result: LoadResult): string[] {
  const lines: string[] = [];
  for (const one of result.subjects) {
    const { subject, errors, unfinished, verified } = one;
    lines.push(...describeViolations(one));
    for (const [code, { count, example }] of Object.entries(errors.byCode)) {
      lines.push(`  ${subject}: ${formatCount(count)} x ${code}: ${example}`);
    }
    if (unfinished > 0) {
      lines.push(`  ${subject}: ${unfinished} operations did not complete within 30 s`);
    }
    lines.push(...(verified?.mismatches ?? []).map(describeMismatch));
  }
  lines.push(...(result.finalCheck?.mismatches ?? []).map(describeMismatch));
  if (result.stopped === 'failures') lines.push('  stopped: 1,000 operations failed in a row');
  else if (result.stopped !== null) lines.push(`  stopped early by ${result.stopped}`);
  for (const outcome of result.conditions) {
    if (!outcome.isFailed) continue;
    const actual = describeActual(parseCondition(outcome.condition), outcome);
    lines.push(`  FAILED ${outcome.condition}: ${actual}`);
  }
  if (result.isFailed && lines.every((line) => !line.includes('FAILED'))) {
    lines.push('  FAILED: see above');
  }
  return lines.length === 0 ? [] : ['', ...lines];
}

/** One mismatch in a paragraph: where, what should be there, what is. */
export function describeMismatch(mismatch: Mismatch): string {
  const lines = [
    `  MISMATCH ${mismatch.path} at byte ${mismatch.offsetBytes} ` +
      `(block at ${mismatch.blockOffsetBytes}, ${mismatch.differingBytes} bytes differ, ` +
      `read by ${mismatch.reader})`,
    `    expected ${mismatch.expectedHeader}: ${mismatch.expectedHex}`,
    `    got      ${mismatch.gotHeader}: ${mismatch.gotHex}`,
  ];
  return lines.join('\n');
}
