// `nephrite stress tasks`: arguments to exit code.
// Flow: argv -> options -> file, runtime, lanes of trees -> result -> report (deliver.ts)
// Owner: one call. Invariants: the temporary folder is gone when the run has settled; after the end
// trees in flight get a bounded time to finish.
// Not here: what trees do (tree.ts, leaves.ts), what is checked (ledger.ts).
import { join } from 'node:path';
import { Runtime } from '../../../index.ts';
import { parseArguments } from '../../args.ts';
import { usageError } from '../../cli_error.ts';
import { createTotals } from '../../load/contestant.ts';
import { measure } from '../../load/measured_run.ts';
import { Recorder } from '../../load/recorder.ts';
import type { StopControl } from '../../load/stop_control.ts';
import { createNephriteSubject } from '../../load/subject_nephrite.ts';
import type { Headline } from '../../report/headline.ts';
import type { Progress } from '../../report/progress.ts';
import { formatCount, formatDuration } from '../../units.ts';
import { buildLoadResult } from '../build_result.ts';
import { type Finished, runWithReport } from '../deliver.ts';
import { makeTempFolder } from '../temp_folder.ts';
import { BlockFile } from './block_file.ts';
import { Ledger, TASK_KINDS } from './ledger.ts';
import { describeMix } from './mix.ts';
import { TASKS_COMMAND } from './option_table.ts';
import { readTasksOptions, type TasksOptions } from './options.ts';
import { drawTree } from './plan.ts';
import { startTree } from './tree.ts';

/** Trees that have not ended so long after the end are reported as hanging. */
const DRAIN_MS_MAX = 30_000;

/** Runs `nephrite stress tasks ...` and returns the exit code. */
export async function stressTasks(argv: readonly string[]): Promise<number> {
  const parsed = parseArguments(TASKS_COMMAND, argv);
  const [extra] = parsed.positionals;
  if (extra !== undefined) throw usageError(`unexpected '${extra}' after 'stress tasks'`);
  const options = readTasksOptions(parsed);
  return runWithReport(options, (stop, progress) => runTasks(options, stop, progress));
}

async function runTasks(
  options: TasksOptions,
  stop: StopControl,
  progress: Progress | null,
): Promise<Finished> {
  const startedAt = new Date();
  const subject = createNephriteSubject(options.backend, options.depth);
  const { backend, why } = subject;
  const recorder = new Recorder(TASK_KINDS);
  const totals = createTotals();
  const shown = { name: 'tasks', backend, recorder, isCountedLive: true };
  const ledger = new Ledger(recorder);
  const folder = await makeTempFolder(options.dir);
  const runtime = await Runtime.start();
  try {
    const file = await BlockFile.create(join(folder.path, 'blocks'), options.seed);
    const forget = options.isVerified ? ledger.follow(runtime) : () => undefined;
    progress?.onStart(folder.path);
    progress?.onRound(shown, 0, 1);
    const { systemCalls } = subject;
    await measure({ ...options, recorder, totals, systemCalls }, (startMs) =>
      runTrees(
        options,
        stop,
        (number) => startTree(runtime, { ledger, file }, drawTree(options, number)).settled(),
        ledger,
        startMs,
      ),
    );
    progress?.onRoundEnd();
    ledger.close(runtime);
    forget();
    if (totals.unfinished === 0) await file.close();
  } finally {
    await runtime.close({ deadline: 0 });
    await folder.remove();
  }
  const result = buildLoadResult({
    name: 'stress tasks',
    startedAt,
    measured: { ...shown, why, totals, isVerified: false },
    checks: ledger.checks(),
    conditions: options.conditions,
    options: plainOptions(options),
    stopped: stop.reason,
  });
  return { result, headline: headlineOf(options) };
}

/** Lanes that run one tree after the other. Returns how many tasks never ended. */
async function runTrees(
  options: TasksOptions,
  stop: StopControl,
  runTree: (number: number) => PromiseLike<unknown>,
  ledger: Ledger,
  startMs: number,
): Promise<number> {
  const endMs = startMs + options.rampMs + options.durationMs;
  let started = 0;
  const lane = async (): Promise<void> => {
    while (!stop.isStopped && performance.now() < endMs) await runTree(started++);
  };
  const lanes = Array.from({ length: options.depth }, lane);
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, endMs - startMs + DRAIN_MS_MAX);
  });
  await Promise.race([Promise.all(lanes), expired]);
  clearTimeout(timer);
  return ledger.openCount;
}

function headlineOf(options: TasksOptions): Headline {
  const workload = [
    `${formatCount(options.depth)} trees in flight`,
    `${options.levels} levels of 1 to ${options.fanout} children`,
    `leaves ${describeMix(options.mix)}`,
    `${formatDuration(options.durationMs)} after ${formatDuration(options.rampMs)} of warm-up`,
    options.isVerified ? 'followed on the bus' : 'not followed on the bus',
    `seed ${options.seed}`,
  ].join(', ');
  const latency = 'closed loop: latency is from the spawn of each task to its outcome';
  return { mode: describeMix(options.mix), facts: [workload, latency] };
}

function plainOptions(options: TasksOptions): Record<string, string | number | boolean | null> {
  const { conditions, jsonPath, htmlPath, isQuiet, mix, ...rest } = options;
  return { ...rest, mix: describeMix(mix) };
}
