// Lanes: `depth` loops that each run one operation after the other for the length of a phase.
// Flow: workload -> [lane: wait, execute, record] -> recorder
// Owner: one phase of one subject at a time; phases never overlap, so that CPU time and system
// calls of the process belong to one subject. Invariants: an error ends an operation, never a lane;
// after the end a phase waits for what is in flight, but not forever.
// Not here: rounds and ramp (contestant.ts).
import type { Workload } from '../workload/workload.ts';
import type { Executor, Lane } from './executor.ts';
import { Pacer } from './pacer.ts';
import type { StopControl } from './stop_control.ts';

/** Operations that have not completed this long after the end are reported as hanging. */
const DRAIN_MS_MAX = 30_000;
const ERRORS_IN_A_ROW_MAX = 1000;
const SAMPLES_MAX = 600;

/** One stretch of load. */
export interface Phase {
  readonly executor: Executor;
  readonly lanes: readonly Lane[];
  readonly workload: Workload;
  readonly durationMs: number;
  /** Of the whole run: decides how wide the intervals of the time series are. */
  readonly runDurationMs: number;
  readonly ratePerSecond: number | null;
  readonly stop: StopControl;
}

/** How a phase ended. */
export interface PhaseOutcome {
  readonly elapsedMs: number;
  /** Open loop: operations that were due and never started. */
  readonly notStarted: number;
  /** Operations that never completed. */
  readonly unfinished: number;
}

/** Runs all lanes until the time is up or the run is stopped. */
export async function runPhase(phase: Phase): Promise<PhaseOutcome> {
  const { executor, stop, durationMs } = phase;
  const startMs = performance.now();
  const pacer =
    phase.ratePerSecond === null ? null : new Pacer(phase.ratePerSecond, startMs, durationMs);
  const { recorder } = executor;
  recorder.startPhase(startMs);
  const sampleMs = Math.max(250, phase.runDurationMs / SAMPLES_MAX);
  const sampler = setInterval(() => recorder.sample(performance.now()), sampleMs);
  const forget = stop.onStop(() => pacer?.stop());
  let running = phase.lanes.length;
  const lanes = phase.lanes.map(async (lane) => {
    await runLane(phase, lane, pacer, startMs + durationMs);
    running -= 1;
  });
  await settledWithin(lanes, stop, durationMs);
  const endMs = performance.now();
  const notStarted = pacer?.missedBefore(endMs) ?? 0;
  forget();
  clearInterval(sampler);
  recorder.endPhase(endMs);
  return { elapsedMs: endMs - startMs, notStarted, unfinished: running };
}

async function runLane(
  phase: Phase,
  lane: Lane,
  pacer: Pacer | null,
  endMs: number,
): Promise<void> {
  const { executor, workload, stop } = phase;
  const { slot } = lane;
  const { recorder } = executor;
  while (!stop.isStopped) {
    let startMs = performance.now();
    if (startMs >= endMs) return;
    if (pacer !== null) {
      const intendedMs = pacer.claim();
      if (Number.isNaN(intendedMs)) return;
      if (intendedMs > startMs) await pacer.wait(intendedMs);
      if (stop.isStopped) {
        pacer.unclaim();
        return;
      }
      startMs = intendedMs;
    }
    workload.next(slot);
    let isDone = false;
    try {
      const bytes = await executor.perform(lane);
      isDone = true;
      recorder.recordOperation(slot.kind, performance.now() - startMs, bytes);
    } catch (error) {
      recorder.recordError(error);
      if (recorder.errorsInARow >= ERRORS_IN_A_ROW_MAX) stop.request('failures');
      // An operation that fails at once must not keep timers and signals from running.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      workload.release(slot, isDone);
    }
  }
}

/** Waits for all lanes; after the end of the phase or a stop, for a bounded time only. */
async function settledWithin(
  lanes: ReadonlyArray<Promise<void>>,
  stop: StopControl,
  durationMs: number,
): Promise<void> {
  let expire = (): void => undefined;
  const expired = new Promise<void>((resolve) => {
    expire = resolve;
  });
  let timer = setTimeout(expire, durationMs + DRAIN_MS_MAX);
  const forget = stop.onStop(() => {
    clearTimeout(timer);
    timer = setTimeout(expire, DRAIN_MS_MAX);
  });
  await Promise.race([Promise.all(lanes), expired]);
  forget();
  clearTimeout(timer);
}
