// FileHandle: an open file, with the methods of node:fs/promises.FileHandle.
// Owner: one thread. Invariants: the descriptor is closed exactly once; after close() every method
// fails with EBADF before anything is submitted; close() waits for what was started on a regular
// file and cancels what may wait for ever on any other (the poller starts close(2) only then).
// Node's createReadStream, createWriteStream, readableWebStream and readLines are not there yet.
// Not here: opening (open.ts), the transfers (../transfer.ts), several buffers (handle_vectors.ts),
// attributes (handle_attributes.ts).
import { EventEmitter } from 'node:events';
import type { BigIntStats, Stats } from 'node:fs';
import { errnoOf } from '../../base/errno.ts';
import { systemError } from '../../base/errors.ts';
import { fulfilledOperation, type Operation, rejectedOperation } from '../../base/operation.ts';
import { CONFINE_TO_READING, type Confinable } from '../authority.ts';
import { type BufferLike, checkedBytes } from '../buffers.ts';
import { CompositeOperation } from '../composite.ts';
import { currentThread } from '../current_thread.ts';
import { KIND_DIRECTORY, OpenFile } from '../open_file.ts';
import { attachOptions, checkOptions, type OperationOptions } from '../operation_options.ts';
import { startClose } from '../path_operation.ts';
import { isSplitWorthy } from '../split_transfer.ts';
import { ReadOperation, type ReadResult, WriteOperation, type WriteResult } from '../transfer.ts';
import type { WholeFileTarget } from '../whole_file_operation.ts';
import type { TimeLike } from './attribute_arguments.ts';
import { checkLength, checkOffset, checkPosition } from './handle_arguments.ts';
import {
  type AllocateOptions,
  allocateFile,
  chmodFile,
  chownFile,
  statFile,
  syncFile,
  truncateFile,
  utimesFile,
} from './handle_attributes.ts';
import { splitRead, splitWrite } from './handle_split.ts';
import {
  type ReadVectorResult,
  readVectors,
  type WriteVectorResult,
  writeVectors,
} from './handle_vectors.ts';
import { attempt } from './path_call.ts';
import { type ReadFileOptions, readWhole } from './read_file.ts';
import { type WriteData, type WriteFileOptions, writeWhole } from './write_file.ts';

export interface ReadOptions extends OperationOptions {
  buffer?: BufferLike;
  offset?: number | null;
  length?: number | null;
  position?: number | bigint | null;
}

export interface WriteOptions extends OperationOptions {
  offset?: number | null;
  length?: number | null;
  position?: number | bigint | null;
}

// Backends differ in what the kernel says to a read of nothing. As in Node, nobody is asked; a
// directory says what it is all the same.
function emptyRead<B>(file: OpenFile, buffer: B): Operation<ReadResult<B>> {
  if (file.kind === KIND_DIRECTORY) throw systemError(errnoOf('EISDIR'), 'read');
  return fulfilledOperation({ bytesRead: 0, buffer });
}

/** Who has it makes handles. Not public. */
export const OPENED: unique symbol = Symbol('nephrite.opened');

export class FileHandle extends EventEmitter implements Confinable {
  // dist/ is minified; this is the name that inspect() shows.
  static override readonly name = 'FileHandle';
  readonly #file: OpenFile;
  #closing: Operation<void> | undefined = undefined;

  /** Made by open() only. @throws TypeError for anybody else: a number is no right to its file */
  constructor(fd: number, flags: number, isDirect: boolean, key: typeof OPENED) {
    if (key !== OPENED) throw new TypeError('Illegal constructor');
    super();
    this.#file = new OpenFile(fd, flags, isDirect);
  }

  /** For authorities: from now on nothing may be changed through it. */
  [CONFINE_TO_READING](): void {
    this.#file.isConfinedToReading = true;
  }

  /** The descriptor, -1 after close(). */
  get fd(): number {
    return this.#file.fd;
  }

  /** True when the open found a regular file. */
  get isRegular(): boolean {
    return this.#file.isRegular;
  }

