// readMany and statMany: many small files with few submissions.
// Owner: the thread. Invariants: every path is checked before the first is touched; results are in
// order, errors in their entry.
// Not here: the bounded window (../many_operation.ts).
import type { BigIntStats, Stats } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import { invalidArgType, outOfRange } from '../../base/errors.ts';
import { type Operation, rejectedOperation } from '../../base/operation.ts';
import { currentFileAuthority } from '../authority.ts';
import { currentThread } from '../current_thread.ts';
import { ManyOperation, type Settled } from '../many_operation.ts';
import { attachOptions, checkOptions, type OperationOptions } from '../operation_options.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { start } from '../path_operation.ts';
import { checkedFlags } from './open.ts';
import { startReadUnder } from './read_file.ts';
import { decodeBigIntStats, decodeLazyStats } from './stats.ts';
import { checkedEncoding, checkedLimit, optionsOf } from './whole_file_arguments.ts';

const CONCURRENCY = 128;
const CONCURRENCY_MAX = 4096;

export interface ManyOptions extends OperationOptions {
  /** Operations in flight at a time, 1 to 4096; default 128. */
  concurrency?: number;
}

export interface ReadManyOptions extends ManyOptions {
  encoding?: BufferEncoding | 'buffer' | null;
  /** Bytes of each file, at most. */
  limit?: number;
}

function checkedPaths(paths: unknown): (string | Buffer)[] {
  if (!Array.isArray(paths)) throw invalidArgType('paths', 'an Array', paths);
  return paths.map((path, index) => checkedPath(path, `paths[${index}]`));
}

function checkedConcurrency(value: unknown): number {
  if (value === undefined) return CONCURRENCY;
  if (typeof value !== 'number')
    throw invalidArgType('options.concurrency', 'of type number', value);
  if (!Number.isInteger(value) || value < 1 || value > CONCURRENCY_MAX) {
    throw outOfRange('options.concurrency', `an integer >= 1 && <= ${CONCURRENCY_MAX}`, value);
  }
  return value;
}

/** Reads whole files; one entry per path, `{ status, value }` or `{ status, reason }`. */
export function readMany(
  paths: readonly PathLike[],
  options?: (ReadManyOptions & { encoding?: 'buffer' | null }) | null,
): Operation<Settled<Buffer>[]>;
export function readMany(
  paths: readonly PathLike[],
  options: (ReadManyOptions & { encoding: BufferEncoding }) | BufferEncoding,
): Operation<Settled<string>[]>;
export function readMany(
  paths: readonly PathLike[],
  options?: ReadManyOptions | BufferEncoding | null,
): Operation<Settled<Buffer | string>[]> {
  try {
    const checked = checkedPaths(paths);
    const given = optionsOf<ReadManyOptions>(options);
    const concurrency = checkedConcurrency(given?.concurrency);
    const encoding = checkedEncoding(given?.encoding);
    const limit = checkedLimit(given?.limit);
    checkOptions(given);
    const thread = currentThread();
    const flags = checkedFlags('r');
    const authority = currentFileAuthority();
    const startOne = (index: number): Operation<Buffer | string> =>
      startReadUnder(authority, thread, { path: checked[index], flags }, encoding, limit);
    return attachOptions(new ManyOperation(checked.length, concurrency, startOne), given);
  } catch (error) {
    return rejectedOperation(error);
  }
}

/** Stats of many paths (following links); one entry per path. Dates are made when asked for. */
export function statMany(
  paths: readonly PathLike[],
  options?: ManyOptions & { bigint?: false },
): Operation<Settled<Stats>[]>;
export function statMany(
  paths: readonly PathLike[],
  options: ManyOptions & { bigint: true },
): Operation<Settled<BigIntStats>[]>;
export function statMany(
  paths: readonly PathLike[],
  options?: ManyOptions & { bigint?: boolean },
): Operation<Settled<Stats | BigIntStats>[]> {
  try {
    const checked = checkedPaths(paths);
    const concurrency = checkedConcurrency(options?.concurrency);
    checkOptions(options);
    const thread = currentThread();
    const read = options?.bigint === true ? decodeBigIntStats : decodeLazyStats;
    const authority = currentFileAuthority();
    const startOne = (index: number): Operation<Stats | BigIntStats> =>
      start(
        thread,
        { opcode: abi.OP_STAT, syscall: 'stat', path: checked[index] },
        (_r, _f, source) => read(source),
        authority,
      );
    return attachOptions(new ManyOperation(checked.length, concurrency, startOne), options);
  } catch (error) {
    return rejectedOperation(error);
  }
}
