// access, rename, unlink: one request on one or two names.
// Owner: none. Invariants: errors carry path and dest as Node's do.
// Not here: links (links.ts), trees (rm.ts).
import * as abi from '../../abi/layout.ts';
import { invalidArgType, outOfRange } from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import type { OperationOptions } from '../operation_options.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { attempt, callVoid } from './path_call.ts';

const ACCESS_MODE_MAX = 7; // R_OK | W_OK | X_OK

function checkedAccessMode(mode: unknown): number {
  if (mode === undefined || mode === null) return 0;
  if (typeof mode !== 'number') throw invalidArgType('mode', 'of type number', mode);
  if (!Number.isInteger(mode)) throw outOfRange('mode', 'an integer', mode);
  if (mode < 0 || mode > ACCESS_MODE_MAX) throw outOfRange('mode', '>= 0 && <= 7', mode);
  return mode;
}

/**
 * Fails unless `path` can be accessed; `mode` is made of constants R_OK, W_OK, X_OK; default F_OK.
 */
export function access(
  path: PathLike,
  mode?: number | null,
  options?: OperationOptions,
): Operation<void> {
  return attempt(() =>
    callVoid(
      {
        opcode: abi.OP_ACCESS,
        syscall: 'access',
        path: checkedPath(path),
        argument0: checkedAccessMode(mode),
      },
      options,
    ),
  );
}

/** Renames, replacing what `newPath` names. Across file systems: EXDEV. */
export function rename(
  oldPath: PathLike,
  newPath: PathLike,
  options?: OperationOptions,
): Operation<void> {
  return attempt(() =>
    callVoid(
      {
        opcode: abi.OP_RENAME,
        syscall: 'rename',
        path: checkedPath(oldPath, 'oldPath'),
        path2: checkedPath(newPath, 'newPath'),
      },
      options,
    ),
  );
}

/** Removes a file or a symbolic link. */
export function unlink(path: PathLike, options?: OperationOptions): Operation<void> {
  return attempt(() =>
    callVoid({ opcode: abi.OP_UNLINK, syscall: 'unlink', path: checkedPath(path) }, options),
  );
}
