// The timers benchmark at a tiny size: every case and every subject through the code that
// measures, so that benchmarks never rot. Asserts that rows exist and that subjects which did the
// same work prove it with the same hash. Asserts nothing about speed.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Sizes } from '../../bench/harness/bench_case.ts';
import { parseOptions } from '../../bench/harness/options.ts';
import type { Report } from '../../bench/harness/report.ts';
import { runSuite } from '../../bench/harness/run_suite.ts';
import { SUBJECT_NAMES } from '../../bench/harness/subjects.ts';
import { renderReport } from '../../bench/harness/table.ts';
import { timersSuite } from '../../bench/timers.ts';

const ROUNDS = 2;
const TINY: Sizes = { ...timersSuite.sizes(true, ROUNDS), verifyOps: 64, timerCount: 640 };

describe('timers benchmark', () => {
  let report: Report;

  beforeAll(async () => {
    const cases = timersSuite.cases.map((benchCase) => benchCase.name);
    const names = { suites: [timersSuite.name], cases, subjects: SUBJECT_NAMES };
    const options = parseOptions(['timers', '--quick'], names);
    if (options === 'help') throw new Error('unreachable');
    report = await runSuite(timersSuite, options, TINY, () => undefined);
  }, 60_000);

  test('every subject of every case gives a row, with the hash of the work', () => {
    expect(report.skips).toEqual([]);
    for (const { name, subjects } of timersSuite.cases) {
      const rows = report.rows.filter((row) => row.case === name);
      expect(rows.map((row) => row.subject)).toEqual(subjects);
      expect(new Set(rows.map((row) => row.hash)).size, name).toBe(1);
      for (const row of rows) {
        expect(row.opsPerSecond.min).toBeGreaterThan(0);
        expect(row.values).toHaveProperty('armNs');
      }
    }
  });

  test('no timer of the wheel was early', () => {
    const ours = report.rows.filter((row) => row.subject === 'nephrite');
    expect(ours.map((row) => row.values?.earlyInVerifiedRun)).toEqual([0, 0]);
  });

  test('the text has every verdict and a column per peer', () => {
    const text = renderReport(report, timersSuite.ratioPeers);
    expect(text).toContain('x setTimeout');
    expect(text).toContain('x AbortSignal.timeout');
    expect(report.verdicts.map((verdict) => verdict.verdict)).not.toContain('not run');
    expect(report.verdicts.length).toBe(timersSuite.goals.length);
  });
});
