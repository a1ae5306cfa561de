// Counting of test results: what drivers print as `N passed, N failed` is what the runners saw.
// Method: each runner's output is written as that runner writes it, with failures of every kind.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendReport, readReport, readTap, readVitest } from '../../../scripts/report.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-report-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('report: TAP', () => {
  it('tap: counts passed, failed and skipped with their reasons', () => {
    const tap = readTap('ok 1 - a\nnot ok 2 - b\n# a comment\nok 3 - c # SKIP no memory\n1..3\n');
    expect(tap).toEqual({ passed: 1, failed: 1, skipped: 1, skips: ['c: no memory'], plan: 3 });
  });

  it('tap: lines may end as on Windows', () => {
    expect(readTap('ok 1 - a\r\nok 2 - b # SKIP c\r\n1..2\r\n')).toEqual({
      passed: 1,
      failed: 0,
      skipped: 1,
      skips: ['b: c'],
      plan: 2,
    });
  });

  it('tap: an executable that died before its plan is told apart', () => {
    expect(readTap('ok 1 - a\n').plan).toBe(-1);
    expect(readTap(null)).toMatchObject({ passed: 0, plan: -1 });
  });
});

describe('report: vitest', () => {
  function vitestReport(fields: object): string {
    const file = join(folder, 'vitest.json');
    writeFileSync(file, JSON.stringify(fields));
    return file;
  }

  it('vitest: takes the counts and adds files that never loaded', () => {
    const file = vitestReport({
      numPassedTests: 5,
      numFailedTests: 1,
      numPendingTests: 2,
      numTodoTests: 1,
      testResults: [
        { status: 'failed', assertionResults: [{ status: 'failed' }] },
        { status: 'failed', assertionResults: [] },
        { status: 'passed', assertionResults: [{ status: 'passed' }] },
      ],
    });
    expect(readVitest(file)).toEqual({ passed: 5, failed: 2, skipped: 3 });
  });

  it('vitest: no report is a failure', () => {
    expect(readVitest(join(folder, 'gone.json'))).toMatchObject({ passed: 0, failed: 1 });
  });
});

describe('report: sums', () => {
  it('report: lines add up, and a missing file is a failure', () => {
    const file = join(folder, 'deep', 'report.jsonl');
    appendReport(file, { suite: 'a', passed: 3, failed: 0, skipped: 1 });
    appendReport(file, { suite: 'b', passed: 4, failed: 2, skipped: 0 });
    expect(readReport(file)).toEqual({ passed: 7, failed: 2, skipped: 1 });
    expect(readReport(join(folder, 'gone.jsonl'))).toMatchObject({ failed: 1 });
  });
});
