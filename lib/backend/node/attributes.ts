// Operations on attributes, by path or descriptor: stat, utimes, chmod, chown.
// Owner: stateless. Invariants: ENTRY_HAS_PATH says which of the two names the object; with
// ENTRY_NO_FOLLOW it is the link itself.
// Not here: the bytes of a stat record (stat_record.ts).
import {
  type BigIntStats,
  chmod,
  chown,
  fchmod,
  fchown,
  fstat,
  futimes,
  lchown,
  lstat,
  lutimes,
  stat,
  utimes,
} from 'node:fs';
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import type { RingMemory } from '../../ring/ring_memory.ts';
import { modeOf, type NodeOperation, resultOfError } from './node_operation.ts';
import { writeStatRecord } from './stat_record.ts';

const WITH_BIGINTS = { bigint: true } as const;

export function startStat(operation: NodeOperation, memory: RingMemory): void {
  const { entry } = operation;
  const onStats = (error: NodeJS.ErrnoException | null, stats: BigIntStats): void => {
    if (error) {
      operation.complete(resultOfError(error));
      return;
    }
    writeStatRecord(memory, operation.slot, stats);
    operation.complete(0);
  };
  if (!entry.hasFlag(abi.ENTRY_HAS_PATH)) fstat(entry.fd, WITH_BIGINTS, onStats);
  else if (entry.hasFlag(abi.ENTRY_NO_FOLLOW)) lstat(operation.path, WITH_BIGINTS, onStats);
  else stat(operation.path, WITH_BIGINTS, onStats);
}

/** node:fs reads a negative number of seconds as "now"; a Date before 1970 it takes as it is. */
function timeOf(seconds: number): number | Date {
  return seconds < 0 ? new Date(seconds * 1000) : seconds;
}

export function startUtimes(operation: NodeOperation): void {
  const { entry } = operation;
  const { value0AsDouble, offsetAsDouble } = entry;
  if (!Number.isFinite(value0AsDouble) || !Number.isFinite(offsetAsDouble)) {
    operation.complete(errnoOf('EINVAL'));
    return;
  }
  const accessed = timeOf(value0AsDouble);
  const modified = timeOf(offsetAsDouble);
  if (!entry.hasFlag(abi.ENTRY_HAS_PATH)) futimes(entry.fd, accessed, modified, operation.onVoid);
  else if (entry.hasFlag(abi.ENTRY_NO_FOLLOW)) {
    lutimes(operation.path, accessed, modified, operation.onVoid);
  } else utimes(operation.path, accessed, modified, operation.onVoid);
}

/** Linux keeps no mode for links, and node:fs has lchmod on macOS only: ENOTSUP. */
export function startChmod(operation: NodeOperation): void {
  const { entry } = operation;
  const mode = modeOf(entry.argument1);
  if (!entry.hasFlag(abi.ENTRY_HAS_PATH)) fchmod(entry.fd, mode, operation.onVoid);
  else if (entry.hasFlag(abi.ENTRY_NO_FOLLOW)) operation.complete(errnoOf('ENOTSUP'));
  else chmod(operation.path, mode, operation.onVoid);
}

export function startChown(operation: NodeOperation): void {
  const { entry } = operation;
  const { argument0: uid, argument1: gid } = entry;
  if (!entry.hasFlag(abi.ENTRY_HAS_PATH)) fchown(entry.fd, uid, gid, operation.onVoid);
  else if (entry.hasFlag(abi.ENTRY_NO_FOLLOW)) {
    lchown(operation.path, uid, gid, operation.onVoid);
  } else chown(operation.path, uid, gid, operation.onVoid);
}
