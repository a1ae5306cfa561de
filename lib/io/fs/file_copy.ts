// One copy of a file: its content and its permission bits, by the kernel where it can.
// Owner: the operation. Invariants: as libuv does it: a copy of a file onto itself does nothing,
// the destination gets the source's mode, and is removed when the copy fails; beyond it, a source
// that is a directory is refused before the destination is touched, and files whose size the kernel
// does not know (/proc) are read to their end.
// After a failure the source is closed first: a copy may be in flight, which uses both descriptors.
// Not here: arguments and how many run at a time (copy_file.ts), copying by reads and writes
// (chunk_copy.ts).
import { constants } from 'node:fs';
import { statfs } from 'node:fs/promises';
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import { type SystemError, systemError } from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import type { CompositeScope } from '../composite.ts';
import { KIND_REGULAR } from '../open_file.ts';
import type { Decode, Request } from '../path_operation.ts';
import { copyByChunks } from './chunk_copy.ts';
import {
  adoptDescriptor,
  closeDescriptor,
  isOutOfDescriptors,
  openDescriptor,
  waitForDescriptor,
} from './descriptors.ts';
import { KIND_DIRECTORY, KIND_FIFO } from './directory_reader.ts';
import { decodeBigIntStats } from './stats.ts';

const { COPYFILE_EXCL, COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE } = constants;
const PERMISSIONS = 0o7777;

// One step of a copy: a cancellation waits for at most that much.
const RANGE_BYTES = 16 * 1024 * 1024;
// copy_file_range(2) between these two files, or at all, is not possible; if the reason is another
// one, reads and writes will say so. CIFS and Ceph say EPERM and EACCES, NFS EINVAL.
const NO_RANGE_CODES = new Set([
  'EXDEV',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EPERM',
  'EACCES',
  'EINVAL',
  'ETXTBSY',
]);
const CIFS_MAGIC = 0xff534d42;

interface Facts {
  readonly kind: number;
  readonly permissions: number;
  readonly sizeBytes: number;
  readonly identity: string;
}

const toFacts: Decode<Facts> = (_result, _flags, source) => {
  const { mode, size, dev, ino } = decodeBigIntStats(source);
  return {
    kind: Number(mode) >> 12,
    permissions: Number(mode) & PERMISSIONS,
    sizeBytes: Number(size),
    identity: `${dev}:${ino}`,
  };
};

/** Made for one run(). */
export class FileCopy {
  readonly #scope: CompositeScope;
  readonly #source: string | Buffer;
  readonly #target: string | Buffer;
  readonly #mode: number;

  constructor(
    scope: CompositeScope,
    source: string | Buffer,
    target: string | Buffer,
    mode: number,
  ) {
    this.#scope = scope;
    this.#source = source;
    this.#target = target;
    this.#mode = mode;
  }

