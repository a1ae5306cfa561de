// stat and lstat. Owner: none. Invariants: one entry each, results are Node's own Stats classes.
// Not here: many at a time (many.ts), descriptors (file_handle.ts), decoding (stats.ts).
import type { BigIntStats, Stats } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import { type Operation, rejectedOperation } from '../../base/operation.ts';
import { currentFileAuthority } from '../authority.ts';
import { currentThread } from '../current_thread.ts';
import { attachOptions, checkOptions, type OperationOptions } from '../operation_options.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { type Decode, start } from '../path_operation.ts';
import { decodeBigIntStats, decodeStats } from './stats.ts';

export interface StatOptions extends OperationOptions {
  /** BigIntStats instead of Stats; default false. */
  bigint?: boolean;
}

const toStats: Decode<Stats> = (_result, _flags, source) => decodeStats(source);
const toBigIntStats: Decode<Stats> = (_result, _flags, source) => decodeBigIntStats(source);

function statPath(
  path: unknown,
  syscall: string,
  flags: number,
  options: StatOptions | undefined,
): Operation<Stats> {
  try {
    const request = { opcode: abi.OP_STAT, syscall, path: checkedPath(path), flags };
    const authority = currentFileAuthority();
    if (options === undefined || options === null) {
      return start(currentThread(), request, toStats, authority);
    }
    checkOptions(options);
    const decode = options.bigint === true ? toBigIntStats : toStats;
    return attachOptions(start(currentThread(), request, decode, authority), options);
  } catch (error) {
    return rejectedOperation(error);
  }
}

/** As node:fs/promises.stat: what `path` leads to. `{ bigint: true }` gives BigIntStats. */
export function stat(
  path: PathLike,
  options?: StatOptions & { bigint?: false | undefined },
): Operation<Stats>;
export function stat(
  path: PathLike,
  options: StatOptions & { bigint: true },
): Operation<BigIntStats>;
export function stat(
  path: PathLike,
  options?: StatOptions,
): Operation<Stats> | Operation<BigIntStats>;
export function stat(
  path: PathLike,
  options?: StatOptions,
): Operation<Stats> | Operation<BigIntStats> {
  return statPath(path, 'stat', 0, options);
}

/** As stat(), of a symbolic link itself. */
export function lstat(
  path: PathLike,
  options?: StatOptions & { bigint?: false | undefined },
): Operation<Stats>;
export function lstat(
  path: PathLike,
  options: StatOptions & { bigint: true },
): Operation<BigIntStats>;
export function lstat(
  path: PathLike,
  options?: StatOptions,
): Operation<Stats> | Operation<BigIntStats>;
export function lstat(
  path: PathLike,
  options?: StatOptions,
): Operation<Stats> | Operation<BigIntStats> {
  return statPath(path, 'lstat', abi.ENTRY_NO_FOLLOW, options);
}
