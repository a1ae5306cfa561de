// `nephrite stress timers`: arguments to exit code.
// Flow: argv -> options -> runtime + TimerLoad -> result -> report (deliver.ts)
// Owner: one call. Invariants: what the program counted and what the bus said are compared to the
// last timer. Not here: the load (timer_load.ts).
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
import { Tally } from '../tally.ts';
import { TIMERS_COMMAND } from './option_table.ts';
import { readTimersOptions, type TimersOptions } from './options.ts';
import { TIMER_KINDS, TimerLoad } from './timer_load.ts';

/** Runs `nephrite stress timers ...` and returns the exit code. */
export async function stressTimers(argv: readonly string[]): Promise<number> {
  const parsed = parseArguments(TIMERS_COMMAND, argv);
  const [extra] = parsed.positionals;
  if (extra !== undefined) throw usageError(`unexpected '${extra}' after 'stress timers'`);
  const options = readTimersOptions(parsed);
  return runWithReport(options, (stop, progress) => runTimers(options, stop, progress));
}

async function runTimers(
  options: TimersOptions,
  stop: StopControl,
  progress: Progress | null,
): Promise<Finished> {
  const startedAt = new Date();
  const { backend, why, systemCalls } = createNephriteSubject(options.backend, 1);
  const recorder = new Recorder(TIMER_KINDS);
  const measured = {
    ...{ name: 'timers', backend, why, recorder, totals: createTotals() },
    ...{ isVerified: false, isCountedLive: true },
  };
  const load = new TimerLoad(options, recorder, stop);
  const onBus = new Tally('the bus counted as many that fired');
  const runtime = await Runtime.start();
  try {
    const forget = runtime.bus.tap(({ command, detail }) => {
      if (command === 'expire') onBus.count += detail as number;
    });
    progress?.start();
    progress?.onRound(measured, 0, 1);
    await measure({ ...measured, ...options, systemCalls }, (startMs) =>
      runtime.spawn((sinceMs: number) => load.run(sinceMs), startMs).join(),
    );
    progress?.onRoundEnd();
    forget();
  } finally {
    await runtime.close({ deadline: 0 });
  }
  if (onBus.count !== load.expiredCount) {
    onBus.violate(`${onBus.count} on the bus, ${load.expiredCount} in the program`);
  }
  const result = buildLoadResult({
    name: 'stress timers',
    startedAt,
    measured,
    checks: [load.early, load.once, onBus].map((tally) => tally.result()),
    conditions: options.conditions,
    options: plainOptions(options),
    stopped: stop.reason,
  });
  return { result, headline: headlineOf(options) };
}

function headlineOf(options: TimersOptions): Headline {
  const rate = options.ratePerSecond;
  const workload = [
    `${options.delays} delays`,
    `${formatCount(options.depth)} armed at a time`,
    ...(rate === null ? [] : [`${formatCount(rate)} armed a second at most`]),
    `${options.cancelPercent} % cancelled`,
    `${formatDuration(options.durationMs)} after ${formatDuration(options.rampMs)} of warm-up`,
    `seed ${options.seed}`,
  ].join(', ');
  const latency = 'latency is lateness: from the time a timer was due to the call of its waiter';
  return { mode: `${options.delays} delays`, facts: [workload, latency] };
}

function plainOptions(options: TimersOptions): Record<string, string | number | null> {
  const { delays, depth, cancelPercent, ratePerSecond, seed, backend } = options;
  const { durationMs, rampMs } = options;
  return { delays, depth, cancelPercent, ratePerSecond, durationMs, rampMs, seed, backend };
}
