// Chunk copy: from one descriptor to another by reads and writes, where the kernel cannot copy.
// Owner: the operation that opened the descriptors. Invariants: both move their file positions; a
// read of 0 bytes ends it, never a short one.
// Not here: copying in the kernel (copy_file.ts).
import * as abi from '../../abi/layout.ts';
import type { CompositeScope } from '../composite.ts';
import { OpenFile } from '../open_file.ts';
import { FILE_POSITION, ReadOperation, WriteOperation } from '../transfer.ts';

/** Copies at most `bytes` (Infinity: to the end of the source). */
export async function copyByChunks(
  scope: CompositeScope,
  sourceFd: number,
  sourceKind: number,
  targetFd: number,
  bytes: number,
): Promise<void> {
  const { thread } = scope;
  const source = new OpenFile(sourceFd, sourceKind, false);
  const target = new OpenFile(targetFd, 0, false);
  const chunk = Buffer.allocUnsafeSlow(Math.min(bytes, abi.CHUNK_BYTES_MAX));
  for (let left = bytes; left > 0; ) {
    const wanted = Math.min(left, chunk.length);
    const { bytesRead } = await scope.run(() => {
      const position = FILE_POSITION;
      const read = new ReadOperation(thread, source, sourceFd, chunk, 0, wanted, position, chunk);
      thread.submit(read);
      return read;
    });
    if (bytesRead === 0) return;
    await scope.run(() => {
      const position = FILE_POSITION;
      const args = [chunk, 0, bytesRead, position, chunk] as const;
      const write = new WriteOperation(thread, target, targetFd, ...args);
      thread.submit(write);
      return write;
    });
    left -= bytesRead;
  }
}
