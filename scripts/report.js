// Counting of test results, in one place for every driver: what a runner reported, never a guess.
// A report file is JSON lines: { suite, passed, failed, skipped, note? }.
// Invariants: a missing or unreadable runner report is a failure, not zero tests.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 * @typedef {Counts & { suite: string, note?: string }} ReportLine
 */

/**
 * Adds `more` to `total` in place.
 * @param {Counts} total
 * @param {Counts} more
 */
export function addCounts(total, more) {
  total.passed += more.passed;
  total.failed += more.failed;
  total.skipped += more.skipped;
}

/**
 * Counts TAP test lines of a native test executable. `plan` is -1 where it printed none: it died.
 * @param {string | null} text
 */
export function readTap(text) {
  /** @type {Counts & { skips: string[], plan: number }} */
  const counts = { passed: 0, failed: 0, skipped: 0, skips: [], plan: -1 };
  for (const line of (text ?? '').split(/\r?\n/)) {
    const plan = /^1\.\.(\d+)$/.exec(line);
    if (plan !== null) counts.plan = Number(plan[1]);
    const test = /^(not ok|ok) \d+ - (.*)$/.exec(line);
    if (test === null) continue;
    const skip = /^(.*) # SKIP (.*)$/.exec(test[2]);
    if (test[1] === 'not ok') {
      counts.failed++;
    } else if (skip !== null) {
      counts.skipped++;
      counts.skips.push(`${skip[1]}: ${skip[2]}`);
    } else {
      counts.passed++;
    }
  }
  return counts;
}

/**
 * Counts from vitest's JSON report. A file that failed to load has no tests: it counts as one.
 * @param {string} file
 * @returns {Counts & { note?: string }}
 */
export function readVitest(file) {
  if (!existsSync(file))
    return { passed: 0, failed: 1, skipped: 0, note: 'vitest wrote no report' };
  /**
   * @type {{
   *   numPassedTests: number, numFailedTests: number,
   *   numPendingTests: number, numTodoTests: number,
   *   testResults: { status: string, assertionResults: { status: string }[] }[],
   * }}
   */
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((one) => one.status === 'failed'),
  ).length;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/**
 * @param {string | undefined} file
 * @param {ReportLine} line
 */
export function appendReport(file, line) {
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

/**
 * Sum of a report file's lines; a report that is not there is one failure.
 * @param {string} file
 * @returns {Counts}
 */
export function readReport(file) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  if (!existsSync(file)) return { ...total, failed: 1 };
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    addCounts(total, JSON.parse(line));
  }
  return total;
}
