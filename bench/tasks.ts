// `npm run bench -- tasks`: tasks against promises, timers and effect, with the required values of
// each case. Sizes are what distinguishes a full run from --quick; nothing else does.
import {
  alsResumeCase,
  alsSpawnCase,
  fairness1msCase,
  skynetCase,
  sleepersCase,
  spawnJoinCase,
  switchCases,
  timeoutReadyCase,
} from './cases/tasks.ts';
import { tasksReadCase } from './cases/tasks_read.ts';
import type { Sizes, Suite } from './harness/bench_case.ts';
import type { Goal } from './harness/goals.ts';
import { SIGNAL_SUBJECT, TIMEOUT_SUBJECT } from './harness/subjects.ts';

function ratio(name: string, peer: string, atLeast: number, gate?: number): Goal {
  return { kind: 'ratio', case: name, subject: 'nephrite', peer, atLeast, gate };
}

function limit(name: string, subject: string, measure: string, atMost: number, gate = 0): Goal {
  return { kind: 'limit', case: name, subject, measure, atMost, gate: gate || false };
}

const GOALS: readonly Goal[] = [
  ratio('spawn-join', 'effect', 15, 10),
  ratio('spawn-join', 'promise', 0.25),
  ratio('switch', 'queueMicrotask', 1, 1),
  ratio('skynet-1m', 'promise', 2, 1),
  ratio('skynet-1m', 'effect', 15),
  limit('skynet-1m', 'nephrite', 'peakMiB', 200),
  ratio('timeout-ready', SIGNAL_SUBJECT, 20),
  limit('fairness-1ms', 'nephrite', 'latenessP99Us', 3000, 5000),
  {
    kind: 'relative',
    case: 'sleepers-1m',
    subject: 'nephrite',
    measure: 'peakMiB',
    peer: TIMEOUT_SUBJECT,
    atMost: 1,
  },
  ratio('tasks-read4k', 'nephrite:await', 1.1),
  limit('als-spawn', 'nephrite:als', 'costNs', 70),
  limit('als-resume', 'nephrite:als', 'costNs', 15),
];

function sizes(quick: boolean, rounds: number): Sizes {
  return {
    budgetMs: quick ? 55_000 : Number.POSITIVE_INFINITY,
    leftOut: [],
    rounds,
    runMs: quick ? 40 : 300,
    warmUpMs: quick ? 150 : 300,
    verifyOps: 4096,
    dataFileMiB: 64,
    writeFileMiB: 0,
    smallFiles: 0,
    fairnessMs: quick ? 250 : 3_000,
    memoryOps: 0,
    importRounds: 0,
    clockOps: 0,
    timerCount: quick ? 200_000 : 1_000_000,
    skynetLeaves: quick ? 100_000 : 1_000_000,
  };
}

export const tasksSuite: Suite = {
  name: 'tasks',
  cases: [
    spawnJoinCase,
    ...switchCases,
    skynetCase,
    timeoutReadyCase,
    fairness1msCase,
    sleepersCase,
    tasksReadCase,
    alsSpawnCase,
    alsResumeCase,
  ],
  goals: GOALS,
  ratioPeers: [
    'promise',
    'queueMicrotask',
    TIMEOUT_SUBJECT,
    SIGNAL_SUBJECT,
    'nephrite:await',
    'fs.promises',
    'effect',
  ],
  sizes,
  environment: (size) => ({
    warmUp: `one run of ${size.verifyOps} operations with its result checked, one of ${size.warmUpMs} ms`,
    measurement: `${size.rounds} rounds of ${size.runMs} ms per subject, order rotated every round`,
    concurrency: 'switch: 1,000 tasks; fairness: 8 that compute, 1 that sleeps; reads: 32',
    input: `skynet of ${size.skynetLeaves ?? 0} leaves, ${size.timerCount ?? 0} sleepers`,
  }),
};
