// One measured stretch of load on the calling thread that has no lanes of its own: what it cost,
// and how fast it was. Flow: work -> [measure] -> recorder, totals
// Owner: the run of a target. Invariants: the recorder gets a point of its time series several
// times a second as long as the work lasts. Not here: what the work is (stress/tasks,
// stress/timers).

import { contextSwitches, type RoundTotals } from './contestant.ts';
import type { Recorder } from './recorder.ts';

const SAMPLES_MAX = 600;
const SAMPLE_MS_MIN = 250;

/** Runs `work`, which returns how many operations never completed. */
export async function measure(
  { recorder, totals }: { readonly recorder: Recorder; readonly totals: RoundTotals },
  durationMs: number,
  work: (startMs: number) => PromiseLike<number>,
): Promise<void> {
  const cpuBefore = process.cpuUsage();
  const switchesBefore = contextSwitches();
  const startMs = performance.now();
  recorder.startPhase(startMs);
  const sampleMs = Math.max(SAMPLE_MS_MIN, durationMs / SAMPLES_MAX);
  const sampler = setInterval(() => recorder.sample(performance.now()), sampleMs);
  try {
    totals.unfinished += await work(startMs);
  } finally {
    clearInterval(sampler);
  }
  const endMs = performance.now();
  recorder.endPhase(endMs);
  const { user, system } = process.cpuUsage(cpuBefore);
  totals.cpuUs += user + system;
  totals.contextSwitches = (totals.contextSwitches ?? 0) + contextSwitches() - switchesBefore;
  totals.roundRates.push((recorder.operations / (endMs - startMs)) * 1e3);
}
