// rm: files and trees. Owner: the operation.
// Invariants: at most TREE_WIDTH directories are open and FILES_WIDTH of each one's files in
// removal at a time; nothing of the tree is held in memory but the directories still to visit; what
// is gone already is fine; links are removed, never followed.
// Not here: single names (names.ts), empty directories (mkdir.ts).
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import { NephriteError, type SystemError } from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import type { CompositeScope } from '../composite.ts';
import { DelayOperation } from '../delay.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { forEachBounded, runWorkStack } from '../work_stack.ts';
import { withDescriptor } from './descriptors.ts';
import {
  DIRECTORY_FLAGS,
  joinEntry,
  KIND_DIRECTORY,
  kindOf,
  readEntries,
} from './directory_reader.ts';
import { attempt, callComposite } from './path_call.ts';
import { latin1Path } from './path_encoding.ts';
import { type CheckedRmOptions, checkedRmOptions, type RmOptions } from './rm_arguments.ts';

// Together what keeps a kernel's pool of workers busy.
const TREE_WIDTH = 4;
const FILES_WIDTH = 8;
// A directory that others fill, or whose file system forgets entries while some are removed, is
// read again, so often at most.
const PASSES_MAX = 16;

const NOT_EMPTY_CODES = new Set(['ENOTEMPTY', 'EEXIST', 'EPERM']);
const RETRY_CODES = new Set(['EBUSY', 'EMFILE', 'ENFILE', 'ENOTEMPTY', 'EPERM']);

const codeOf = (error: unknown): string => (error as SystemError).code;

/** A directory in removal; paths are latin1. */
interface Directory {
  readonly path: string;
  readonly parent: Directory | undefined;
  /** Subdirectories still there, and 1 while it is being read. */
  pendingCount: number;
  passCount: number;
}

type Push = (directory: Directory) => void;

class Removal {
  readonly #scope: CompositeScope;
  readonly #options: CheckedRmOptions;

  constructor(scope: CompositeScope, options: CheckedRmOptions) {
    this.#scope = scope;
    this.#options = options;
  }

  async run(path: string | Buffer): Promise<void> {
    const { isForced, isRecursive } = this.#options;
    let kind: number;
    try {
      const request = { opcode: abi.OP_STAT, syscall: 'lstat', path, flags: abi.ENTRY_NO_FOLLOW };
      kind = await this.#scope.decoded(request, kindOf);
    } catch (error) {
      if (isForced && codeOf(error) === 'ENOENT') return;
      throw error;
    }
    if (kind === KIND_DIRECTORY && !isRecursive) throw directoryError(path);
    const latin1 = latin1Path(path);
    if (kind === KIND_DIRECTORY || (await this.#removeFile(latin1))) await this.#removeTree(latin1);
  }

  #removeTree(path: string): Promise<void> {
    const root = { path, parent: undefined, pendingCount: 0, passCount: 0 };
    return runWorkStack<Directory>(root, TREE_WIDTH, (directory, push) =>
      this.#visit(directory, push),
    );
  }

  /** Removes an empty directory, or empties it and leaves it to its last subdirectory's end. */
  async #visit(directory: Directory, push: Push): Promise<void> {
    let foundCount = 1;
    for (let retryCount = 0; ; ) {
      const error = await this.#tryUnlink(directory.path, 'rmdir');
      if (error === undefined) {
        const { parent } = directory;
        if (parent !== undefined && --parent.pendingCount === 0) push(parent);
        return;
      }
      const isNotEmpty = NOT_EMPTY_CODES.has(codeOf(error));
      // Not when the last pass has found nothing: then something else is in the way.
      if (isNotEmpty && foundCount > 0 && directory.passCount < PASSES_MAX) {
        directory.passCount++;
        foundCount = await this.#empty(directory, push);
        if (directory.pendingCount > 0) return;
      } else {
        await this.#waitOrThrow(++retryCount, error);
        foundCount = 1;
      }
    }
  }

  /** Removes the files, pushes the directories. Gives how many entries there were. */
  async #empty(directory: Directory, push: Push): Promise<number> {
    const scope = this.#scope;
    const path = Buffer.from(directory.path, 'latin1');
    let foundCount = 0;
    directory.pendingCount = 1;
    const empty = async (fd: number): Promise<void> => {
      for (;;) {
        const { entries, isEnd } = await readEntries(scope, fd, path);
        foundCount += entries.length;
        await forEachBounded(entries, FILES_WIDTH, async ({ name, kind }) => {
          const child = joinEntry(directory.path, name);
          if (kind !== KIND_DIRECTORY && !(await this.#removeFile(child))) return;
          directory.pendingCount++;
          push({ path: child, parent: directory, pendingCount: 0, passCount: 0 });
        });
        if (isEnd) return;
      }
    };
    try {
      await withDescriptor(scope, path, DIRECTORY_FLAGS, 'scandir', empty);
    } catch (error) {
      scope.check();
      // Somebody else has removed it, before it was opened or while it was read: the next rmdir
      // says so.
      if (codeOf(error) !== 'ENOENT') throw error;
      foundCount++;
    }
    directory.pendingCount--;
    return foundCount;
  }

  /** True: it is a directory. */
  async #removeFile(path: string): Promise<boolean> {
    for (let retryCount = 1; ; retryCount++) {
      const error = await this.#tryUnlink(path, 'unlink');
      if (error === undefined) return false;
      if (codeOf(error) === 'EISDIR') return true;
      await this.#waitOrThrow(retryCount, error);
    }
  }

  /** The failure, undefined when it is gone. @throws the cancellation */
  async #tryUnlink(path: string, syscall: 'unlink' | 'rmdir'): Promise<unknown> {
    const argument0 = syscall === 'rmdir' ? 1 : 0;
    const bytes = Buffer.from(path, 'latin1');
    try {
      await this.#scope.request({ opcode: abi.OP_UNLINK, syscall, path: bytes, argument0 });
      return undefined;
    } catch (error) {
      this.#scope.check();
      return codeOf(error) === 'ENOENT' ? undefined : error;
    }
  }

  async #waitOrThrow(retryCount: number, error: unknown): Promise<void> {
    const { retriesMax, retryDelayMs } = this.#options;
    if (retryCount > retriesMax || !RETRY_CODES.has(codeOf(error))) throw error;
    await this.#scope.run(() => new DelayOperation(retryCount * retryDelayMs));
  }
}

/** Node's error for a directory without `recursive`, with its positive errno. */
function directoryError(path: string | Buffer): Error {
  const info = {
    code: 'EISDIR',
    message: 'is a directory',
    path,
    syscall: 'rm',
    errno: -errnoOf('EISDIR'),
  };
  const what = `Path is a directory: rm returned EISDIR (is a directory) ${path}`;
  const error = new NephriteError('ERR_FS_EISDIR', what);
  const { errno, syscall } = info;
  return Object.assign(error, { name: 'SystemError', info, errno, syscall, path: String(path) });
}

/**
 * Removes a file, a link or, `recursive`, a directory with all it contains. What disappears
 * meanwhile is fine. Cancelled, it stops; what is removed stays removed.
 */
export function rm(path: PathLike, options?: RmOptions): Operation<void> {
  return attempt(() => {
    const checked = checkedPath(path);
    const given = checkedRmOptions(options);
    return callComposite((scope) => new Removal(scope, given).run(checked), options);
  });
}
