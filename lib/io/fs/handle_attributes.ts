// What a FileHandle does besides moving bytes: stat, sync, truncate, mode, owner, times, allocate.
// Owner: none; the FileHandle owns the file. Invariants: arguments are checked before anything is
// submitted; a closed file fails with EBADF under Node's name of the call.
// Not here: the same by path (attributes.ts, stat.ts).
import type { BigIntStats, Stats } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import type { Operation } from '../../base/operation.ts';
import { currentThread } from '../current_thread.ts';
import type { OpenFile } from '../open_file.ts';
import { attachOptions, checkOptions, type OperationOptions } from '../operation_options.ts';
import { type Decode, type Request, startUnguarded } from '../path_operation.ts';
import {
  checkedFileLength,
  checkedSeconds,
  checkedUserId,
  requiredMode,
  type TimeLike,
} from './attribute_arguments.ts';
import { checkAllocation } from './handle_arguments.ts';
import { attempt, callVoid } from './path_call.ts';
import { decodeBigIntStats, decodeStats } from './stats.ts';

export interface AllocateOptions extends OperationOptions {
  /** Reserves without changing the file's size; default false. */
  keepSize?: boolean;
}

const FALLOC_FL_KEEP_SIZE = 1;

const toStats: Decode<Stats | BigIntStats> = (_result, _flags, source) => decodeStats(source);
const toBigIntStats: Decode<Stats | BigIntStats> = (_result, _flags, source) =>
  decodeBigIntStats(source);

// `name` is Node's, for a closed handle: futimes, whose system call it calls futime.
function call(
  file: OpenFile,
  name: string,
  options: OperationOptions | undefined,
  make: (fd: number) => Request,
): Operation<void> {
  return attempt(() => callVoid(make(file.checkedFd(name)), options));
}

// As call(), for what a descriptor that was opened for reading allows too.
function change(
  file: OpenFile,
  name: string,
  options: OperationOptions | undefined,
  make: (fd: number) => Request,
): Operation<void> {
  return call(file, name, options, (fd) => {
    const request = make(fd);
    file.checkMayChange(name);
    return request;
  });
}

export function statFile(
  file: OpenFile,
  options: (OperationOptions & { bigint?: boolean }) | undefined,
): Operation<Stats | BigIntStats> {
  return attempt(() => {
    const request = { opcode: abi.OP_STAT, syscall: 'fstat', fd: file.checkedFd('fstat') };
    checkOptions(options);
    const decode = options?.bigint === true ? toBigIntStats : toStats;
    return attachOptions(startUnguarded(currentThread(), request, decode), options);
  });
}

export function syncFile(
  file: OpenFile,
  isData: boolean,
  options: OperationOptions | undefined,
): Operation<void> {
  const syscall = isData ? 'fdatasync' : 'fsync';
  const argument0 = isData ? 1 : 0;
  return call(file, syscall, options, (fd) => ({ opcode: abi.OP_SYNC, syscall, fd, argument0 }));
}

export function truncateFile(
  file: OpenFile,
  length: number | undefined,
  options: OperationOptions | undefined,
): Operation<void> {
  return change(file, 'ftruncate', options, (fd) => ({
    opcode: abi.OP_TRUNCATE,
    syscall: 'ftruncate',
    fd,
    value: checkedFileLength(length),
  }));
}

export function chmodFile(
  file: OpenFile,
  mode: number | string,
  options: OperationOptions | undefined,
): Operation<void> {
  return change(file, 'fchmod', options, (fd) => ({
    opcode: abi.OP_CHMOD,
    syscall: 'fchmod',
    fd,
    argument1: requiredMode(mode),
  }));
}

export function chownFile(
  file: OpenFile,
  uid: number,
  gid: number,
  options: OperationOptions | undefined,
): Operation<void> {
  return change(file, 'fchown', options, (fd) => ({
    opcode: abi.OP_CHOWN,
    syscall: 'fchown',
    fd,
    argument0: checkedUserId(uid, 'uid'),
    argument1: checkedUserId(gid, 'gid'),
  }));
}

export function utimesFile(
  file: OpenFile,
  atime: TimeLike,
  mtime: TimeLike,
  options: OperationOptions | undefined,
): Operation<void> {
  return change(file, 'futimes', options, (fd) => ({
    opcode: abi.OP_UTIMES,
    syscall: 'futime',
    fd,
    times: [checkedSeconds(atime, 'atime'), checkedSeconds(mtime, 'mtime')],
  }));
}

export function allocateFile(
  file: OpenFile,
  offset: number,
  length: number,
  options: AllocateOptions | undefined,
): Operation<void> {
  return change(file, 'fallocate', options, (fd) => {
    checkAllocation(offset, length);
    const argument0 = options?.keepSize === true ? FALLOC_FL_KEEP_SIZE : 0;
    const range = { position: offset, value: length, argument0 };
    return { opcode: abi.OP_ALLOCATE, syscall: 'fallocate', fd, ...range };
  });
}
