// Counting and naming of test results: what drivers print at their end is what the runners saw.
// Method: each runner's output is written as that runner writes it, with failures of every kind;
// one vitest run is real, since its report is what most names come from.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendReport, readReport, readTap, readVitest } from '../../../scripts/report.js';
import { ROOT } from '../../support/root.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-report-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('report: TAP', () => {
  it('tap: counts passed, failed and skipped with their reasons', () => {
    const tap = readTap('ok 1 - a\nnot ok 2 - b\n# a comment\nok 3 - c # SKIP no memory\n1..3\n');
    expect(tap).toEqual({
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [{ test: 'b', error: '(no message)' }],
      skips: ['c: no memory'],
      plan: 3,
    });
  });

  it('tap: a failed test has the first expectation that failed as its error', () => {
    const { failures } = readTap(
      '# NEPHRITE_SEED=7\n# a.cc:3: passing by\nok 1 - a\n' +
        '# NEPHRITE_SEED=8\n# b.cc:9: expected x\n# b.cc:10: expected y\nnot ok 2 - b\n1..2\n',
    );
    expect(failures).toEqual([{ test: 'b', error: 'b.cc:9: expected x' }]);
  });

  it('tap: lines may end as on Windows', () => {
    expect(readTap('ok 1 - a\r\nok 2 - b # SKIP c\r\n1..2\r\n')).toEqual({
      passed: 1,
      failed: 0,
      skipped: 1,
      failures: [],
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

  function testOf(title: string, failureMessages: string[]) {
    const status = failureMessages.length > 0 ? 'failed' : 'passed';
    return { title, ancestorTitles: ['outer', 'inner'], status, failureMessages };
  }

  it('vitest: takes the counts, names what failed, adds files that never loaded', () => {
    const file = vitestReport({
      numPassedTests: 5,
      numFailedTests: 1,
      numPendingTests: 2,
      numTodoTests: 1,
      testResults: [
        {
          name: join(ROOT, 'test', 'a.test.ts'),
          status: 'failed',
          message: '',
          assertionResults: [
            testOf('fails', ['\n\u001b[31mAssertionError: 1 is not 2\u001b[0m\n  at a.ts:1']),
            testOf('passes', []),
          ],
        },
        {
          name: join(ROOT, 'test', 'b.test.ts'),
          status: 'failed',
          message: 'no such module',
          assertionResults: [],
        },
        {
          name: join(ROOT, 'test', 'c.test.ts'),
          status: 'passed',
          message: '',
          assertionResults: [testOf('passes', [])],
        },
      ],
    });
    expect(readVitest(file)).toEqual({
      passed: 5,
      failed: 2,
      skipped: 3,
      failures: [
        {
          file: join('test', 'a.test.ts'),
          test: 'outer > inner > fails',
          error: 'AssertionError: 1 is not 2',
        },
        { file: join('test', 'b.test.ts'), error: 'no such module' },
      ],
    });
  });

  it('vitest: a real run names a failed test, a broken file and a stray rejection', () => {
    const sources: Readonly<Record<string, string>> = {
      'wrong.test.mjs': `test('adds', () => expect(1 + 1).toBe(3));`,
      'broken.test.mjs': `throw new Error('broken on load');`,
      'stray.test.mjs': `test('strays', () => { Promise.reject(new Error('nobody waits')); });`,
    };
    for (const [name, source] of Object.entries(sources)) {
      writeFileSync(join(folder, name), source);
    }
    const output = join(folder, 'real.json');
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    const reporter = join(ROOT, 'scripts', 'vitest_reporter.js');
    const args = [vitest, 'run', '--globals', `--root=${folder}`];
    args.push(`--reporter=${reporter}`, `--outputFile.json=${output}`);
    const run = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    expect(run.status, run.stderr).toBe(1);
    const { passed, failed, failures } = readVitest(output);
    expect({ passed, failed }).toEqual({ passed: 1, failed: 3 });
    expect(failures.map(({ error }) => error).sort()).toEqual([
      'AssertionError: expected 2 to be 3 // Object.is equality',
      'Error: nobody waits',
      'broken on load',
    ]);
    expect(failures.find(({ error }) => error.startsWith('Assertion'))?.test).toBe('adds');
  }, 60_000);

  it('vitest: no report is a failure', () => {
    expect(readVitest(join(folder, 'gone.json'))).toMatchObject({
      passed: 0,
      failed: 1,
      failures: [{ error: 'vitest wrote no report' }],
    });
  });
});

describe('report: sums', () => {
  it('report: lines add up, and a missing file is a failure', () => {
    const file = join(folder, 'deep', 'report.jsonl');
    appendReport(file, { suite: 'a', passed: 3, failed: 0, skipped: 1 });
    appendReport(file, { suite: 'b', passed: 4, failed: 2, skipped: 0 });
    expect(readReport(file)).toMatchObject({ passed: 7, failed: 2, skipped: 1 });
    expect(readReport(join(folder, 'gone.jsonl'))).toMatchObject({ failed: 1 });
  });

  it('report: a failure keeps its own suite, and one without a name gets that of its line', () => {
    const file = join(folder, 'names.jsonl');
    const named = { suite: 'vitest', file: 'x.test.ts', test: 'y', error: 'z' };
    appendReport(file, { suite: 'a', passed: 3, failed: 1, skipped: 0, failures: [named] });
    appendReport(file, {
      suite: 'b',
      passed: 0,
      failed: 1,
      skipped: 0,
      failures: [{ error: 'c' }],
    });
    appendReport(file, { suite: 'd', passed: 0, failed: 1, skipped: 0 });
    expect(readReport(file).failures).toEqual([
      named,
      { suite: 'b', error: 'c' },
      { suite: 'd', error: '1 failed, see the output of that step' },
    ]);
  });
});

describe('report: the end of a driver', () => {
  it('print: what failed comes right before the last line, which has the counts', () => {
    const script = `
      import { printResults } from ${JSON.stringify(join(ROOT, 'scripts', 'report.js'))};
      const failure = { suite: 's', file: 'f.ts', test: 't', error: 'e' };
      printResults({ passed: 1, failed: 1, skipped: 2, failures: [failure] });
    `;
    const args = ['--input-type=module', '--eval', script];
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stdout.split('\n')).toEqual([
      '',
      '1 failed:',
      'not ok - s | f.ts | t',
      '    e',
      '',
      '1 passed, 1 failed, 2 skipped',
      '',
    ]);
  });
});
