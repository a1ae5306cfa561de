// Metrics by the names of the seed (4.5). Owner: none, read when asked for.
// Invariants: reading costs O(engines), never O(tasks). Not here: exposition formats.
import type { Scheduler } from '../scheduler/scheduler.ts';

/** Counts are of the moment; rates are per second. */
export interface Metrics {
  readonly runnableTasks: number;
  readonly waitingTasks: number;
  /** Workers with something to run. */
  readonly activeWorkers: number;
  /** Queued tasks as a share of the bound, 0 to 1. */
  readonly queuePressure: number;
  /** Periodic runs per second that were asked for. */
  readonly targetRate: number;
  /** Periodic runs per second since the runtime was started. */
  readonly actualRate: number;
  /** Mean duration of periodic runs in milliseconds; 0 before the first. */
  readonly handlerDuration: number;
  /** Periods of periodic work that were over before their run could start. */
  readonly overrunCount: number;
}

export function collectMetrics(scheduler: Scheduler, startedAtMs: number): Metrics {
  let targetRate = 0;
  let runCount = 0;
  let overrunCount = 0;
  let handlerDurationMs = 0;
  for (const { periodic } of scheduler.engines) {
    targetRate += periodic.targetRate;
    runCount += periodic.runCount;
    overrunCount += periodic.overrunCount;
    handlerDurationMs += periodic.handlerDurationMs;
  }
  const elapsedMs = Math.max(1, scheduler.clock.nowMs() - startedAtMs);
  const runnableTasks = scheduler.runnableCount;
  return {
    runnableTasks,
    waitingTasks: scheduler.waitingCount,
    activeWorkers: runnableTasks > 0 || scheduler.isRunning ? 1 : 0,
    queuePressure: runnableTasks / scheduler.queuedMax,
    targetRate,
    actualRate: (runCount * 1000) / elapsedMs,
    handlerDuration: runCount === 0 ? 0 : handlerDurationMs / runCount,
    overrunCount,
  };
}
