// Tasks against promises, timers and effect: spawning, switching, a tree of a million, sleeping,
// timeouts, fairness, and what an AsyncLocalStorage costs. What each subject does is in
// subjects/tasks_*.ts; this file says how much of it, and what must come out.
// Not here: tasks that read files (tasks_read.ts), the required values (../tasks.ts).
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { BenchCase, CaseContext, Sizes } from '../harness/bench_case.ts';
import type { WorkRequest } from '../harness/protocol.ts';
import type { Row } from '../harness/report.ts';
import { runRounds, type WorkloadPlan } from '../harness/rounds.ts';
import { SIGNAL_SUBJECT, TIMEOUT_SUBJECT } from '../harness/subjects.ts';
import {
  childValue,
  passesPerTask,
  skynetLeaves,
  type TasksFields,
} from '../subjects/tasks_run.ts';

const SWITCHING_TASKS = 1000;
const HOGS = 8;
const HOG_VERIFY_MS = 50;
const ALS_SUBJECTS = ['nephrite', 'nephrite:als'];

type TasksRequest = WorkRequest & TasksFields;

interface TasksPlan {
  name: string;
  work: string;
  subjects: readonly string[];
  /** Number of tasks. */
  depth?: number;
  levels?: number;
  expected(request: WorkRequest): number;
  fixedOps?: (context: CaseContext) => number;
  values?: (row: Row) => Record<string, number>;
  note?: (subject: string) => string | undefined;
  /** Changes to the run's sizes. */
  sizes?: (sizes: Sizes) => Partial<Sizes>;
}

function tasksCase(plan: TasksPlan): BenchCase {
  const rounds: WorkloadPlan = {
    name: plan.name,
    subjects: plan.subjects,
    checksumInReply: true,
    expected: plan.expected,
    fixedOps: plan.fixedOps,
    values: plan.values,
    note: plan.note,
    request: () => requestOf(plan),
  };
  return {
    name: plan.name,
    subjects: plan.subjects,
    run: (context) => {
      const sizes = { ...context.sizes, ...plan.sizes?.(context.sizes) };
      return runRounds(rounds, { ...context, sizes });
    },
  };
}

function requestOf({ work, depth = 1, levels = 1 }: TasksPlan) {
  const effect = pathToFileURL(createRequire(import.meta.url).resolve('effect')).href;
  const fields: TasksFields = { work, levels, effect };
  return {
    ...fields,
    workload: 'tasks' as const,
    path: '',
    depth,
    blockBytes: 8,
    blocks: 1,
    sequential: false,
    direct: false,
  } satisfies Partial<TasksRequest>;
}

/** The sum of what `ops` children compute. */
function sumOfChildren({ ops }: Pick<WorkRequest, 'ops'>): number {
  let sum = 0;
  for (let i = 0; i < ops; i++) sum = (sum + childValue(i)) >>> 0;
  return sum;
}

export const spawnJoinCase = tasksCase({
  name: 'spawn-join',
  work: 'spawn-join',
  subjects: ['nephrite', 'promise', 'effect', 'effect:sync'],
  expected: sumOfChildren,
});

function switchCase(levels: number): BenchCase {
  const isDeep = levels > 1;
  return tasksCase({
    name: isDeep ? `switch-depth-${levels}` : 'switch',
    work: 'switch',
    subjects: ['nephrite', 'queueMicrotask', ...(isDeep ? [] : ['promise', 'effect'])],
    depth: SWITCHING_TASKS,
    levels,
    expected: (request) => passesPerTask(request) * request.depth,
    note: (subject) =>
      isDeep && subject === 'queueMicrotask' ? 'callbacks have no depth' : undefined,
  });
}

export const switchCases = [1, 2, 4, 8].map(switchCase);

export const skynetCase = tasksCase({
  name: 'skynet-1m',
  work: 'skynet',
  subjects: ['nephrite', 'promise', 'effect', 'effect:sync'],
  fixedOps: ({ sizes }) => sizes.skynetLeaves ?? 0,
  expected: ({ ops }) => {
    const leaves = skynetLeaves(ops);
    return ((leaves * (leaves - 1)) / 2) % 2 ** 32;
  },
  values: peakMiB,
});

export const timeoutReadyCase = tasksCase({
  name: 'timeout-ready',
  work: 'timeout-ready',
  subjects: ['nephrite', SIGNAL_SUBJECT],
  expected: ({ ops }) => ops,
});

export const fairness1msCase = tasksCase({
  name: 'fairness-1ms',
  work: 'fairness',
  subjects: ['nephrite', 'effect', 'effect:yieldNow', TIMEOUT_SUBJECT, 'setImmediate'],
  depth: HOGS,
  fixedOps: ({ sizes }) => sizes.fairnessMs,
  sizes: () => ({ verifyOps: HOG_VERIFY_MS }),
  expected: () => HOGS,
  values: (row) => ({ latenessP50Us: row.p50Us ?? 0, latenessP99Us: row.p99Us ?? 0 }),
  note: (subject) => {
    if (subject === TIMEOUT_SUBJECT)
      return 'hogs await a resolved promise: no timer before they end';
    return subject === 'setImmediate'
      ? 'hogs await setImmediate, the sleeper setTimeout'
      : undefined;
  },
});

export const sleepersCase = tasksCase({
  name: 'sleepers-1m',
  work: 'sleepers',
  subjects: ['nephrite', TIMEOUT_SUBJECT],
  fixedOps: ({ sizes }) => sizes.timerCount ?? 0,
  // What is measured is memory: one round in a fresh process, nothing left of a run before it.
  sizes: () => ({ rounds: 1, warmUpMs: 0 }),
  expected: sumOfChildren,
  values: peakMiB,
  note: () => 'ops/s: spawned until all sleep',
});

function peakMiB(row: Row): Record<string, number> {
  return { peakMiB: row.peakRssMiB ?? 0 };
}

export const alsSpawnCase = costCase({
  name: 'als-spawn',
  work: 'als-spawn',
  subjects: ALS_SUBJECTS,
  expected: ({ ops }) =>
    (Math.max(1, Math.ceil(ops / 1000)) * sumOfChildren({ ops: 1000 })) % 2 ** 32,
});

export const alsResumeCase = costCase({
  name: 'als-resume',
  work: 'switch',
  subjects: ALS_SUBJECTS,
  depth: SWITCHING_TASKS,
  expected: (request) => passesPerTask(request) * request.depth,
});

/** The second subject's time per operation beyond the first's, as `costNs`. */
function costCase(plan: TasksPlan): BenchCase {
  const inner = tasksCase(plan);
  return {
    ...inner,
    async run(context) {
      const result = await inner.run(context);
      const [plain, withStore] = plan.subjects.map((subject) =>
        result.rows.find((row) => row.subject === subject),
      );
      if (plain === undefined || withStore === undefined) return result;
      const costNs = 1e9 / withStore.opsPerSecond.median - 1e9 / plain.opsPerSecond.median;
      withStore.values = { costNs: Number(costNs.toFixed(1)) };
      return result;
    },
  };
}