  async run(): Promise<void> {
    for (;;) {
      try {
        await this.#copy();
        return;
      } catch (error) {
        // Nothing is held now, so others can go on and give theirs back.
        if (!isOutOfDescriptors(error) || !(await waitForDescriptor(this.#scope))) {
          throw this.#errorOf(error);
        }
      }
    }
  }

  async #copy(): Promise<void> {
    const { thread } = this.#scope;
    const sourceFd = await this.#open(this.#source, constants.O_RDONLY, 0);
    let targetFd = -1;
    let failure: { readonly error: unknown } | undefined;
    try {
      const facts = await this.#facts(sourceFd);
      if (facts.kind === KIND_DIRECTORY) throw systemError(errnoOf('EISDIR'), 'copyfile');
      targetFd = await this.#openTarget(facts.permissions);
      await this.#fill(sourceFd, targetFd, facts);
    } catch (error) {
      failure = { error };
    }
    const closing = (error: unknown): void => {
      failure ??= { error };
    };
    const sourceClosed = closeDescriptor(thread, sourceFd).catch(closing);
    // After a failure a copy may be in flight still; the close of its source waits for that.
    if (failure !== undefined) await sourceClosed;
    if (targetFd >= 0) await closeDescriptor(thread, targetFd).catch(closing);
    await sourceClosed;
    if (failure === undefined) return;
    if (targetFd >= 0) {
      const request = { opcode: abi.OP_UNLINK, syscall: 'unlink', path: this.#target };
      await this.#scope.start(request, () => {}).catch(() => {});
    }
    throw failure.error;
  }

  #open(path: string | Buffer, argument0: number, argument1: number): Promise<number> {
    const request = { opcode: abi.OP_OPEN, syscall: 'copyfile', path, argument0, argument1 };
    return openDescriptor(this.#scope, request);
  }

  /**
   * Not a step, since a cancelled open may still make the file, which nobody would remove then; it
   * does not wait for the reader of a FIFO. That is a step of its own, and makes nothing.
   */
  async #openTarget(permissions: number): Promise<number> {
    this.#scope.check();
    const { O_CREAT, O_EXCL, O_NONBLOCK, O_WRONLY } = constants;
    const exclusive = (this.#mode & COPYFILE_EXCL) === 0 ? 0 : O_EXCL;
    const argument0 = O_WRONLY | O_CREAT | O_NONBLOCK | exclusive;
    const request = { opcode: abi.OP_OPEN, syscall: 'copyfile', path: this.#target, argument0 };
    const { thread } = this.#scope;
    try {
      const opened = { ...request, argument1: permissions };
      return await this.#scope.start(opened, (fd) => adoptDescriptor(thread, fd));
    } catch (error) {
      if ((error as SystemError).code !== 'ENXIO') throw error;
      return this.#open(this.#target, O_WRONLY, 0);
    }
  }

  #facts(fd: number): PromiseLike<Facts> {
    return this.#scope.decoded({ opcode: abi.OP_STAT, syscall: 'copyfile', fd }, toFacts);
  }

  async #fill(sourceFd: number, targetFd: number, facts: Facts): Promise<void> {
    const { identity, permissions, sizeBytes: oldBytes } = await this.#facts(targetFd);
    if (identity === facts.identity) return;
    // What is as it has to be already, as with most new files, costs no step.
    if (oldBytes > 0) await this.#on(targetFd, { opcode: abi.OP_TRUNCATE, value: 0 });
    if (permissions !== facts.permissions) {
      await this.#copyPermissions(targetFd, facts.permissions);
    }
    if (await this.#clone(sourceFd, targetFd)) return;
    const { kind, sizeBytes } = facts;
    let left = 0;
    // Devices have no size and no end: nothing is copied, as with libuv.
    if (kind === KIND_REGULAR || kind === KIND_FIFO) left = sizeBytes === 0 ? Infinity : sizeBytes;
    if (sizeBytes > 0) left = await this.#copyRanges(sourceFd, targetFd, left);
    if (left > 0) await copyByChunks(this.#scope, sourceFd, kind, targetFd, left);
  }

  #on(fd: number, request: Omit<Request, 'syscall'>): Operation<number> {
    return this.#scope.request({ ...request, syscall: 'copyfile', fd });
  }

  async #copyPermissions(targetFd: number, permissions: number): Promise<void> {
    try {
      await this.#on(targetFd, { opcode: abi.OP_CHMOD, argument1: permissions });
    } catch (error) {
      // CIFS does not let everybody change modes.
      const isEperm = (error as SystemError).code === 'EPERM';
      // statfs is Node's, and would look where an authority might not.
      const mayLook = this.#scope.authority === undefined;
      if (!isEperm || !mayLook || (await statfs(this.#target)).type !== CIFS_MAGIC) throw error;
    }
  }

  /** True: the destination shares the source's blocks now. */
  async #clone(sourceFd: number, targetFd: number): Promise<boolean> {
    const isForced = (this.#mode & COPYFILE_FICLONE_FORCE) !== 0;
    if (!isForced && (this.#mode & COPYFILE_FICLONE) === 0) return false;
    try {
      await this.#on(sourceFd, { opcode: abi.OP_CLONE, argument0: targetFd });
      return true;
    } catch (error) {
      this.#scope.check();
      if (isForced) throw error;
      return false;
    }
  }

  /** Gives how many bytes are left for reads and writes. */
  async #copyRanges(sourceFd: number, targetFd: number, bytes: number): Promise<number> {
    for (let left = bytes; left > 0; ) {
      const value = Math.min(left, RANGE_BYTES);
      try {
        const range = { opcode: abi.OP_COPY_RANGE, argument0: targetFd, value };
        const copied = await this.#on(sourceFd, range);
        if (copied === 0) return 0;
        left -= copied;
      } catch (error) {
        if (NO_RANGE_CODES.has((error as SystemError).code)) return left;
        throw error;
      }
    }
    return 0;
  }

  /** System errors of all steps are the copy's. */
  #errorOf(error: unknown): unknown {
    const { errno } = error as SystemError;
    if (typeof errno !== 'number') return error;
    return systemError(errno, 'copyfile', this.#source, this.#target);
  }
}
