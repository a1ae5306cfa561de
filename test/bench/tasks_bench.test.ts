// The tasks benchmark at a tiny size: every case and every subject through the code that measures,
// so that benchmarks never rot. Asserts that rows exist and that subjects which did the same work
// prove it with the same hash. Asserts nothing about speed.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Sizes } from '../../bench/harness/bench_case.ts';
import { parseOptions } from '../../bench/harness/options.ts';
import type { Report } from '../../bench/harness/report.ts';
import { runSuite } from '../../bench/harness/run_suite.ts';
import { SUBJECT_NAMES } from '../../bench/harness/subjects.ts';
import { renderReport } from '../../bench/harness/table.ts';
import {
  passesPerTask,
  skynetLeaves,
  skynetNodes,
  sleepMs,
} from '../../bench/subjects/tasks_run.ts';
import { tasksSuite } from '../../bench/tasks.ts';

const ROUNDS = 2;
const TINY: Sizes = {
  ...tasksSuite.sizes(true, ROUNDS),
  runMs: 2,
  warmUpMs: 2,
  verifyOps: 64,
  dataFileMiB: 2,
  fairnessMs: 20,
  timerCount: 200,
  skynetLeaves: 100,
};

describe('tasks benchmark', () => {
  let report: Report;

  beforeAll(async () => {
    const cases = tasksSuite.cases.map((benchCase) => benchCase.name);
    const names = { suites: [tasksSuite.name], cases, subjects: SUBJECT_NAMES };
    const options = parseOptions(['tasks', '--quick'], names);
    if (options === 'help') throw new Error('unreachable');
    report = await runSuite(tasksSuite, options, TINY, () => undefined);
  }, 120_000);

  test('every subject of every case gives a row, with the hash of the work', () => {
    expect(report.skips.filter((skip) => skip.failed)).toEqual([]);
    for (const { name, subjects } of tasksSuite.cases) {
      const of = (entry: { case: string }): boolean => entry.case === name;
      const found = [...report.rows.filter(of), ...report.skips.filter(of)];
      expect(found.map((entry) => entry.subject).toSorted(), name).toEqual(subjects.toSorted());
      expect(new Set(report.rows.filter(of).map((row) => row.hash)).size, name).toBe(1);
      for (const row of report.rows.filter(of)) expect(row.opsPerSecond.min).toBeGreaterThan(0);
    }
  });

  test('the costs of an AsyncLocalStorage, memory and lateness are in the rows', () => {
    const valuesOf = (name: string, subject: string): object | undefined =>
      report.rows.find((row) => row.case === name && row.subject === subject)?.values;
    expect(valuesOf('als-spawn', 'nephrite:als')).toHaveProperty('costNs');
    expect(valuesOf('als-resume', 'nephrite:als')).toHaveProperty('costNs');
    expect(valuesOf('sleepers-1m', 'nephrite')).toHaveProperty('peakMiB');
    expect(valuesOf('skynet-1m', 'nephrite')).toHaveProperty('peakMiB');
    expect(valuesOf('fairness-1ms', 'nephrite')).toHaveProperty('latenessP99Us');
  });

  test('the text has every verdict and a column per peer', () => {
    const text = renderReport(report, tasksSuite.ratioPeers);
    for (const peer of ['promise', 'queueMicrotask', 'effect', 'setTimeout']) {
      expect(text).toContain(`x ${peer}`);
    }
    expect(report.verdicts.length).toBe(tasksSuite.goals.length);
    expect(report.verdicts.map((verdict) => verdict.verdict)).not.toContain('not run');
  });
});

test('sizes of the work', () => {
  expect(skynetLeaves(1_000_000)).toBe(1_000_000);
  expect(skynetLeaves(999_999)).toBe(100_000);
  expect(skynetNodes(1_000_000)).toBe(1_111_111);
  expect(passesPerTask({ ops: 64, depth: 1000 })).toBe(1);
  expect(sleepMs(7, 1_000_000)).toBeGreaterThanOrEqual(5500);
});