  /**
   * Reads into `buffer` (default: 16 KiB of its own). A regular file fills it up to its end; others
   * give what is there. `position` null or -1 uses and moves the file position.
   */
  read<B extends BufferLike = Buffer>(
    buffer?: B | ReadOptions,
    offset?: number | null | ReadOptions,
    length?: number | null,
    position?: number | bigint | null,
    options?: OperationOptions,
  ): Operation<ReadResult<B>> {
    try {
      if (!ArrayBuffer.isView(buffer)) {
        const given = (buffer ?? {}) as ReadOptions;
        return this.read((given.buffer ?? Buffer.alloc(16384)) as B, given);
      }
      if (typeof offset === 'object' && offset !== null) {
        return this.read(buffer, offset.offset, offset.length, offset.position, offset);
      }
      const fd = this.#file.checkedFd('read');
      const bytes = checkedBytes(buffer);
      const start = checkOffset(offset, bytes.byteLength);
      const count = checkLength(length, start, bytes.byteLength);
      const at = checkPosition(position);
      if (options !== undefined) checkOptions(options);
      const file = this.#file;
      if (count === 0) return emptyRead(file, buffer);
      const thread = currentThread();
      if (isSplitWorthy(file, count, at)) {
        const operation = splitRead(thread, file, fd, bytes, start, count, at, buffer);
        return attachOptions(operation, options);
      }
      const operation = new ReadOperation<B>(thread, file, fd, bytes, start, count, at, buffer);
      thread.submit(operation);
      return options === undefined ? operation : attachOptions(operation, options);
    } catch (error) {
      return rejectedOperation(error);
    }
  }

  /**
   * Writes all of it: loops until every byte is written; a failure tells `bytesWritten`. Strings
   * take (position, encoding), buffers (offset, length, position).
   */
  write<B extends BufferLike | string>(
    data: B,
    offset?: number | bigint | null | WriteOptions,
    length?: number | string | null,
    position?: number | bigint | null,
    options?: OperationOptions,
  ): Operation<WriteResult<B>> {
    try {
      if (typeof data === 'string') {
        const bytes = Buffer.from(data, (length as BufferEncoding | null) ?? 'utf8');
        return this.#write(bytes, data, 0, bytes.byteLength, offset as number | null, options);
      }
      if (typeof offset === 'object' && offset !== null) {
        return this.write(data, offset.offset, offset.length, offset.position, offset);
      }
      const bytes = checkedBytes(data);
      const start = checkOffset(offset, bytes.byteLength);
      const count = checkLength(length, start, bytes.byteLength);
      return this.#write(bytes, data, start, count, position, options);
    } catch (error) {
      return rejectedOperation(error);
    }
  }

