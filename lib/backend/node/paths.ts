// Operations on names: open, rename, unlink, mkdir, link, symlink, readlink, realpath, access.
// Owner: stateless. Invariants: paths are the caller's raw bytes, so names that are not UTF-8 work.
// Not here: attributes of what a name leads to (attributes.ts), directories (directories.ts).
import {
  access,
  constants,
  link,
  mkdir,
  open,
  readlink,
  realpath,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs';
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import type { Directories } from './directories.ts';
import { modeOf, type NodeOperation, resultOfError } from './node_operation.ts';

const KIND_DIRECTORY = constants.S_IFDIR >> 12;
// Windows has neither.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const ONLY_DIRECTORY = constants.O_DIRECTORY ?? 0;

export function startOpen(operation: NodeOperation, directories: Directories): void {
  const { argument0, argument1 } = operation.entry;
  const noFollow = operation.entry.hasFlag(abi.ENTRY_NO_FOLLOW) ? NO_FOLLOW : 0;
  const flags = argument0 | noFollow;
  const { path } = operation;
  open(path, flags, modeOf(argument1), (error, fd) => {
    if (error) {
      operation.complete(resultOfError(error));
      return;
    }
    directories.remember(fd, path, flags);
    // The kind is known for nothing only here; fstat would be a second trip through the pool.
    const isDirectory = (flags & ONLY_DIRECTORY) !== 0;
    operation.complete(fd, isDirectory ? KIND_DIRECTORY : 0);
  });
}

export function startRename(operation: NodeOperation): void {
  rename(operation.path, operation.path2, operation.onVoid);
}

export function startUnlink(operation: NodeOperation): void {
  if (operation.entry.argument0 === 1) rmdir(operation.path, operation.onVoid);
  else unlink(operation.path, operation.onVoid);
}

export function startMkdir(operation: NodeOperation): void {
  mkdir(operation.path, modeOf(operation.entry.argument1), operation.onVoid);
}

export function startLink(operation: NodeOperation): void {
  link(operation.path, operation.path2, operation.onVoid);
}

export function startSymlink(operation: NodeOperation): void {
  symlink(operation.path, operation.path2, null, operation.onVoid);
}

/**
 * A target that does not fit is ENAMETOOLONG, since half a path would name another file. The buffer
 * must be longer than the target: readlink(2), which cuts, cannot tell a cut one from a full one.
 */
export function startReadlink(operation: NodeOperation): void {
  readlink(operation.path, 'buffer', (error, target) => {
    if (error) operation.complete(resultOfError(error));
    else completeWithPath(operation, target, operation.entry.bufferBytes - 1);
  });
}

export function startRealpath(operation: NodeOperation): void {
  realpath.native(operation.path, 'buffer', (error, resolved) => {
    if (error) operation.complete(resultOfError(error));
    else completeWithPath(operation, resolved, operation.entry.bufferBytes);
  });
}

function completeWithPath(operation: NodeOperation, path: Buffer, bytesMax: number): void {
  if (path.length > bytesMax) {
    operation.complete(errnoOf('ENAMETOOLONG'));
    return;
  }
  operation.buffer.set(path, operation.entry.bufferOffset);
  operation.complete(path.length);
}

/** node:fs cannot ask about a link itself. */
export function startAccess(operation: NodeOperation): void {
  if (operation.entry.hasFlag(abi.ENTRY_NO_FOLLOW)) operation.complete(errnoOf('ENOTSUP'));
  else access(operation.path, operation.entry.argument0, operation.onVoid);
}
