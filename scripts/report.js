// Counting and naming of test results, in one place for every driver: what a runner reported, never
// a guess. A report file is JSON lines: { suite, passed, failed, skipped, failures? }.
// Invariants: a missing or unreadable runner report is a failure, not zero tests; every failure has
// a name, at least that of its suite; the last line printed is `N passed, N failed, N skipped`.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

/**
 * What failed: `file` and `test` are missing where a whole suite or step did.
 * @typedef {{ suite?: string, file?: string, test?: string, error: string }} Failure
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 * @typedef {Counts & { failures: Failure[] }} Results
 * @typedef {Counts & { suite: string, failures?: Failure[] }} ReportLine
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const ERROR_COLUMNS_MAX = 200;

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
 * First line of an error that says something, without colours.
 * @param {string | undefined} text
 */
export function firstLine(text) {
  const lines = stripVTControlCharacters(text ?? '').split('\n');
  const line = lines.map((one) => one.trim()).find((one) => /\w/.test(one)) ?? '(no message)';
  return line.length > ERROR_COLUMNS_MAX ? `${line.slice(0, ERROR_COLUMNS_MAX)}...` : line;
}

/**
 * Counts TAP test lines of a native test executable. `plan` is -1 where it printed none: it died.
 * The error of a test is the first failed expectation since the test before it.
 * @param {string | null} text
 */
export function readTap(text) {
  /** @type {Results & { skips: string[], plan: number }} */
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [], skips: [], plan: -1 };
  /** @type {string | undefined} */
  let comment;
  for (const line of (text ?? '').split(/\r?\n/)) {
    const plan = /^1\.\.(\d+)$/.exec(line);
    if (plan !== null) counts.plan = Number(plan[1]);
    if (/^# .*:\d+: /.test(line)) comment ??= line.slice(2);
    const test = /^(not ok|ok) \d+ - (.*)$/.exec(line);
    if (test === null) continue;
    const error = comment;
    comment = undefined;
    const skip = /^(.*) # SKIP (.*)$/.exec(test[2]);
    if (test[1] === 'not ok') {
      counts.failed++;
      counts.failures.push({ test: test[2], error: firstLine(error) });
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
 * Results of vitest's report (scripts/vitest_reporter.js). A file that failed without a failed test
 * counts as one failure, and so does every error outside all tests.
 * @param {string} file
 * @returns {Results}
 */
export function readVitest(file) {
  if (!existsSync(file)) return onlyFailure('vitest wrote no report');
  /**
   * @type {{
   *   numPassedTests: number, numPendingTests: number, numTodoTests: number,
   *   testResults: {
   *     name: string, status: string, message: string,
   *     assertionResults: {
   *       status: string, title: string, ancestorTitles: string[], failureMessages: string[],
   *     }[],
   *   }[],
   *   unhandledErrors?: string[],
   * }}
   */
  const report = JSON.parse(readFileSync(file, 'utf8'));
  /** @type {Failure[]} */
  const failures = [];
  for (const { name, status, message, assertionResults } of report.testResults) {
    const path = relative(root, name);
    const failed = assertionResults.filter((one) => one.status === 'failed');
    for (const { title, ancestorTitles, failureMessages } of failed) {
      const test = [...ancestorTitles, title].filter((part) => part !== '').join(' > ');
      failures.push({ file: path, test, error: firstLine(failureMessages[0]) });
    }
    if (status === 'failed' && failed.length === 0) {
      failures.push({ file: path, error: firstLine(message) });
    }
  }
  for (const error of report.unhandledErrors ?? []) {
    failures.push({ test: '(outside any test)', error: firstLine(error) });
  }
  return {
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  };
}

/**
 * @param {string} error
 * @returns {Results}
 */
export function onlyFailure(error) {
  return { passed: 0, failed: 1, skipped: 0, failures: [{ error }] };
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
 * @returns {Results}
 */
export function readReport(file) {
  if (!existsSync(file)) return onlyFailure('there is no report: nothing has run');
  /** @type {Results} */
  const total = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    /** @type {ReportLine} */
    const { suite, failures = [], ...counts } = JSON.parse(line);
    addCounts(total, counts);
    total.failures.push(...failures.map((failure) => ({ suite, ...failure })));
    const unnamed = counts.failed - failures.length;
    if (unnamed <= 0) continue;
    total.failures.push({ suite, error: `${unnamed} failed, see the output of that step` });
  }
  return total;
}

/**
 * The end of every driver: what failed by name, then the counts as the last line.
 * @param {Results} results
 */
export function printResults({ passed, failed, skipped, failures }) {
  if (failures.length > 0) console.log(`\n${failures.length} failed:`);
  for (const { suite, file, test, error } of failures) {
    console.log(`not ok - ${[suite, file, test].filter(Boolean).join(' | ')}\n    ${error}`);
  }
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
}
