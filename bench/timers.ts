// `npm run bench -- timers`: the timer wheel against Node's timers, with the required values of
// each case. Sizes are what distinguishes a full run from --quick; nothing else does.
import { timersCancelCase, timersFireCase } from './cases/timers.ts';
import type { Sizes, Suite } from './harness/bench_case.ts';
import type { Goal } from './harness/goals.ts';
import { SIGNAL_SUBJECT, TIMEOUT_SUBJECT } from './harness/subjects.ts';

const GOALS: readonly Goal[] = ['timers-fire', 'timers-cancel'].map((name) => ({
  kind: 'ratio',
  case: name,
  subject: 'nephrite',
  peer: TIMEOUT_SUBJECT,
  atLeast: 5,
  gate: 3,
}));

function sizes(quick: boolean, rounds: number): Sizes {
  return {
    budgetMs: quick ? 55_000 : Number.POSITIVE_INFINITY,
    leftOut: [],
    rounds,
    runMs: 0,
    warmUpMs: 0,
    verifyOps: 4096,
    dataFileMiB: 0,
    writeFileMiB: 0,
    smallFiles: 0,
    fairnessMs: 0,
    memoryOps: 0,
    importRounds: 0,
    clockOps: 0,
    timerCount: quick ? 200_000 : 1_000_000,
  };
}

export const timersSuite: Suite = {
  name: 'timers',
  cases: [timersFireCase, timersCancelCase],
  goals: GOALS,
  ratioPeers: [TIMEOUT_SUBJECT, SIGNAL_SUBJECT],
  sizes,
  environment: (size) => ({
    warmUp: `one run of ${size.verifyOps} timers that are looked at one by one, one of full size`,
    measurement: `${size.rounds} rounds, order rotated every round; waiting is not counted`,
    concurrency: `${size.timerCount ?? 0} timers armed at once`,
    input: 'delays of 1 to 256 ms in a seeded sequence, a second longer where they are cancelled',
  }),
};
