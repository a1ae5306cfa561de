// Buffers for a run: from the JavaScript heap, as most programs have them, or from nephrite's pool.
// O_DIRECT needs aligned addresses, which JavaScript cannot see: for heap buffers the offset that
// the file accepts is found by trying it (every 16 bytes, the alignment of V8's allocator).
import { closeSync, constants, openSync, readSync } from 'node:fs';
import type { WorkRequest } from '../harness/protocol.ts';
import type { PoolApi } from './file_api.ts';

const PAGE_BYTES = 4096;
const ALLOCATOR_ALIGN_BYTES = 16;
// Where V8 puts a large buffer: 16 bytes into a page.
const LIKELY_OFFSETS = [0, PAGE_BYTES - ALLOCATOR_ALIGN_BYTES];

export type AllocateBuffers = (request: WorkRequest) => Uint8Array[];

export function heapBuffers(request: WorkRequest): Uint8Array[] {
  const { depth, blockBytes } = request;
  if (!request.direct) {
    return Array.from({ length: depth }, () => Buffer.allocUnsafeSlow(blockBytes));
  }
  const whole = Buffer.allocUnsafeSlow(depth * blockBytes + PAGE_BYTES);
  const start = directOffset(request.path, whole, blockBytes);
  return Array.from({ length: depth }, (_, i) =>
    whole.subarray(start + i * blockBytes, start + (i + 1) * blockBytes),
  );
}

export function poolBuffers(pool: PoolApi): AllocateBuffers {
  return ({ depth, blockBytes }) =>
    Array.from({ length: depth }, () => pool.buffers.alloc(blockBytes, { align: PAGE_BYTES }));
}

function directOffset(path: string, whole: Uint8Array, blockBytes: number): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECT);
  try {
    const others = Array.from({ length: PAGE_BYTES / ALLOCATOR_ALIGN_BYTES }, (_, i) => i * 16);
    for (const offset of [...LIKELY_OFFSETS, ...others]) {
      try {
        readSync(fd, whole, offset, blockBytes, 0);
        return offset;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
      }
    }
  } finally {
    closeSync(fd);
  }
  throw new Error('no buffer address is accepted for O_DIRECT');
}

/** Flags for the data file of a request. */
export function openFlags(request: WorkRequest): number {
  const access = request.workload === 'write' ? constants.O_WRONLY : constants.O_RDONLY;
  return request.direct ? access | constants.O_DIRECT : access;
}
