// Opcode names: how fault tables and traces of the simulation name operations.
// Owner: none. Invariants: one name per opcode of the shared layout (a test compares).
// Not here: what they do (native/abi/layout.h).
import * as abi from '../../abi/layout.ts';

export const OPCODES = {
  nop: abi.OP_NOP,
  read: abi.OP_READ,
  write: abi.OP_WRITE,
  sync: abi.OP_SYNC,
  open: abi.OP_OPEN,
  close: abi.OP_CLOSE,
  stat: abi.OP_STAT,
  rename: abi.OP_RENAME,
  unlink: abi.OP_UNLINK,
  mkdir: abi.OP_MKDIR,
  link: abi.OP_LINK,
  symlink: abi.OP_SYMLINK,
  readlink: abi.OP_READLINK,
  truncate: abi.OP_TRUNCATE,
  utimes: abi.OP_UTIMES,
  chmod: abi.OP_CHMOD,
  chown: abi.OP_CHOWN,
  access: abi.OP_ACCESS,
  readdir: abi.OP_READDIR,
  realpath: abi.OP_REALPATH,
  copyRange: abi.OP_COPY_RANGE,
  clone: abi.OP_CLONE,
  allocate: abi.OP_ALLOCATE,
  cancel: abi.OP_CANCEL,
  readFile: abi.OP_READ_FILE,
} as const;

export type OpcodeName = keyof typeof OPCODES;

const NAMES = Object.keys(OPCODES) as OpcodeName[];

/** The name of an opcode below OP_COUNT. */
export function opcodeName(opcode: number): OpcodeName {
  return NAMES[opcode];
}
