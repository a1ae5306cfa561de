// Memory: `ops` operations in a steady mix (reads; every 64th a stat; every 1024th an open and
// close) with the resident set read at even distances after a full collection. A leak of one byte
// per operation shows as 10 MiB in 10 million.
import { performance } from 'node:perf_hooks';
import type { WorkRequest } from '../harness/protocol.ts';
import { blockSequence } from '../harness/work.ts';
import type { FileApi, FileHandleApi } from './file_api.ts';
import { type AllocateBuffers, openFlags } from './memory.ts';
import { asWords, expectBytes } from './run_state.ts';

const SEQUENCE_OPS = 65_536;
const STAT_EVERY = 64;
const OPEN_EVERY = 1024;
export const RSS_SAMPLES = 20;

export interface MemoryResult {
  elapsedNs: number;
  checksum: number;
  rssKiB: number[];
}

export async function runMemory(
  api: FileApi,
  allocate: AllocateBuffers,
  request: WorkRequest,
): Promise<MemoryResult> {
  const buffers = allocate(request);
  const file = await api.open(request.path, openFlags(request));
  const sequence = blockSequence(request.seed, SEQUENCE_OPS, request.blocks, false);
  const state = { next: 0, checksum: 0 };
  const result: MemoryResult = { elapsedNs: 0, checksum: 0, rssKiB: [] };
  for (let sample = 1; sample <= RSS_SAMPLES; sample++) {
    const end = Math.floor((request.ops * sample) / RSS_SAMPLES);
    const beganMs = performance.now();
    await Promise.all(
      buffers.map((buffer) => mixedLoop(api, file, buffer, request, sequence, state, end)),
    );
    result.elapsedNs += Math.round((performance.now() - beganMs) * 1e6);
    globalThis.gc?.();
    result.rssKiB.push(Math.round(process.memoryUsage.rss() / 1024));
  }
  await file.close();
  result.checksum = state.checksum;
  return result;
}

async function mixedLoop(
  api: FileApi,
  file: FileHandleApi,
  buffer: Uint8Array,
  request: WorkRequest,
  sequence: Uint32Array,
  state: { next: number; checksum: number },
  end: number,
): Promise<void> {
  const { blockBytes } = request;
  const words = asWords(buffer);
  while (state.next < end) {
    const opIndex = state.next++;
    if (opIndex % OPEN_EVERY === 0) {
      await (await api.open(request.path, 'r')).close();
    } else if (opIndex % STAT_EVERY === 0) {
      await api.stat(request.path);
    } else {
      const position = sequence[opIndex % SEQUENCE_OPS] * blockBytes;
      expectBytes((await file.read(buffer, 0, blockBytes, position)).bytesRead, blockBytes);
      state.checksum = (state.checksum + words[0] + words[words.length - 1]) >>> 0;
    }
  }
}

/** The checksum `runMemory` must arrive at. */
export function expectedMemoryChecksum(
  request: WorkRequest,
  ends: (block: number) => number,
): number {
  const sequence = blockSequence(request.seed, SEQUENCE_OPS, request.blocks, false);
  let sum = 0;
  for (let i = 0; i < request.ops; i++) {
    if (i % STAT_EVERY !== 0) sum = (sum + ends(sequence[i % SEQUENCE_OPS])) >>> 0;
  }
  return sum;
}
