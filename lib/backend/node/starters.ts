// Starters: which function carries out which opcode.
// Owner: stateless. Invariants: one entry per opcode that goes through node:fs; NOP and CANCEL are
// answered by the backend itself (node_backend.ts). A starter may throw what node:fs throws for an
// argument it refuses; it has started nothing then.
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import type { RingMemory } from '../../ring/ring_memory.ts';
import { startChmod, startChown, startStat, startUtimes } from './attributes.ts';
import type { Directories } from './directories.ts';
import {
  startClose,
  startRead,
  startSync,
  startTruncate,
  startUnsupported,
  startWrite,
} from './files.ts';
import { type NodeOperation, resultOfError } from './node_operation.ts';
import {
  startAccess,
  startLink,
  startMkdir,
  startOpen,
  startReadlink,
  startRealpath,
  startRename,
  startSymlink,
  startUnlink,
} from './paths.ts';

type Starter = (operation: NodeOperation) => void;

export interface StarterContext {
  readonly memory: RingMemory;
  readonly directories: Directories;
}

function createStarters({ memory, directories }: StarterContext): ReadonlyMap<number, Starter> {
  return new Map<number, Starter>([
    [abi.OP_READ, startRead],
    [abi.OP_WRITE, startWrite],
    [abi.OP_SYNC, startSync],
    [abi.OP_OPEN, (operation) => startOpen(operation, directories)],
    [abi.OP_CLOSE, startClose],
    [abi.OP_STAT, (operation) => startStat(operation, memory)],
    [abi.OP_RENAME, startRename],
    [abi.OP_UNLINK, startUnlink],
    [abi.OP_MKDIR, startMkdir],
    [abi.OP_LINK, startLink],
    [abi.OP_SYMLINK, startSymlink],
    [abi.OP_READLINK, startReadlink],
    [abi.OP_TRUNCATE, startTruncate],
    [abi.OP_UTIMES, startUtimes],
    [abi.OP_CHMOD, startChmod],
    [abi.OP_CHOWN, startChown],
    [abi.OP_ACCESS, startAccess],
    [abi.OP_READDIR, (operation) => directories.startReaddir(operation)],
    [abi.OP_REALPATH, startRealpath],
    [abi.OP_COPY_RANGE, startUnsupported],
    [abi.OP_CLONE, startUnsupported],
    [abi.OP_ALLOCATE, startUnsupported],
    [abi.OP_READ_FILE, startUnsupported],
  ]);
}

/** Gives the function that starts any operation whose opcode goes through node:fs. Never throws. */
export function createStarter(context: StarterContext): Starter {
  const starters = createStarters(context);
  return (operation) => {
    const { entry } = operation;
    const starter = starters.get(entry.opcode) ?? startUnsupported;
    // node:fs would throw for a descriptor below 0.
    const hasPath = entry.hasFlag(abi.ENTRY_HAS_PATH) && entry.opcode !== abi.OP_CLOSE;
    if (!hasPath && entry.fd < 0) {
      operation.complete(errnoOf('EBADF'));
      return;
    }
    try {
      starter(operation);
    } catch (error) {
      if (!isRefusedArgument(error)) throw error;
      operation.complete(resultOfError(error));
    }
  };
}

/** Errors that node:fs throws before it does anything: `ERR_OUT_OF_RANGE`, `ERR_INVALID_...`. */
function isRefusedArgument(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_');
}
