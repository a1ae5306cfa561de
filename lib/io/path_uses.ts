// Path uses: what each opcode does with the paths it names, as an authority has to know it.
// Owner: none. Invariants: an opcode that is not in the table has no use, and is refused; what may
// change anything is a writing use, also where it changes less than content (times, link counts).
// Not here: how a path is resolved for its use (path_resolver.ts).
import { constants } from 'node:fs';
import * as abi from '../abi/layout.ts';
import type { Request } from './path_operation.ts';

/** The name itself is taken away or given another object: the last component is not looked at. */
export const USE_NAME = 0;
/** As USE_NAME, and only says EEXIST where something is: the root may be named. */
export const USE_NEW_NAME = 1;
/** What the path leads to. */
export const USE_TARGET = 2;
/** What the path leads to; a last link is not followed. */
export const USE_LINK = 3;
/** As the flags of the open say. */
export const USE_OPEN = 4;
/** Nothing but its canonical form is wanted. */
export const USE_REALPATH = 5;
/** Text: nobody looks where it leads. */
export const USE_TEXT = 6;
export type PathUse = 0 | 1 | 2 | 3 | 4 | 5 | 6;

export interface PathUses {
  readonly path: PathUse;
  readonly path2?: PathUse;
  readonly isWriting: boolean;
}

const { O_APPEND, O_CREAT, O_RDWR, O_TRUNC, O_WRONLY, W_OK } = constants;
// O_TMPFILE without its O_DIRECTORY; Linux, not named by node:fs.
const TEMPORARY_BIT = 0o20000000;
const WRITING_FLAGS = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | TEMPORARY_BIT;

const USES: ReadonlyMap<number, PathUses> = new Map([
  [abi.OP_RENAME, { path: USE_NAME, path2: USE_NAME, isWriting: true }],
  [abi.OP_UNLINK, { path: USE_NAME, isWriting: true }],
  [abi.OP_MKDIR, { path: USE_NEW_NAME, isWriting: true }],
  // A second name would make a file writable below another root: so it takes writing here too.
  [abi.OP_LINK, { path: USE_LINK, path2: USE_NEW_NAME, isWriting: true }],
  [abi.OP_SYMLINK, { path: USE_TEXT, path2: USE_NEW_NAME, isWriting: true }],
  [abi.OP_READLINK, { path: USE_LINK, isWriting: false }],
  [abi.OP_REALPATH, { path: USE_REALPATH, isWriting: false }],
]);
const CHANGES: ReadonlySet<number> = new Set([abi.OP_UTIMES, abi.OP_CHMOD, abi.OP_CHOWN]);

/** Undefined: not to be done under an authority. */
export function pathUses(request: Request): PathUses | undefined {
  const { opcode, argument0 = 0 } = request;
  const path = ((request.flags ?? 0) & abi.ENTRY_NO_FOLLOW) !== 0 ? USE_LINK : USE_TARGET;
  if (opcode === abi.OP_OPEN) {
    // No opening of ours uses the entry's own flag.
    const isWriting = (argument0 & WRITING_FLAGS) !== 0;
    return path === USE_TARGET ? { path: USE_OPEN, isWriting } : undefined;
  }
  if (opcode === abi.OP_STAT) return { path, isWriting: false };
  // "May I write?" is not answered with what the system would allow.
  if (opcode === abi.OP_ACCESS) return { path, isWriting: (argument0 & W_OK) !== 0 };
  if (CHANGES.has(opcode)) return { path, isWriting: true };
  return USES.get(opcode);
}