  #write<B>(
    bytes: Uint8Array,
    data: B,
    offset: number,
    length: number,
    position: number | bigint | null | undefined,
    options: OperationOptions | undefined,
  ): Operation<WriteResult<B>> {
    const file = this.#file;
    const fd = file.checkedFd('write');
    const at = checkPosition(position);
    if (options !== undefined) checkOptions(options);
    const thread = currentThread();
    if (isSplitWorthy(file, length, at)) {
      const operation = splitWrite(thread, file, fd, bytes, offset, length, at, data);
      return attachOptions(operation, options);
    }
    const operation = new WriteOperation<B>(thread, file, fd, bytes, offset, length, at, data);
    thread.submit(operation);
    return options === undefined ? operation : attachOptions(operation, options);
  }

  /** Reads into several buffers, in order; ends as read() does. */
  readv<B extends readonly BufferLike[]>(
    buffers: B,
    position?: number | bigint | null,
    options?: OperationOptions,
  ): Operation<ReadVectorResult<B>> {
    return readVectors(this.#file, buffers, position, options);
  }

  /** Writes all of several buffers, in order; a failure tells `bytesWritten`. */
  writev<B extends readonly BufferLike[]>(
    buffers: B,
    position?: number | bigint | null,
    options?: OperationOptions,
  ): Operation<WriteVectorResult<B>> {
    return writeVectors(this.#file, buffers, position, options);
  }

  /** As fs.fstat; `{ bigint: true }` gives BigIntStats. */
  stat(options?: OperationOptions & { bigint?: false | undefined }): Operation<Stats>;
  stat(options: OperationOptions & { bigint: true }): Operation<BigIntStats>;
  stat(options?: OperationOptions & { bigint?: boolean }): Operation<Stats | BigIntStats> {
    return statFile(this.#file, options);
  }

  /** From the file position to the end; a Buffer or, with an encoding, a string. */
  readFile(
    options?: (ReadFileOptions & { encoding?: 'buffer' | null }) | 'buffer' | null,
  ): Operation<Buffer>;
  readFile(
    options: (ReadFileOptions & { encoding: BufferEncoding }) | BufferEncoding,
  ): Operation<string>;
  readFile(
    options?: ReadFileOptions | BufferEncoding | 'buffer' | null,
  ): Operation<Buffer | string>;
  readFile(
    options?: ReadFileOptions | BufferEncoding | 'buffer' | null,
  ): Operation<Buffer | string> {
    return attempt(() => readWhole(this.#target('readFile'), options));
  }

  /** Writes all of `data` at the file position. */
  writeFile(data: WriteData, options?: WriteFileOptions | BufferEncoding | null): Operation<void> {
    return attempt(() => writeWhole(this.#target('writeFile'), data, options, 'w'));
  }

  /** As writeFile(): where it is written is up to how the file was opened, as in Node. */
  appendFile(data: WriteData, options?: WriteFileOptions | BufferEncoding | null): Operation<void> {
    return attempt(() => writeWhole(this.#target('writeFile'), data, options, 'a'));
  }

  // A closed handle is told by the method's name, as in Node.
  #target(syscall: string): WholeFileTarget {
    return { file: this.#file, fd: this.#file.checkedFd(syscall) };
  }

  sync(options?: OperationOptions): Operation<void> {
    return syncFile(this.#file, false, options);
  }

  datasync(options?: OperationOptions): Operation<void> {
    return syncFile(this.#file, true, options);
  }

  /** Cuts the file to `length` bytes (default 0), or extends it with zeros. */
  truncate(length?: number, options?: OperationOptions): Operation<void> {
    return truncateFile(this.#file, length, options);
  }

  /** Sets the permission bits; `mode` is a number or an octal string. */
  chmod(mode: number | string, options?: OperationOptions): Operation<void> {
    return chmodFile(this.#file, mode, options);
  }

  /** Sets owner and group; -1 leaves one as it is. */
  chown(uid: number, gid: number, options?: OperationOptions): Operation<void> {
    return chownFile(this.#file, uid, gid, options);
  }

  /** Sets the times of access and change: seconds since 1970 (number or string) or Dates. */
  utimes(atime: TimeLike, mtime: TimeLike, options?: OperationOptions): Operation<void> {
    return utimesFile(this.#file, atime, mtime, options);
  }

  /**
   * Reserves `length` bytes of disk from `offset` on, so that writing them cannot fail with ENOSPC.
   * ENOTSUP where the file system or the backend (node) cannot.
   */
  allocate(offset: number, length: number, options?: AllocateOptions): Operation<void> {
    return allocateFile(this.#file, offset, length, options);
  }

  /** Closes once; later calls resolve with the first. Emits 'close'. */
  close(): Operation<void> {
    if (this.#closing !== undefined) return this.#closing;
    const file = this.#file;
    const fd = file.takeFd();
    // A regular file's operations end by themselves.
    const { isInterruptible } = file;
    const thread = currentThread();
    const closing =
      file.isHeld && !isInterruptible
        ? new CompositeOperation<void>(thread, async () => {
            await file.idle();
            await startClose(thread, fd, false);
          })
        : startClose(thread, fd, isInterruptible);
    closing.onSettled({ nextWaiter: undefined, operationSettled: () => this.emit('close') });
    this.#closing = closing;
    return closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
