// The workloads over readMany and statMany: one call for many paths, at most one folder's worth per
// call, so that the results of a long run are not all alive at once. No latency samples: a call's
// time is not an operation's.
import type { ManyApi, StatResult } from './file_api.ts';
import { pathsOf } from './promises.ts';
import { expectBytes, type RunState } from './run_state.ts';

const PATHS_PER_CALL_MAX = 10_000;

export async function runMany(api: ManyApi, run: RunState): Promise<void> {
  const { workload, depth, ops } = run.request;
  if (workload !== 'smallFiles' && workload !== 'stat') {
    throw new Error(`there is no call for many '${workload}'`);
  }
  const paths = pathsOf(run);
  run.begin();
  for (let from = 0; from < ops; from += PATHS_PER_CALL_MAX) {
    const part = paths.slice(from, from + PATHS_PER_CALL_MAX);
    if (workload === 'stat') {
      addStats(run, await api.statMany(part, { concurrency: depth }));
    } else {
      addReads(run, await api.readMany(part, { concurrency: depth }));
    }
  }
  run.end();
}

function addReads(run: RunState, results: readonly PromiseSettledResult<Uint8Array>[]): void {
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason;
    expectBytes(result.value.byteLength, run.request.blockBytes);
    run.addReadBytes(result.value);
  }
}

function addStats(run: RunState, results: readonly PromiseSettledResult<StatResult>[]): void {
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason;
    run.addStat(result.value.size, result.value.mtimeMs);
  }
}
