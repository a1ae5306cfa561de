// `npm run bench -- files`: file I/O of nephrite against Node's fs and against C, with the required
// values of each case. Sizes are what distinguishes a full run from --quick; nothing else does.
import { clockCase } from './cases/clock.ts';
import { fairnessCase } from './cases/fairness.ts';
import { importCase } from './cases/import.ts';
import { FULL_OPS, memoryCase } from './cases/memory.ts';
import { readCase } from './cases/read4k.ts';
import { smallFilesCase, statCase } from './cases/small_files.ts';
import { write1mCase, write4kCase } from './cases/write.ts';
import type { Sizes, Suite } from './harness/bench_case.ts';
import type { Goal, RatioGoal } from './harness/goals.ts';

type Threshold = readonly [peer: string, atLeast: number, gate?: number];

function ratios(caseName: string, subject: string, thresholds: readonly Threshold[]): RatioGoal[] {
  return thresholds.map(([peer, atLeast, gate]) => ({
    kind: 'ratio',
    case: caseName,
    subject,
    peer,
    atLeast,
    gate,
  }));
}

function limit(caseName: string, subject: string, measure: string, atMost: number): Goal {
  return { kind: 'limit', case: caseName, subject, measure, atMost, gate: true };
}

const GOALS: readonly Goal[] = [
  ...['read4k-cached-qd32', 'read4k-cached-qd128'].flatMap((name) => [
    ...ratios(name, 'nephrite', [
      ['fs.promises', 4, 3.5],
      ['fs.callback', 1.6, 1.4],
      ['c:io_uring', 0.5],
    ]),
    ...ratios(name, 'nephrite:pool', [['c:io_uring', 0.65]]),
  ]),
  ...ratios('read4k-cached-qd1', 'nephrite', [['fs.promises', 3, 2]]),
  ...ratios('read4k-direct-qd32', 'nephrite:pool', [['c:io_uring', 0.9]]),
  ...ratios('small-files-100', 'nephrite', [['fs.promises', 5, 3.5]]),
  ...ratios('small-files-100', 'nephrite:readMany', [['fs.promises', 7, 5]]),
  ...ratios('stat', 'nephrite', [['fs.promises', 1.5]]),
  ...ratios('stat', 'nephrite:statMany', [['fs.promises', 3]]),
  ...ratios('write4k-qd32', 'nephrite', [['fs.promises', 3]]),
  ...ratios('write1m-seq', 'nephrite', [['fs.promises', 1]]),
  ...['read4k-cached-qd32', 'small-files-100', 'stat'].flatMap((name) =>
    ratios(name, 'nephrite:epoll', [['fs.promises', 1.5]]),
  ),
  limit('fairness', 'nephrite', 'timerP99Us', 5000),
  limit('fairness', 'nephrite', 'statP99Us', 5000),
  limit('memory', 'nephrite', 'growthMiB', 4),
  limit('import', 'nephrite', 'importMs', 15),
  limit('import', 'nephrite', 'ioUringSetupCalls', 0),
];

function sizes(quick: boolean, rounds: number): Sizes {
  return {
    budgetMs: quick ? 55_000 : Number.POSITIVE_INFINITY,
    leftOut: quick ? ['nephrite:node'] : [],
    rounds,
    runMs: quick ? 40 : 300,
    warmUpMs: quick ? 250 : 300,
    verifyOps: quick ? 512 : 4096,
    dataFileMiB: 64,
    writeFileMiB: quick ? 16 : 64,
    smallFiles: quick ? 2_000 : 10_000,
    fairnessMs: quick ? 800 : 5_000,
    memoryOps: quick ? 300_000 : FULL_OPS,
    importRounds: rounds,
    clockOps: quick ? 200_000 : 2_000_000,
  };
}

export const filesSuite: Suite = {
  name: 'files',
  cases: [
    readCase(1, false),
    readCase(32, false),
    readCase(128, false),
    readCase(32, true),
    smallFilesCase,
    statCase,
    write4kCase,
    write1mCase,
    fairnessCase,
    memoryCase,
    importCase,
    clockCase,
  ],
  goals: GOALS,
  ratioPeers: ['fs.promises', 'fs.callback', 'c:io_uring', 'c:pread', 'performance.now'],
  sizes,
  environment: (size) => ({
    warmUp: `one run of ${size.verifyOps} operations with every byte checked, one of ${size.warmUpMs} ms`,
    measurement: `${size.rounds} rounds of ${size.runMs} ms per subject, order rotated every round`,
    concurrency: 'the case name gives the depth; small files and stat: 100',
    input: `${size.dataFileMiB} MiB cached file, ${size.smallFiles} small files, ${size.writeFileMiB} MiB written file`,
  }),
};
