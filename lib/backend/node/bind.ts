// Binding: checks an entry and resolves its arena ids and offsets. Entries are untrusted input,
// here as in native/poller/poller.cc, whose checks and error numbers these are.
// Invariants: after bind() gave 0, buffer and paths lie inside their arenas and paths hold no NUL.
// Not here: slots and opcodes out of range (node_backend.ts), values (node:fs and the kernel).
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import type { ArenaTable } from './arena_table.ts';
import type { NodeOperation } from './node_operation.ts';

/** Opcodes that cannot do without a buffer. */
const NEEDS_BUFFER = new Set([
  abi.OP_READ,
  abi.OP_WRITE,
  abi.OP_READDIR,
  abi.OP_READLINK,
  abi.OP_REALPATH,
  abi.OP_READ_FILE,
]);
/** Opcodes that cannot do without a path (the others take a descriptor instead). */
const NEEDS_PATH = new Set([
  abi.OP_OPEN,
  abi.OP_RENAME,
  abi.OP_UNLINK,
  abi.OP_MKDIR,
  abi.OP_LINK,
  abi.OP_SYMLINK,
  abi.OP_ACCESS,
  abi.OP_READLINK,
  abi.OP_REALPATH,
  abi.OP_READ_FILE,
]);

/** Gives 0, or the negative errno with which the entry is refused. */
export function bind(operation: NodeOperation, scratch: Uint8Array, arenas: ArenaTable): number {
  const { entry } = operation;
  const hasBuffer = entry.hasFlag(abi.ENTRY_HAS_BUFFER);
  const hasPath = entry.hasFlag(abi.ENTRY_HAS_PATH);
  if (hasBuffer) {
    const arena = entry.arenaId === 0 ? scratch : arenas.find(entry.arenaId);
    if (arena === null || entry.bufferOffset + entry.bufferBytes > arena.length) {
      return errnoOf('EFAULT');
    }
    operation.buffer = arena;
  }
  if (hasPath) {
    const arena = entry.pathArenaId === 0 ? scratch : arenas.find(entry.pathArenaId);
    const error = bindPaths(operation, arena);
    if (error < 0) return error;
  }
  if (!hasBuffer && NEEDS_BUFFER.has(entry.opcode)) return errnoOf('EINVAL');
  if (!hasPath && NEEDS_PATH.has(entry.opcode)) return errnoOf('EINVAL');
  return 0;
}

function bindPaths(operation: NodeOperation, arena: Uint8Array | null): number {
  const { pathOffset, pathBytes, path2Bytes } = operation.entry;
  const path2Offset = pathOffset + pathBytes + 1;
  if (arena === null || path2Offset + path2Bytes + 1 > arena.length) return errnoOf('EFAULT');
  if (pathBytes >= abi.PATH_BYTES_MAX || path2Bytes >= abi.PATH_BYTES_MAX) {
    return errnoOf('ENAMETOOLONG');
  }
  // The only NUL must be the one at the end: a NUL inside would name another file.
  const path = arena.subarray(pathOffset, path2Offset);
  const path2 = arena.subarray(path2Offset, path2Offset + path2Bytes + 1);
  if (path.indexOf(0) !== pathBytes || path2.indexOf(0) !== path2Bytes) return errnoOf('EINVAL');
  // Copies: an opened directory's path is kept (directories.ts), scratch is not.
  operation.path = Buffer.from(path.subarray(0, pathBytes));
  operation.path2 = Buffer.from(path2.subarray(0, path2Bytes));
  return 0;
}
