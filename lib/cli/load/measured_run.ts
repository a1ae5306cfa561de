// One measured stretch of load on the calling thread that has no lanes of its own: what it cost,
// and how fast it was. Flow: work -> [measure] -> recorder, totals
// Owner: the run of a target. Invariants: the recorder gets a point of its time series several
// times a second as long as the work lasts. Not here: what the work is (stress/tasks,
// stress/timers).

import { contextSwitches, type RoundTotals } from './contestant.ts';
import type { Recorder } from './recorder.ts';

const SAMPLES_MAX = 600;
const SAMPLE_MS_MIN = 250;

/** What is measured, and for how long. */
export interface Stretch {
  readonly recorder: Recorder;
  readonly totals: RoundTotals;
  /** Load that is not measured, before the rest. */
  readonly rampMs: number;
  readonly durationMs: number;
  /** System calls of this thread so far; null where nobody counts. */
  readonly systemCalls: () => number | null;
}

/** Runs `work`, which returns how many operations never completed; it lasts ramp and duration. */
export async function measure(
  stretch: Stretch,
  work: (startMs: number) => PromiseLike<number>,
): Promise<void> {
  const { recorder, totals, rampMs, durationMs, systemCalls } = stretch;
  const counts = () => ({
    nowMs: performance.now(),
    cpu: process.cpuUsage(),
    switches: contextSwitches(),
    calls: systemCalls(),
  });
  const startMs = performance.now();
  let before = counts();
  recorder.startPhase(startMs);
  const sampleMs = Math.max(SAMPLE_MS_MIN, durationMs / SAMPLES_MAX);
  const sampler = setInterval(() => recorder.sample(performance.now()), sampleMs);
  const ramp = setTimeout(() => {
    before = counts();
    recorder.restart(before.nowMs);
    sampler.refresh();
  }, rampMs);
  if (rampMs === 0) clearTimeout(ramp);
  try {
    totals.unfinished += await work(startMs);
  } finally {
    clearInterval(sampler);
    clearTimeout(ramp);
  }
  const after = counts();
  recorder.endPhase(after.nowMs);
  const { user, system } = after.cpu;
  totals.cpuUs += user + system - before.cpu.user - before.cpu.system;
  totals.contextSwitches = (totals.contextSwitches ?? 0) + after.switches - before.switches;
  if (before.calls !== null && after.calls !== null) {
    totals.systemCalls = (totals.systemCalls ?? 0) + after.calls - before.calls;
  }
  totals.roundRates.push((recorder.operations / (after.nowMs - before.nowMs)) * 1e3);
}
