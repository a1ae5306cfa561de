// Operations on open files: read, write, sync, truncate, close.
// Owner: stateless. Invariants: a descriptor below 0 was answered with EBADF before (starters.ts),
// since node:fs would throw. Not here: directories (directories.ts), paths (paths.ts).
import { close, fdatasync, fsync, ftruncate, read, write } from 'node:fs';
import { errnoOf } from '../../base/errno.ts';
import type { NodeOperation } from './node_operation.ts';

const OFFSET_POSITION = -1;
/** The kernel moves at most this much per call; node:fs refuses more. */
const TRANSFER_BYTES_MAX = 0x7fff_f000;

/**
 * The position for node:fs: null for the file's own, and undefined when it cannot be one (below
 * -1), for which the kernel says EINVAL.
 */
function positionOf(operation: NodeOperation): number | bigint | null | undefined {
  const { offset } = operation.entry;
  if (offset === OFFSET_POSITION) return null;
  return offset < 0 ? undefined : offset;
}

export function startRead(operation: NodeOperation): void {
  const { fd, bufferOffset } = operation.entry;
  const bytes = Math.min(operation.entry.bufferBytes, TRANSFER_BYTES_MAX);
  const position = positionOf(operation);
  if (position === undefined) operation.complete(errnoOf('EINVAL'));
  else read(fd, operation.buffer, bufferOffset, bytes, position, operation.onBytes);
}

export function startWrite(operation: NodeOperation): void {
  const { fd, bufferOffset } = operation.entry;
  const bytes = Math.min(operation.entry.bufferBytes, TRANSFER_BYTES_MAX);
  const position = positionOf(operation);
  if (position === undefined) operation.complete(errnoOf('EINVAL'));
  // fs.write takes a bigint for "no position" and writes at the file's own: data at a wrong place.
  else if (typeof position === 'bigint') operation.complete(errnoOf('EFBIG'));
  else write(fd, operation.buffer, bufferOffset, bytes, position, operation.onBytes);
}

export function startSync(operation: NodeOperation): void {
  const { fd, argument0 } = operation.entry;
  if (argument0 === 1) fdatasync(fd, operation.onVoid);
  else fsync(fd, operation.onVoid);
}

export function startTruncate(operation: NodeOperation): void {
  const { fd, value0 } = operation.entry;
  // fs.ftruncate makes 0 of a negative length and throws above 2^53 - 1.
  if (value0 < 0) operation.complete(errnoOf('EINVAL'));
  else if (typeof value0 === 'bigint') operation.complete(errnoOf('EFBIG'));
  else ftruncate(fd, value0, operation.onVoid);
}

export function startClose(operation: NodeOperation): void {
  close(operation.entry.fd, operation.onVoid);
}

/** copy_file_range, FICLONE and fallocate: node:fs has none of them by descriptor. */
export function startUnsupported(operation: NodeOperation): void {
  operation.complete(errnoOf('ENOTSUP'));
}
