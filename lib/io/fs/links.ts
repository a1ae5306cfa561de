// link, symlink, readlink, realpath. Owner: none.
// Invariants: a link's target passes as it is given, also when it leads nowhere or is not UTF-8.
// Not here: other names (names.ts).
import * as abi from '../../abi/layout.ts';
import { invalidArgValue } from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import type { OperationOptions } from '../operation_options.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import type { Decode } from '../path_operation.ts';
import { attempt, call, callVoid } from './path_call.ts';
import {
  checkedPathOptions,
  encodePath,
  type PathEncoding,
  type PathEncodingOptions,
} from './path_encoding.ts';

const SYMLINK_TYPES: readonly unknown[] = ['dir', 'file', 'junction', null, undefined];

/** Makes `newPath` another name of the file `existingPath`. */
export function link(
  existingPath: PathLike,
  newPath: PathLike,
  options?: OperationOptions,
): Operation<void> {
  return attempt(() =>
    callVoid(
      {
        opcode: abi.OP_LINK,
        syscall: 'link',
        path: checkedPath(existingPath, 'existingPath'),
        path2: checkedPath(newPath, 'newPath'),
      },
      options,
    ),
  );
}

/** Makes `path` a symbolic link to `target`. `type` says something on Windows only. */
export function symlink(
  target: PathLike,
  path: PathLike,
  type?: 'dir' | 'file' | 'junction' | null,
  options?: OperationOptions,
): Operation<void> {
  return attempt(() => {
    if (!SYMLINK_TYPES.includes(type)) {
      throw invalidArgValue('type', type, "must be one of: 'dir', 'file', 'junction', null");
    }
    const paths = { path: checkedPath(target, 'target'), path2: checkedPath(path) };
    return callVoid({ opcode: abi.OP_SYMLINK, syscall: 'symlink', ...paths }, options);
  });
}

function pathDecoder(encoding: PathEncoding): Decode<string | Buffer> {
  return (bytes, _flags, { output }) =>
    encodePath((output ?? Buffer.alloc(0)).subarray(0, bytes), encoding);
}

function callForPath(
  opcode: number,
  syscall: string,
  path: unknown,
  pathName: string,
  options: PathEncodingOptions | PathEncoding | null | undefined,
): Operation<string | Buffer> {
  return attempt(() => {
    const given = checkedPathOptions(options);
    const checked = checkedPath(path, pathName);
    const request = { opcode, syscall, path: checked, outputBytes: abi.PATH_BYTES_MAX };
    return call(request, pathDecoder(given.encoding), given);
  });
}

type BufferOption = 'buffer' | (PathEncodingOptions & { encoding: 'buffer' });
type StringOption = BufferEncoding | (PathEncodingOptions & { encoding?: BufferEncoding | null });

/** The target of a symbolic link, as it was given. */
export function readlink(path: PathLike, options: BufferOption): Operation<Buffer>;
export function readlink(path: PathLike, options?: StringOption | null): Operation<string>;
export function readlink(
  path: PathLike,
  options?: PathEncodingOptions | PathEncoding | null,
): Operation<string | Buffer>;
export function readlink(
  path: PathLike,
  options?: PathEncodingOptions | PathEncoding | null,
): Operation<string | Buffer> {
  // Node names it so in its errors.
  return callForPath(abi.OP_READLINK, 'readlink', path, 'oldPath', options);
}

/** The absolute path without links, "." and "..", as realpath(3) finds it. */
export function realpath(path: PathLike, options: BufferOption): Operation<Buffer>;
export function realpath(path: PathLike, options?: StringOption | null): Operation<string>;
export function realpath(
  path: PathLike,
  options?: PathEncodingOptions | PathEncoding | null,
): Operation<string | Buffer>;
export function realpath(
  path: PathLike,
  options?: PathEncodingOptions | PathEncoding | null,
): Operation<string | Buffer> {
  return callForPath(abi.OP_REALPATH, 'realpath', path, 'path', options);
}
