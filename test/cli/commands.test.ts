// The command line around the commands: help, version, mistyped names, targets of the future.
// Not here: options of a command (options.test.ts), what commands do (their own tests).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../lib/cli/commands.ts';
import { renderDocs, renderHelp } from '../../lib/cli/help.ts';
import { PLANNED_TARGETS } from '../../lib/cli/stress/option_table.ts';
import { ROOT } from '../support/root.ts';
import { runCli } from './run_cli.ts';

describe('help', () => {
  test('--help, -h and help list the commands that exist, and exit codes', async () => {
    const [long, short, word] = await Promise.all([
      runCli(['--help']),
      runCli(['-h']),
      runCli(['help']),
    ]);
    expect(long).toMatchObject({ code: 0, stderr: '' });
    expect(short.stdout).toBe(long.stdout);
    expect(word.stdout).toBe(long.stdout);
    for (const { name, summary } of COMMANDS)
      expect(long.stdout).toContain(`${name.padEnd(6)}   ${summary}`);
    expect(long.stdout).toContain('130');
  });

  test('help COMMAND and COMMAND --help are the same, and fit a terminal', async () => {
    for (const command of COMMANDS) {
      const [word, flag] = await Promise.all([
        runCli(['help', command.name]),
        runCli([command.name, '--help']),
      ]);
      expect(word).toMatchObject({ code: 0, stdout: renderHelp(command) });
      expect(flag.stdout).toBe(word.stdout);
      for (const line of word.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    }
  });

  test('help stress TARGET and stress TARGET --help show the options of the target', async () => {
    const targets = COMMANDS.flatMap((command) => command.targets ?? []);
    expect(targets.map(({ name }) => name)).toEqual(['stress tasks', 'stress timers']);
    for (const target of targets) {
      const words = target.name.split(' ');
      const [word, flag] = await Promise.all([
        runCli(['help', ...words]),
        runCli([...words, '-h']),
      ]);
      expect(word).toMatchObject({ code: 0, stdout: renderHelp(target) });
      expect(flag.stdout).toBe(word.stdout);
      for (const line of word.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    }
  });

  test('help does not list what does not exist', () => {
    const everything = COMMANDS.map(renderHelp).join('\n');
    for (const target of PLANNED_TARGETS) expect(everything).not.toContain(`stress ${target}`);
  });

  test('without a command: the overview, as an error', async () => {
    const { code, stdout, stderr } = await runCli([]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('usage: nephrite COMMAND');
  });

  test('--version is the package version', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(await runCli(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  });
});

describe('wrong command lines exit with 2 and name what is near', () => {
  test.each([
    [['stres'], "unknown command 'stres'; did you mean 'stress'?"],
    [['help', 'docter'], "unknown command 'docter'; did you mean 'doctor'?"],
    [['--versoin'], 'unknown option --versoin; did you mean --version?'],
    [['stress', 'file'], "stress has no target 'file'; did you mean 'files'?"],
    [['stress', 'files', 'more'], "unexpected 'more'"],
    [['stress', 'task'], "stress has no target 'task'; did you mean 'tasks'?"],
    [['stress', '-q', 'tasks'], 'the target comes first: nephrite stress tasks'],
    [['stress', 'tasks', 'more'], "unexpected 'more' after 'stress tasks'"],
    [['stress', 'tasks', '--mix', 'slep=1'], 'kinds: compute, sleep'],
    [['stress', 'tasks', '--mix', 'sleep=0'], 'at least one share above 0'],
    [['stress', 'tasks', '--levels', '8', '--fanout', '64'], 'more than 1000000'],
    [['stress', 'tasks', '--fail-if', 'ratio<1'], 'does not measure ratio'],
    [['stress', 'tasks', '--rwmix', '3'], 'nephrite help stress tasks lists them'],
    [['stress', 'timers', 'more'], "unexpected 'more' after 'stress timers'"],
    [['stress', 'timers', '--delays', 'mid'], 'one of short, mixed, long'],
    [['stress', 'timers', '--fail-if', 'mib<1'], 'does not measure mib'],
    [['stress', 'timers', '--depth', '0'], 'from 1 to 1000000'],
    [['stress', '--durration', '1s'], 'did you mean --duration?'],
    [['doctor', 'me'], "doctor takes no argument, given 'me'"],
    [['doctor', '--jsn'], 'did you mean --json?'],
    [['doctor', '--seccomp-base', 'x'], 'give --seccomp too'],
    [['doctor', '--seccomp', '--json'], 'cannot both go to standard output'],
  ])('%j', async (argv, message) => {
    const { code, stdout, stderr } = await runCli(argv);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test.each(PLANNED_TARGETS)('stress %s says that it is not in this version', async (target) => {
    const { code, stderr } = await runCli(['stress', target]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `nephrite: stress ${target} is not in this version; it has: stress files, tasks, timers\n`,
    );
  });
});

test('bench passes arguments and exit code of the benchmark through', async () => {
  const { code, stderr } = await runCli(['bench', 'no-such-benchmark']);
  expect(code).toBe(2);
  expect(stderr).toContain('no-such-benchmark');
});

test('docs/cli.md is what the tables say (vitest -u writes it anew)', async () => {
  await expect(renderDocs(COMMANDS)).toMatchFileSnapshot(join(ROOT, 'docs', 'cli.md'));
});
