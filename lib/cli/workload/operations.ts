// The operations a workload can ask for, and the slot that carries one of them.
// Owner: a lane owns its slot; the workload fills it, the lane carries it out.
// Invariants: a slot holds a claim on its target from fill to release, if `hasClaim` says so.
// Not here: who decides (workload.ts), who executes (load/executor.ts).

/** Read one block and check it. */
export const OP_READ = 0;
/** Write the next generation of one block. */
export const OP_WRITE = 1;
/** Write the next generation of one block, then fdatasync: one operation, timed as one. */
export const OP_WRITE_SYNC = 2;
/** fdatasync one block file. */
export const OP_SYNC = 3;
/** stat one small file and check its size. */
export const OP_STAT = 4;
/** Read one small file whole and check it. */
export const OP_READ_FILE = 5;
/** Overwrite one small file whole. */
export const OP_REPLACE = 6;
/** Unlink one small file and create it again. */
export const OP_RECREATE = 7;

export type OperationKind = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** Names as they appear in reports, indexed by kind. */
export const OPERATION_NAMES = [
  'read',
  'write',
  'write+datasync',
  'datasync',
  'stat',
  'readFile',
  'writeFile',
  'unlink+create',
] as const;

/** Whether an operation changes its target, which it then needs for itself. */
export function isChanging(kind: OperationKind): boolean {
  return kind === OP_WRITE || kind === OP_WRITE_SYNC || kind === OP_REPLACE || kind === OP_RECREATE;
}

/** One operation, reused for the whole life of a lane. */
export interface OperationSlot {
  kind: OperationKind;
  /** Target number: blocks of all block files first, small files behind them. */
  target: number;
  /** Generation of the content: expected by a read, to be written by a write; 0 is unknown. */
  generation: number;
  /** False after a failed write: the target may hold anything, or be missing. */
  isKnown: boolean;
}
