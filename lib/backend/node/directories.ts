// Directories: READDIR on a descriptor, which node:fs does not have. The contents are read by path
// at the first READDIR and handed out over that and the next ones, as the kernel's file position
// would do it.
// The path is /proc/self/fd/N where there is one (right also after a rename), else the path of the
// open, remembered for descriptors that may be directories and made absolute at once.
// Owner: the backend. Invariants: one state per open descriptor, dropped when its close starts; one
// listing at a time per descriptor, later READDIRs wait for it.
// Limits: a listing is held in memory, as fs.readdir does it; inode numbers are 0, "." and ".." are
// absent (node:fs tells neither).
import { constants, type Dirent, fstat, readdir } from 'node:fs';
import { isAbsolute } from 'node:path';
import { errnoOf } from '../../base/errno.ts';
import { writeDirentRecord } from './dirent_record.ts';
import { type NodeOperation, resultOfError } from './node_operation.ts';

const LIST_OPTIONS = { withFileTypes: true, encoding: 'buffer' } as const;
const ACCESS_MODE_MASK = 3; // O_RDONLY | O_WRONLY | O_RDWR

interface DirectoryState {
  /** Null when the descriptor was not opened through this backend. */
  readonly path: Buffer | null;
  entries: readonly Dirent<Buffer>[] | null;
  nextIndex: number;
  /** READDIR operations that wait for the listing; null when none is under way. */
  waiting: NodeOperation[] | null;
}

const DESCRIPTOR_FOLDER = process.platform === 'linux' ? '/proc/self/fd' : null;

export class Directories {
  readonly #states = new Map<number, DirectoryState>();
  readonly #descriptorFolder: string | null;

  /** `descriptorFolder` holds a link per open descriptor; null where the system has none. */
  constructor(descriptorFolder: string | null = DESCRIPTOR_FOLDER) {
    this.#descriptorFolder = descriptorFolder;
  }

  /** An open gave `fd`: whatever was known of that number is of an earlier file. */
  remember(fd: number, path: Buffer, flags: number): void {
    this.#states.delete(fd);
    const mayBeDirectory =
      (flags & ACCESS_MODE_MASK) === constants.O_RDONLY && (flags & constants.O_CREAT) === 0;
    if (!mayBeDirectory) return;
    // A path through a descriptor of ours is somebody else's once that is closed.
    const isLasting = !path.toString('latin1').startsWith(`${DESCRIPTOR_FOLDER}/`);
    this.#states.set(fd, newState(isLasting ? absolutePath(path) : null));
  }

  forget(fd: number): void {
    this.#states.delete(fd);
  }

  startReaddir(operation: NodeOperation): void {
    const { fd } = operation.entry;
    let state = this.#states.get(fd);
    if (state === undefined) {
      state = newState(null);
      this.#states.set(fd, state);
    }
    if (state.entries !== null) operation.complete(handOut(operation, state));
    else if (state.waiting !== null) state.waiting.push(operation);
    else {
      state.waiting = [operation];
      list(fd, state, this.#candidatesFor(fd, state));
    }
  }

  #candidatesFor(fd: number, { path }: DirectoryState): readonly (string | Buffer)[] {
    const candidates: (string | Buffer)[] = [];
    if (this.#descriptorFolder !== null) candidates.push(`${this.#descriptorFolder}/${fd}`);
    if (path !== null) candidates.push(path);
    return candidates;
  }
}

function newState(path: Buffer | null): DirectoryState {
  return { path, entries: null, nextIndex: 0, waiting: null };
}

function absolutePath(path: Buffer): Buffer {
  if (isAbsolute(path.toString('latin1'))) return path;
  return Buffer.concat([Buffer.from(`${process.cwd()}/`), path]);
}

function list(fd: number, state: DirectoryState, candidates: readonly (string | Buffer)[]): void {
  // Asked first, since by path a bad descriptor would be ENOENT.
  fstat(fd, (error, stats) => {
    if (error) settle(state, resultOfError(error));
    else if (!stats.isDirectory()) settle(state, errnoOf('ENOTDIR'));
    else listFirst(candidates, state);
  });
}

function listFirst(candidates: readonly (string | Buffer)[], state: DirectoryState): void {
  const [candidate, ...others] = candidates;
  if (candidate === undefined) {
    settle(state, errnoOf('ENOTSUP'));
    return;
  }
  readdir(candidate, LIST_OPTIONS, (error, entries) => {
    if (error?.code === 'ENOENT' && others.length > 0) listFirst(others, state);
    else if (error) settle(state, resultOfError(error));
    else {
      state.entries = entries;
      settle(state, 0);
    }
  });
}

/** Ends the listing; after an error the next READDIR tries again. */
function settle(state: DirectoryState, error: number): void {
  const waiting = state.waiting ?? [];
  state.waiting = null;
  for (const operation of waiting) {
    operation.complete(error < 0 ? error : handOut(operation, state));
  }
}

/** Fills the operation's buffer: bytes written, 0 at the end, EINVAL if not one record fits. */
function handOut(operation: NodeOperation, state: DirectoryState): number {
  const entries = state.entries ?? [];
  if (state.nextIndex === entries.length) return 0;
  const { bufferOffset, bufferBytes } = operation.entry;
  const target = operation.buffer.subarray(bufferOffset, bufferOffset + bufferBytes);
  let used = 0;
  while (state.nextIndex < entries.length) {
    const entry = entries[state.nextIndex];
    const recordBytes = writeDirentRecord(target, used, entry, state.nextIndex + 1);
    if (recordBytes === 0) break;
    used += recordBytes;
    state.nextIndex++;
  }
  return used === 0 ? errnoOf('EINVAL') : used;
}
