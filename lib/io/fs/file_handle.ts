// FileHandle: an open file, with the methods of node:fs/promises.FileHandle.
// Owner: one thread. Invariants: the descriptor is closed exactly once; after close() every method
// fails with EBADF before anything is submitted; close() waits for what is in flight on a regular
// file and cancels what may wait for ever on any other (the poller starts close(2) only then).
// Not here: whole-file helpers (whole_file.ts), opening (open.ts).
import { EventEmitter } from 'node:events';
import type { Stats } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import type { SystemError } from '../../base/errors.ts';
import { type Operation, rejectedOperation } from '../../base/operation.ts';
import { type BufferLike, checkedBytes } from '../buffers.ts';
import { currentThread } from '../current_thread.ts';
import { attachOptions, checkOptions, type OperationOptions } from '../operation_options.ts';
import { type Request, start, startVoid } from '../path_operation.ts';
import { ReadOperation, type ReadResult, WriteOperation, type WriteResult } from '../transfer.ts';
import { checkLength, checkOffset, checkPosition } from './handle_arguments.ts';
import { decodeBigIntStats, decodeStats } from './stats.ts';

const KIND_REGULAR = 0o100000 >> 12;

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

function closedError(syscall: string): SystemError {
  const error = new Error('file closed') as SystemError;
  error.code = 'EBADF';
  error.syscall = syscall;
  return error;
}

export class FileHandle extends EventEmitter {
  #fd: number;
  // S_IFMT >> 12 as the open found it, 0 = not known.
  readonly #kind: number;
  #closing: Operation<void> | undefined = undefined;

  /** Made by open() only. */
  constructor(fd: number, flags: number) {
    super();
    this.#fd = fd;
    this.#kind = flags & abi.COMPLETION_KIND_MASK;
  }

  /** The descriptor, -1 after close(). */
  get fd(): number {
    return this.#fd;
  }

  /** True when the open found a regular file. */
  get isRegular(): boolean {
    return this.#kind === KIND_REGULAR;
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
      if (this.#fd < 0) throw closedError('read');
      const bytes = checkedBytes(buffer);
      const start = checkOffset(offset, bytes.byteLength);
      const count = checkLength(length, start, bytes.byteLength);
      const at = checkPosition(position);
      if (options !== undefined) checkOptions(options);
      const thread = currentThread();
      const operation = new ReadOperation<B>(
        thread,
        this.#fd,
        bytes,
        start,
        count,
        at,
        buffer,
        this.isRegular,
      );
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
    if (this.#fd < 0) throw closedError('write');
    const at = checkPosition(position);
    if (options !== undefined) checkOptions(options);
    const thread = currentThread();
    const operation = new WriteOperation<B>(thread, this.#fd, bytes, offset, length, at, data);
    thread.submit(operation);
    return options === undefined ? operation : attachOptions(operation, options);
  }

  /** As fs.fstat; `{ bigint: true }` gives BigIntStats. */
  stat(options?: OperationOptions & { bigint?: boolean }): Operation<Stats> {
    const decode = options?.bigint === true ? decodeBigIntStats : decodeStats;
    try {
      const request = this.request(abi.OP_STAT, 'fstat');
      checkOptions(options);
      return attachOptions(
        start(currentThread(), request, (_r, _f, source) => decode(source)),
        options,
      );
    } catch (error) {
      return rejectedOperation(error);
    }
  }

  sync(options?: OperationOptions): Operation<void> {
    return this.#simple({ opcode: abi.OP_SYNC, syscall: 'fsync' }, options);
  }

  datasync(options?: OperationOptions): Operation<void> {
    return this.#simple({ opcode: abi.OP_SYNC, syscall: 'fdatasync', argument0: 1 }, options);
  }

  #simple(request: Request, options: OperationOptions | undefined): Operation<void> {
    try {
      if (this.#fd < 0) throw closedError(request.syscall);
      checkOptions(options);
      return attachOptions(startVoid(currentThread(), { ...request, fd: this.#fd }), options);
    } catch (error) {
      return rejectedOperation(error);
    }
  }

  /** A request on this descriptor. @throws EBADF when closed */
  request(opcode: number, syscall: string): Request & { fd: number } {
    if (this.#fd < 0) throw closedError(syscall);
    return { opcode, syscall, fd: this.#fd };
  }

  /** Closes once; later calls resolve with the first. Emits 'close'. */
  close(): Operation<void> {
    if (this.#closing !== undefined) return this.#closing;
    const fd = this.#fd;
    this.#fd = -1;
    // argument0 1: cancel what is pending first. A regular file's operations end by themselves.
    const argument0 = this.#kind !== 0 && !this.isRegular ? 1 : 0;
    const request = { opcode: abi.OP_CLOSE, syscall: 'close', fd, argument0 };
    const closing = startVoid(currentThread(), request);
    closing.onSettled({ nextWaiter: undefined, operationSettled: () => this.emit('close') });
    this.#closing = closing;
    return closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
