// The workloads over an API shaped like node:fs/promises: `depth` concurrent async functions, each
// awaiting one operation after the other. This is the code a user would write; it is the same for
// fs.promises and every nephrite variant.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fillPattern, smallFileName, writeStamp } from '../harness/work.ts';
import type { FileApi, FileHandleApi } from './file_api.ts';
import { type AllocateBuffers, openFlags } from './memory.ts';
import { asWords, expectBytes, type RunState } from './run_state.ts';

export async function runPromises(
  api: FileApi,
  allocate: AllocateBuffers,
  run: RunState,
): Promise<void> {
  const { workload, path } = run.request;
  if (workload === 'smallFiles' || workload === 'stat') {
    const paths = pathsOf(run);
    const loop = workload === 'stat' ? statLoop : smallFileLoop;
    await concurrently(run, () => loop(api, paths, run));
    return;
  }
  const buffers = allocate(run.request);
  const file = await api.open(path, openFlags(run.request));
  try {
    const loop = workload === 'write' ? writeLoop : readLoop;
    if (workload === 'write') {
      for (const buffer of buffers) fillPattern(asWords(buffer), run.request.runSeed);
    }
    await concurrently(run, (index) => loop(file, buffers[index], run));
  } finally {
    await file.close();
  }
}

/** Every operation's path, made before the clock starts. */
export function pathsOf(run: RunState): string[] {
  const { path, blocks } = run.request;
  const names = Array.from({ length: blocks }, (_, i) => join(path, smallFileName(i)));
  return Array.from(run.sequence, (index) => names[index]);
}

async function concurrently(run: RunState, loop: (index: number) => Promise<void>): Promise<void> {
  run.begin();
  await Promise.all(Array.from({ length: run.request.depth }, (_, index) => loop(index)));
  run.end();
}

async function readLoop(file: FileHandleApi, buffer: Uint8Array, run: RunState): Promise<void> {
  const { ops, blockBytes } = run.request;
  const words = asWords(buffer);
  while (run.next < ops) {
    const opIndex = run.next++;
    const timed = run.isTimed(opIndex);
    const startedMs = timed ? performance.now() : 0;
    const position = run.sequence[opIndex] * blockBytes;
    const { bytesRead } = await file.read(buffer, 0, blockBytes, position);
    expectBytes(bytesRead, blockBytes);
    run.addRead(words);
    if (timed) run.addSample(startedMs);
  }
}

async function writeLoop(file: FileHandleApi, buffer: Uint8Array, run: RunState): Promise<void> {
  const { ops, blockBytes, runSeed } = run.request;
  const words = asWords(buffer);
  while (run.next < ops) {
    const opIndex = run.next++;
    const timed = run.isTimed(opIndex);
    const startedMs = timed ? performance.now() : 0;
    const block = run.sequence[opIndex];
    const stamp = writeStamp(runSeed, block);
    words[0] = stamp;
    words[words.length - 1] = stamp;
    const { bytesWritten } = await file.write(buffer, 0, blockBytes, block * blockBytes);
    expectBytes(bytesWritten, blockBytes);
    if (timed) run.addSample(startedMs);
  }
}

async function smallFileLoop(api: FileApi, paths: readonly string[], run: RunState): Promise<void> {
  const { ops, blockBytes } = run.request;
  while (run.next < ops) {
    const opIndex = run.next++;
    const timed = run.isTimed(opIndex);
    const startedMs = timed ? performance.now() : 0;
    const bytes = await api.readFile(paths[opIndex]);
    expectBytes(bytes.byteLength, blockBytes);
    run.addReadBytes(bytes);
    if (timed) run.addSample(startedMs);
  }
}

async function statLoop(api: FileApi, paths: readonly string[], run: RunState): Promise<void> {
  const { ops } = run.request;
  while (run.next < ops) {
    const opIndex = run.next++;
    const timed = run.isTimed(opIndex);
    const startedMs = timed ? performance.now() : 0;
    const stats = await api.stat(paths[opIndex]);
    run.addStat(stats.size, stats.mtimeMs);
    if (timed) run.addSample(startedMs);
  }
}
