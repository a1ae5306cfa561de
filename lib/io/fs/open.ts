// open(): flags, modes and the FileHandle that comes of it.
// Owner: none. Invariants: FIFOs and devices behave as open(2) and Node do (they wait for the other
// side), on lanes of their own. Not here: the handle (file_handle.ts).
import { constants } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import { invalidArgType, invalidArgValue, outOfRange } from '../../base/errors.ts';
import { type Operation, rejectedOperation } from '../../base/operation.ts';
import { currentFileAuthority } from '../authority.ts';
import { currentThread } from '../current_thread.ts';
import { attachOptions, checkOptions, type OperationOptions } from '../operation_options.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { start } from '../path_operation.ts';
import { FileHandle, OPENED } from './file_handle.ts';

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_SYNC, O_TRUNC, O_WRONLY } = constants;

const FLAGS: Readonly<Record<string, number>> = {
  r: O_RDONLY,
  rs: O_RDONLY | O_SYNC,
  sr: O_RDONLY | O_SYNC,
  'r+': O_RDWR,
  'rs+': O_RDWR | O_SYNC,
  'sr+': O_RDWR | O_SYNC,
  w: O_TRUNC | O_CREAT | O_WRONLY,
  wx: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
  xw: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
  'w+': O_TRUNC | O_CREAT | O_RDWR,
  'wx+': O_TRUNC | O_CREAT | O_RDWR | O_EXCL,
  'xw+': O_TRUNC | O_CREAT | O_RDWR | O_EXCL,
  a: O_APPEND | O_CREAT | O_WRONLY,
  ax: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
  xa: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
  as: O_APPEND | O_CREAT | O_WRONLY | O_SYNC,
  sa: O_APPEND | O_CREAT | O_WRONLY | O_SYNC,
  'a+': O_APPEND | O_CREAT | O_RDWR,
  'ax+': O_APPEND | O_CREAT | O_RDWR | O_EXCL,
  'xa+': O_APPEND | O_CREAT | O_RDWR | O_EXCL,
  'as+': O_APPEND | O_CREAT | O_RDWR | O_SYNC,
  'sa+': O_APPEND | O_CREAT | O_RDWR | O_SYNC,
};

/**
 * open(2) flags from a number or Node's strings. @throws ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE
 */
export function checkedFlags(flags: unknown, fallback: number = O_RDONLY): number {
  if (flags === undefined || flags === null) return fallback;
  if (typeof flags === 'number') {
    if (!Number.isInteger(flags)) throw outOfRange('flags', 'an integer', flags);
    if (flags < 0 || flags > 0x7fffffff) throw outOfRange('flags', '>= 0 && <= 2147483647', flags);
    return flags;
  }
  const value = typeof flags === 'string' ? FLAGS[flags] : undefined;
  if (value === undefined) throw invalidArgValue('flags', flags, 'is invalid');
  return value;
}

/** Permission bits from a number or an octal string. @throws ERR_INVALID_ARG_*, ERR_OUT_OF_RANGE */
export function checkedMode(mode: unknown, fallback: number, name = 'mode'): number {
  if (mode === undefined || mode === null) return fallback;
  if (typeof mode === 'string') {
    if (/^[0-7]+$/.test(mode)) return checkedMode(Number.parseInt(mode, 8), fallback, name);
    throw invalidArgValue(name, mode, 'must be a 32-bit unsigned integer or an octal string');
  }
  if (typeof mode !== 'number') throw invalidArgType(name, 'of type number', mode);
  if (!Number.isInteger(mode)) throw outOfRange(name, 'an integer', mode);
  if (mode < 0 || mode > 0xffffffff) throw outOfRange(name, '>= 0 && <= 4294967295', mode);
  return mode;
}

const toHandle = (fd: number, flags: number): FileHandle =>
  new FileHandle(fd, flags, false, OPENED);
const toDirectHandle = (fd: number, flags: number): FileHandle =>
  new FileHandle(fd, flags, true, OPENED);
// Linux only.
const O_DIRECT = constants.O_DIRECT ?? 0;

/**
 * Opens a file. `flags` default 'r', `mode` default 0o666; both as in node:fs/promises.
 * Failures: the system's, with `path`; an aborted open's descriptor never leaks.
 */
export function open(
  path: PathLike,
  flags?: string | number | null,
  mode?: number | string | null,
  options?: OperationOptions,
): Operation<FileHandle> {
  try {
    const checked = checkedPath(path);
    const argument0 = checkedFlags(flags);
    const argument1 = checkedMode(mode, 0o666);
    checkOptions(options);
    const request = { opcode: abi.OP_OPEN, syscall: 'open', path: checked, argument0, argument1 };
    const decode = (argument0 & O_DIRECT) === 0 ? toHandle : toDirectHandle;
    const authority = currentFileAuthority();
    return attachOptions(start(currentThread(), request, decode, authority), options);
  } catch (error) {
    return rejectedOperation(error);
  }
}
