// Fairness: 8 opens of FIFOs without a writer wait, `depth` large reads run, and meanwhile a 1 ms
// timer is armed again and again, and a stat is started whenever none is under way. Measured are
// the timer's lateness and the time of each stat. Node's own stat never returns here: its pool of
// four threads sits in open(2). All waits are bounded by the request's duration.
// The FIFOs are released at the end by opening them for writing without blocking.
import { closeSync, constants, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { WorkRequest } from '../harness/protocol.ts';
import type { FileApi, FileHandleApi } from './file_api.ts';
import { type AllocateBuffers, openFlags } from './memory.ts';
import { expectBytes } from './run_state.ts';

const TIMER_MS = 1;
const SETTLE_MS = 2_000;
const nothing = (): void => undefined;

export interface FairnessResult {
  elapsedMs: number;
  timerLatenessNs: number[];
  statNs: number[];
  /** How long the stat that never came back had been waiting; 0 when none was. */
  statPendingMs: number;
  readsDone: number;
  fifosOpened: number;
  error: string;
}

/** `request.path` is the data file; `fifos` the folder of FIFOs beside it. */
export async function runFairness(
  api: FileApi,
  allocate: AllocateBuffers,
  request: WorkRequest,
  fifos: string,
): Promise<FairnessResult> {
  const buffers = allocate(request);
  const file = await api.open(request.path, openFlags(request));
  const paths = readdirSync(fifos).map((name) => join(fifos, name));
  const result: FairnessResult = {
    elapsedMs: 0,
    timerLatenessNs: [],
    statNs: [],
    statPendingMs: 0,
    readsDone: 0,
    fifosOpened: 0,
    error: '',
  };
  const endMs = performance.now() + request.durationMs;
  const opened = paths.map(async (path) => {
    const handle = await api.open(path, 'r');
    if (performance.now() < endMs) result.fifosOpened++;
    await handle.close();
  });
  const reads = buffers.map((buffer) => readLoop(file, buffer, request, endMs, result));
  const work = Promise.all([...opened, ...reads]);
  work.catch(nothing); // a failure before the end is reported by bounded()
  await watch(api, request, endMs, result);
  const writers = releaseFifos(paths);
  await bounded(work, result);
  await bounded(Promise.resolve(file.close()), result);
  for (const fd of writers) closeSync(fd);
  return result;
}

async function readLoop(
  file: FileHandleApi,
  buffer: Uint8Array,
  request: WorkRequest,
  endMs: number,
  result: FairnessResult,
): Promise<void> {
  const { blockBytes, blocks } = request;
  for (let i = 0; performance.now() < endMs; i++) {
    const position = (i % blocks) * blockBytes;
    expectBytes((await file.read(buffer, 0, blockBytes, position)).bytesRead, blockBytes);
    if (performance.now() < endMs) result.readsDone++;
  }
}

/** Arms the timer until the end; the timer starts the stats. */
function watch(
  api: FileApi,
  request: WorkRequest,
  endMs: number,
  result: FairnessResult,
): Promise<void> {
  let statStartedMs = 0;
  const startStat = async (): Promise<void> => {
    statStartedMs = performance.now();
    const stats = await api.stat(request.path);
    expectBytes(stats.size, request.blocks * request.blockBytes);
    if (result.elapsedMs > 0) return; // came back after the end only
    result.statNs.push((performance.now() - statStartedMs) * 1e6);
    statStartedMs = 0;
  };
  const beganMs = performance.now();
  return new Promise((resolve, reject) => {
    const arm = (): void => {
      const armedMs = performance.now();
      setTimeout(() => {
        const nowMs = performance.now();
        result.timerLatenessNs.push(Math.max(0, nowMs - armedMs - TIMER_MS) * 1e6);
        if (nowMs >= endMs) {
          result.elapsedMs = nowMs - beganMs;
          if (statStartedMs !== 0) result.statPendingMs = nowMs - statStartedMs;
          resolve();
          return;
        }
        if (statStartedMs === 0) startStat().catch(reject);
        arm();
      }, TIMER_MS);
    };
    arm();
  });
}

/** Opens a writer for each FIFO; opens that had not even begun need it to stay there. */
function releaseFifos(paths: readonly string[]): number[] {
  return paths.map((path) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
}

async function bounded(work: Promise<unknown>, result: FairnessResult): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, SETTLE_MS, `not settled ${SETTLE_MS} ms after the FIFOs' release`);
  });
  const failed = work.then(
    () => '',
    (error: unknown) => String(error),
  );
  const error = await Promise.race([failed, late]);
  clearTimeout(timer);
  if (result.error === '') result.error = error;
}
