// Argument shapes of FileHandle.read and write, as node:fs/promises takes them.
// Owner: none, stateless. Invariants: everything is checked before anything is submitted; offsets
// and lengths are integers to 2^53-1, positions bigints to 2^63-1 as well.
// Not here: buffers (io/buffers.ts).
import { invalidArgType, outOfRange } from '../../base/errors.ts';
import { FILE_POSITION, type Position } from '../transfer.ts';

const POSITION_MAX = 2n ** 63n - 1n;

function checkInteger(name: string, value: unknown, most: number): number {
  if (typeof value !== 'number') throw invalidArgType(name, 'of type number', value);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < 0 || value > most) throw outOfRange(name, `>= 0 && <= ${most}`, value);
  return value;
}

/** Default 0; at most the buffer's length. */
export function checkOffset(offset: unknown, bufferBytes: number): number {
  if (offset === undefined || offset === null) return 0;
  return checkInteger('offset', offset, bufferBytes);
}

/** Default: what the buffer holds from `offset`. */
export function checkLength(length: unknown, offset: number, bufferBytes: number): number {
  if (length === undefined || length === null) return bufferBytes - offset;
  return checkInteger('length', length, bufferBytes - offset);
}

/** null, undefined and -1 use and move the file position, as in Node. */
export function checkPosition(position: unknown): Position {
  if (typeof position === 'number') {
    if (position === -1) return FILE_POSITION;
    return checkInteger('position', position, Number.MAX_SAFE_INTEGER);
  }
  if (position === undefined || position === null) return FILE_POSITION;
  if (typeof position !== 'bigint') {
    throw invalidArgType('position', 'of type integer or bigint', position);
  }
  if (position === -1n) return FILE_POSITION;
  if (position < 0n || position > POSITION_MAX) {
    throw outOfRange('position', `>= -1 && <= ${POSITION_MAX}`, position);
  }
  return position;
}

/** A range to reserve: at least one byte, within what an offset can say. */
export function checkAllocation(offset: unknown, length: unknown): void {
  const start = checkInteger('offset', offset, Number.MAX_SAFE_INTEGER);
  if (checkInteger('length', length, Number.MAX_SAFE_INTEGER - start) === 0) {
    throw outOfRange('length', '>= 1', length);
  }
}
