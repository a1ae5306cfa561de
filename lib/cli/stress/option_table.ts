// The options of `nephrite stress files`, and its other targets: the one source of parsing, --help
// and docs/cli.md.
// Owner: this table. Invariants: what is listed exists; what does not exist is not listed.
// Not here: options of other targets (tasks/, timers/), reading values (options.ts), conditions of
// --fail-if (fail_if.ts).
import type { CommandSpec } from '../args.ts';
import {
  BACKEND_OPTION,
  DIR_OPTION,
  HTML_OPTION,
  JSON_OPTION,
  QUIET_OPTION,
  RAMP_OPTION,
  SEED_OPTION,
} from './shared_options.ts';
import { TASKS_COMMAND } from './tasks/option_table.ts';
import { TIMERS_COMMAND } from './timers/option_table.ts';

/** Targets that `stress` has in this version. */
export const STRESS_TARGETS = ['files', 'tasks', 'timers'] as const;

/** Targets that are planned: named in an error of their own, never in help. */
export const PLANNED_TARGETS: readonly string[] = ['net', 'mixed'];

export const STRESS_COMMAND: CommandSpec = {
  name: 'stress',
  usage: 'nephrite stress [files] [options]',
  summary: 'put real load on real files and check every byte',
  description: [
    'Lays out a data set in a temporary folder, drives it through nephrite/fs for a while, checks',
    'every byte that is read against what the seed says it must be, and reports rate, latency,',
    'CPU time and system calls. Without options: 10 seconds of random 4 KiB reads on 256 MiB.',
    '',
    'Modes: random (blocks anywhere; 100 % reads unless --rwmix), sequential (blocks in order),',
    'small (whole small files: read, overwrite, unlink and create), fsync (write a block, then',
    'fdatasync), mixed (70 % reads; blocks, small files, stat and fdatasync together).',
    'While a block or file is being written no other operation touches it, so that the content a',
    'read must find is always known; after the run everything that was written is read once more',
    'through node:fs.',
  ],
  options: [
    {
      name: 'mode',
      kind: 'value',
      placeholder: 'MODE',
      defaultText: 'random',
      summary: 'random, sequential, small, fsync or mixed',
    },
    {
      name: 'depth',
      kind: 'value',
      placeholder: 'N',
      defaultText: '32; 8 for sequential and fsync',
      summary: 'operations in flight, 1 to 4096',
    },
    {
      name: 'block',
      kind: 'value',
      placeholder: 'SIZE',
      defaultText: '4k; 1m for sequential',
      summary: 'bytes per operation, a multiple of 512 up to 16m; the file size in small mode',
    },
    {
      name: 'size',
      kind: 'value',
      placeholder: 'SIZE',
      defaultText: '256m; files x block in small mode',
      summary: 'bytes of the whole data set',
    },
    {
      name: 'files',
      kind: 'value',
      placeholder: 'N',
      defaultText: '4; 10000 in small mode',
      summary: 'number of files the data set is spread over',
    },
    {
      name: 'duration',
      kind: 'value',
      placeholder: 'TIME',
      defaultText: '10s',
      summary: 'measured time (500ms, 10s, 2m); with --against, for each subject',
    },
    RAMP_OPTION,
    {
      name: 'rate',
      kind: 'value',
      placeholder: 'N',
      defaultText: 'as fast as --depth allows',
      summary:
        'open loop: start N operations per second and measure latency from the intended start, ' +
        'so that waiting behind a slow operation counts',
    },
    {
      name: 'rwmix',
      kind: 'value',
      placeholder: 'PERCENT',
      defaultText: '100; 70 for small and mixed, 0 for fsync',
      summary: 'share of reads among reads and writes',
    },
    {
      name: 'zipf',
      kind: 'value',
      placeholder: 'THETA',
      defaultText: 'uniform',
      summary: 'skew accesses to hot blocks, 0.1 (mild) to 3 (extreme); 0.99 is common',
    },
    {
      name: 'direct',
      kind: 'flag',
      summary: 'bypass the page cache (O_DIRECT); block must be a multiple of 4k',
    },
    {
      name: 'verify',
      kind: 'flag',
      isNegatable: true,
      defaultText: 'on',
      summary: 'check every byte that is read; --no-verify measures without checking',
    },
    SEED_OPTION,
    DIR_OPTION,
    BACKEND_OPTION,
    {
      name: 'workers',
      kind: 'value',
      placeholder: 'N',
      defaultText: '1',
      summary: 'threads that drive the load; only 1 in this version',
    },
    {
      name: 'against',
      kind: 'value',
      placeholder: 'node|fio',
      summary:
        'run the same workload through node:fs/promises, or through fio, in alternating rounds',
    },
    {
      name: 'fail-if',
      kind: 'value',
      placeholder: 'CONDITION',
      isRepeatable: true,
      defaultText: "'errors>0'",
      summary:
        "exit with 1 if it holds: 'p99>5ms', 'ops<10000', 'errors>0'; metrics: ops, mib, errors, " +
        'p50, p90, p99, p99.9, p99.99, max, mean, cpu (time per operation), syscalls (per ' +
        'operation), ratio (rate against the peer)',
    },
    JSON_OPTION,
    HTML_OPTION,
    QUIET_OPTION,
  ],
  examples: [
    ['nephrite stress', '10 seconds of verified random reads'],
    ['nephrite stress files --mode mixed --against node', 'the same load through node:fs/promises'],
    ['nephrite stress --rate 20k --fail-if "p99>5ms"', 'does this disk keep up with 20,000/s?'],
    ['nephrite stress --dir /mnt/data --direct --size 8g --html report.html', 'a disk, no cache'],
  ],
  notes: [
    'How to read it. In a closed loop (without `--rate`) latency is from the start of an operation to\n' +
      'its result, and operations that wait behind a slow one are not started: a stall shows in few of\n' +
      'them. With `--rate` every operation has an intended start and is charged from there. System\n' +
      'calls are those of the thread that drives the load; CPU time is that of the whole process. With\n' +
      '`--against`, subjects take turns in five rounds on the same files; the rate is the median round.',
    'The JSON of `--json`: `name`, `startedAt`, `environment` (versions, CPUs, quota, file system),\n' +
      '`options`, `subjects` (per subject: `backend`, `operations`, `opsPerSecond` with min, median and\n' +
      'max over rounds, `mibPerSecond`, `latencyUs`, `cpuUsPerOperation`, `systemCallsPerOperation`,\n' +
      '`contextSwitchesPerOperation`, `errors` by code, `verified` with its mismatches, `samples` over\n' +
      'time, `latencyDistribution`), `ratio`, `finalCheck`, `conditions`, `stopped`, `isFailed`. What\n' +
      'was not measured is `null`.',
    'Every run stops by itself, works in a temporary folder of its own and removes it, also after\n' +
      'Ctrl-C. It refuses to start when the file system would have less than 64 MiB left.',
  ],
  targets: [TASKS_COMMAND, TIMERS_COMMAND],
  reservedWords: [...STRESS_TARGETS, ...PLANNED_TARGETS],
};
