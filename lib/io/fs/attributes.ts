// chmod, chown, lchown, utimes, lutimes, truncate: attributes of what a path leads to.
// Owner: none. Invariants: the l functions change a link itself.
// Not here: the same by handle (handle_attributes.ts), argument checks (attribute_arguments.ts).
import { constants } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import type { Operation } from '../../base/operation.ts';
import type { OperationOptions } from '../operation_options.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import {
  checkedFileLength,
  checkedSeconds,
  checkedUserId,
  requiredMode,
  type TimeLike,
} from './attribute_arguments.ts';
import { withDescriptor } from './descriptors.ts';
import { attempt, callComposite, callVoid } from './path_call.ts';

/** Sets the permission bits; `mode` is a number or an octal string. */
export function chmod(
  path: PathLike,
  mode: number | string,
  options?: OperationOptions,
): Operation<void> {
  return attempt(() => {
    const request = { opcode: abi.OP_CHMOD, syscall: 'chmod', path: checkedPath(path) };
    return callVoid({ ...request, argument1: requiredMode(mode) }, options);
  });
}

function chownPath(
  syscall: string,
  flags: number,
  path: unknown,
  uid: unknown,
  gid: unknown,
  options: OperationOptions | undefined,
): Operation<void> {
  return attempt(() =>
    callVoid(
      {
        opcode: abi.OP_CHOWN,
        syscall,
        flags,
        path: checkedPath(path),
        argument0: checkedUserId(uid, 'uid'),
        argument1: checkedUserId(gid, 'gid'),
      },
      options,
    ),
  );
}

/** Sets owner and group; -1 leaves one as it is. */
export function chown(
  path: PathLike,
  uid: number,
  gid: number,
  options?: OperationOptions,
): Operation<void> {
  return chownPath('chown', 0, path, uid, gid, options);
}

/** As chown(), of a symbolic link itself. */
export function lchown(
  path: PathLike,
  uid: number,
  gid: number,
  options?: OperationOptions,
): Operation<void> {
  return chownPath('lchown', abi.ENTRY_NO_FOLLOW, path, uid, gid, options);
}

function utimesPath(
  syscall: string,
  flags: number,
  path: unknown,
  atime: unknown,
  mtime: unknown,
  options: OperationOptions | undefined,
): Operation<void> {
  return attempt(() => {
    const checked = checkedPath(path);
    const times = [checkedSeconds(atime), checkedSeconds(mtime)] as const;
    return callVoid({ opcode: abi.OP_UTIMES, syscall, flags, path: checked, times }, options);
  });
}

/** Sets the times of access and change: seconds since 1970 (number or string) or Dates. */
export function utimes(
  path: PathLike,
  atime: TimeLike,
  mtime: TimeLike,
  options?: OperationOptions,
): Operation<void> {
  return utimesPath('utime', 0, path, atime, mtime, options);
}

/** As utimes(), of a symbolic link itself. */
export function lutimes(
  path: PathLike,
  atime: TimeLike,
  mtime: TimeLike,
  options?: OperationOptions,
): Operation<void> {
  return utimesPath('lutime', abi.ENTRY_NO_FOLLOW, path, atime, mtime, options);
}

/** Cuts a file to `length` bytes (default 0), or extends it with zeros. */
export function truncate(
  path: PathLike,
  length?: number,
  options?: OperationOptions,
): Operation<void> {
  return attempt(() => {
    const checked = checkedPath(path);
    const value = checkedFileLength(length);
    return callComposite(async (scope) => {
      await withDescriptor(scope, checked, constants.O_RDWR, 'open', async (fd) => {
        await scope.request({ opcode: abi.OP_TRUNCATE, syscall: 'ftruncate', fd, value });
      });
    }, options);
  });
}
