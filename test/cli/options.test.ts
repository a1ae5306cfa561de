// Option parsing of `stress`: strictness, defaults per mode, and what does not fit together.
// Not here: runs (stress_files.test.ts).
import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../lib/cli/args.ts';
import { CliError } from '../../lib/cli/cli_error.ts';
import { evaluate, type Figures, parseCondition } from '../../lib/cli/stress/fail_if.ts';
import { STRESS_COMMAND } from '../../lib/cli/stress/option_table.ts';
import { dataSetBytes, readStressOptions } from '../../lib/cli/stress/options.ts';

const read = (...argv: string[]) => readStressOptions(parseArguments(STRESS_COMMAND, argv));

/** The message of the usage error that the arguments give. */
function refusal(...argv: string[]): string {
  try {
    read(...argv);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    expect(error.exitCode).toBe(2);
    return error.message;
  }
  throw new Error(`${argv.join(' ')} was accepted`);
}

describe('strictness', () => {
  test.each([
    [['--dept', '8'], 'unknown option --dept; did you mean --depth?'],
    [['--no-verfy'], 'unknown option --no-verfy; did you mean --no-verify?'],
    [['--no-depth'], 'unknown option --no-depth'],
    [['-x'], 'unknown option -x'],
    [['--depth'], '--depth needs a value: --depth N'],
    [['--depth', '--quiet'], '--depth needs a value'],
    [['--depth='], '--depth needs a value'],
    [['--quiet=yes'], "--quiet takes no value, given 'yes'"],
    [['--depth', '8', '--depth', '9'], '--depth was given twice'],
    [['--depth', '0'], '--depth 0: expected a whole number from 1 to 4096'],
    [['--block', '1000'], '--block 1000: expected a multiple of 512'],
    [['--block', '32m'], '--block 32m: expected a size from 512 B to 16 MiB'],
    [['--direct', '--block', '512'], 'a multiple of 4096 with --direct'],
    [['--direct', '--mode', 'small'], '--direct has no meaning in small mode'],
    [['--mode', 'randm'], '--mode randm: expected one of random, sequential, small, fsync, mixed'],
    [['--backend', 'iocp'], '--backend iocp: expected one of io_uring, epoll, node'],
    [['--rwmix', '101'], '--rwmix 101'],
    [['--zipf', '0'], '--zipf 0: expected a number from 0.1 to 3'],
    [['--zipf', '1', '--mode', 'sequential'], '--zipf has no meaning in sequential mode'],
    [['--rate', '0'], '--rate 0'],
    [['--seed', '4294967296'], '--seed 4294967296'],
    [['--duration', '10ms'], 'a duration from 100 ms to'],
    [['--workers', '2'], '--workers 2: this version drives the load from one thread'],
    [['--against', 'bun'], '--against bun: expected one of node, fio'],
    [['--against', 'fio', '--mode', 'small'], 'fio has no workload equal to --mode small'],
    [['--against', 'fio', '--rate', '9', '--rwmix', '50'], 'fio limits reads and writes apart'],
    [['--against', 'fio', '--zipf', '1'], 'fio has no zipf distribution with exactly 1'],
    [['--fail-if', 'ratio<2'], 'ratio needs --against'],
    [['--fail-if', 'p99>5'], 'a time with us, ms or s for p99'],
    [['--fail-if', 'p98>5ms'], 'METRIC, then'],
    [['--fail-if', 'ops<5ms'], 'a plain number'],
    [['--fail-if', 'ops'], 'METRIC, then'],
    [['--size', '4k'], 'less than one block for each of 4 files'],
    [['--size', '64k'], '--size 64k holds 16 targets; --depth 32 needs at least 64'],
    [['--mode', 'small', '--size', '1m'], 'in small mode the size is --files x --block'],
    [['--mode', 'small', '--files', '10'], '--files 10 is 10 targets'],
    [['--depth', '4096', '--block', '1m'], 'needs more than 512 MiB of buffers'],
    [['--size', '1024t'], 'give a larger --block'],
  ])('%j: %s', (argv, message) => {
    expect(refusal(...argv)).toContain(message);
  });

  test('a word behind --json is its file, a target or an option is not', () => {
    expect(read('--json').jsonPath).toBe('');
    expect(read('--json', 'out.json').jsonPath).toBe('out.json');
    expect(read('--json=out.json').jsonPath).toBe('out.json');
    expect(read('--json', '--quiet')).toMatchObject({ jsonPath: '', isQuiet: true });
    const parsed = parseArguments(STRESS_COMMAND, ['--json', 'files']);
    expect(parsed.positionals).toEqual(['files']);
  });
});

describe('defaults', () => {
  test.each([
    ['random', { depth: 32, blockBytes: 4096, readPercent: 100, smallFileCount: 0 }],
    ['sequential', { depth: 8, blockBytes: 1024 ** 2, readPercent: 100, smallFileCount: 0 }],
    ['small', { depth: 32, blockBytes: 4096, readPercent: 70, smallFileCount: 10_000 }],
    ['fsync', { depth: 8, blockBytes: 4096, readPercent: 0, smallFileCount: 0 }],
    ['mixed', { depth: 32, blockBytes: 4096, readPercent: 70, smallFileCount: 256 }],
  ])('of %s', (mode, expected) => {
    expect(read('--mode', mode)).toMatchObject(expected);
  });

  test('a run without options is bounded: 256 MiB, ten seconds', () => {
    const options = read();
    expect(dataSetBytes(options)).toBe(256 * 1024 ** 2);
    expect(options.durationMs).toBe(10_000);
    expect(options).toMatchObject({ isVerified: true, isDirect: false, ratePerSecond: null });
  });

  test('the seed comes from NEPHRITE_SEED, and --seed wins', () => {
    const before = process.env.NEPHRITE_SEED;
    process.env.NEPHRITE_SEED = '7';
    try {
      expect(read().seed).toBe(7);
      expect(read('--seed', '8').seed).toBe(8);
    } finally {
      if (before === undefined) delete process.env.NEPHRITE_SEED;
      else process.env.NEPHRITE_SEED = before;
    }
  });
});

describe('conditions', () => {
  const figures: Figures = {
    ops: 5000,
    mib: 20,
    errors: 0,
    p50: 100,
    p90: 200,
    p99: 6000,
    'p99.9': 7000,
    'p99.99': 8000,
    max: 9000,
    mean: 150,
    cpu: 3,
    syscalls: null,
    ratio: null,
  };

  test.each([
    ['p99>5ms', true],
    ['p99>6ms', false],
    ['p99>=6ms', true],
    ['p99.9 < 1s', true],
    ['ops<10k', true],
    ['ops<5000', false],
    ['ops<=5000', true],
    ['errors>0', false],
    ['cpu>2.5us', true],
  ])('%s fails: %s', (text, isFailed) => {
    expect(evaluate(parseCondition(text), figures).isFailed).toBe(isFailed);
  });

  test('what was not measured has failed, whichever way it is compared', () => {
    expect(evaluate(parseCondition('syscalls>1'), figures)).toMatchObject({
      isFailed: true,
      actual: null,
    });
    expect(evaluate(parseCondition('syscalls<1'), figures).isFailed).toBe(true);
  });
});
