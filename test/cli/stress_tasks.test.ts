// `stress tasks` and `stress timers` as a user runs them: real load with its checks, JSON, page, exit
// codes; and the checks themselves, which must see what is wrong.
// Not here: wrong command lines (commands.test.ts), how fast tasks are (bench/).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Recorder } from '../../lib/cli/load/recorder.ts';
import type { LoadResult } from '../../lib/cli/stress/result.ts';
import { Ledger, TASK_KINDS } from '../../lib/cli/stress/tasks/ledger.ts';
import { DEFAULT_MIX, LEAF_KINDS, parseMix } from '../../lib/cli/stress/tasks/mix.ts';
import { drawTree, subtreeValue } from '../../lib/cli/stress/tasks/plan.ts';
import { Runtime } from '../../lib/index.ts';
import { makeTestFolder, runCli, startCli } from './run_cli.ts';

let folder: ReturnType<typeof makeTestFolder>;
beforeEach(() => {
  folder = makeTestFolder();
});
afterEach(() => folder.remove());

const SHORT = ['--duration', '300ms', '--ramp', '0'];

async function runJson(...words: string[]): Promise<LoadResult> {
  const result = await runCli(['stress', ...words, ...SHORT, '--json', '--quiet']);
  expect(result.stderr).toBe('');
  expect(result.code).toBe(0);
  return JSON.parse(result.stdout) as LoadResult;
}

const tasksIn = (...more: string[]): string[] => ['tasks', '--dir', folder.path, ...more];

function violations(result: LoadResult): string[] {
  return result.subjects.flatMap(({ checks }) => checks.flatMap((check) => check.violations));
}

describe('stress tasks', () => {
  test.each(LEAF_KINDS)('%s: runs, with every task at the outcome it must have', async (kind) => {
    const result = await runJson(...tasksIn('--mix', `${kind}=1`, '--levels', '2'));
    expect(violations(result)).toEqual([]);
    const [subject] = result.subjects;
    expect(subject.operationsByKind[kind]).toBeGreaterThan(0);
    expect(subject.operations).toBeGreaterThan(20);
    expect(subject.latencyUs?.p50).toBeGreaterThan(0);
    const [outcomes, onBus] = subject.checks;
    expect(outcomes?.count).toBe(subject.operations);
    // Spawned and completed, and one comparison per outcome.
    expect(onBus?.count).toBe(2 * subject.operations + 4);
    expect(folder.leftovers()).toEqual([]);
  });

  test('the default mix does everything; the report lists what was proved', async () => {
    const page = join(folder.path, 'report.html');
    const { code, stdout, stderr } = await runCli([
      ...['stress', ...tasksIn('--duration', '1s', '--seed', '7', '--html', page)],
    ]);
    expect(stderr).toContain('running in');
    expect(code).toBe(0);
    expect(stdout).toContain('seed 7');
    expect(stdout).toMatch(/one outcome, the one it must have: [\d,]+ checked, 0 violations/);
    expect(stdout).toMatch(/nothing is left at the end: 3 checked, 0 violations/);
    for (const kind of LEAF_KINDS) expect(stdout).toMatch(new RegExp(`[\\d,]+ ${kind}`));
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('<h1>nephrite stress tasks</h1>');
    expect(html.match(/<svg /g)).toHaveLength(3);
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
    expect(folder.leftovers()).toEqual([]);
  });

  test('--no-verify leaves the bus alone', async () => {
    const result = await runJson(...tasksIn('--no-verify', '--mix', 'compute=1'));
    const names = result.subjects[0].checks.map(({ what }) => what);
    expect(names.some((name) => name.includes('bus'))).toBe(false);
    expect(names[0]).toContain('one outcome');
  });

  test('a condition that does not hold fails the run, with the reason', async () => {
    const { code, stdout } = await runCli([
      ...['stress', ...tasksIn(...SHORT, '--fail-if', 'ops>1', '--quiet')],
    ]);
    expect(code).toBe(1);
    expect(stdout).toContain('FAILED ops>1');
  });

  test('Ctrl-C ends the run early, with a report and nothing left behind', async () => {
    const cli = startCli(['stress', ...tasksIn('--duration', '60s')]);
    await cli.seen(/running in/);
    cli.child.kill('SIGINT');
    const { code, stdout } = await cli.ended;
    expect(stdout).toContain('stopped early by SIGINT');
    expect(stdout).not.toContain('VIOLATION');
    expect(code).toBe(130);
    expect(folder.leftovers()).toEqual([]);
  });
});

describe('stress timers', () => {
  test.each(['short', 'mixed', 'long'])('%s: none early, none lost, none twice', async (delays) => {
    const result = await runJson('timers', '--delays', delays, '--depth', '2000');
    expect(violations(result)).toEqual([]);
    const [subject] = result.subjects;
    const { fired = 0, cancelled = 0 } = subject.operationsByKind;
    expect(fired + cancelled).toBe(subject.operations);
    expect(cancelled).toBeGreaterThan(0);
    if (delays !== 'long') expect(fired).toBeGreaterThan(100);
    const [early, once, onBus] = subject.checks;
    expect(early?.count).toBe(fired);
    expect(once?.count).toBe(subject.operations);
    expect(onBus?.count).toBeGreaterThanOrEqual(fired);
  });

  test('--rate arms no more than so many a second', async () => {
    const result = await runJson('timers', '--rate', '1k', '--delays', 'short', '--cancel', '0');
    expect(violations(result)).toEqual([]);
    expect(result.subjects[0].operations).toBeLessThanOrEqual(301);
    // Only those that would have outlived the run.
    const { fired = 0, cancelled = 0 } = result.subjects[0].operationsByKind;
    expect(fired).toBeGreaterThan(4 * cancelled);
  });
});

describe('what is checked', () => {
  test('an outcome other than the planned one, and a task that never ends, are seen', async () => {
    const runtime = await Runtime.start();
    const ledger = new Ledger(new Recorder(TASK_KINDS));
    const forget = ledger.follow(runtime);
    const wrong = runtime.spawn(() => 1);
    ledger.expect(wrong, 'compute', 'failure', performance.now());
    await wrong.settled();
    const hanging = runtime.spawn(() => new Promise<number>(() => undefined));
    ledger.expect(hanging, 'compute', 'success', performance.now());
    // On the bus only.
    await runtime.spawn(() => 2).settled();
    ledger.close(runtime);
    forget();
    const found = ledger.checks().flatMap((check) => check.violations);
    expect(found).toEqual(
      expect.arrayContaining([
        'compute: success, failure expected',
        'success: 2 on the bus, 1 in the program',
        '1 tasks never ended',
        '1 open on the bus',
      ]),
    );
    await runtime.close({ deadline: 0 });
  });

  test('the same seed gives the same trees', () => {
    const shape = { seed: 7, mix: DEFAULT_MIX, levels: 3, fanout: 4 };
    expect(drawTree(shape, 3)).toEqual(drawTree(shape, 3));
    expect(subtreeValue(drawTree(shape, 3))).not.toBe(subtreeValue(drawTree(shape, 4)));
    expect(drawTree({ ...shape, mix: parseMix('read=2'), levels: 0 }, 1).kind).toBe('read');
  });
});
