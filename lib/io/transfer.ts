// Transfers: reads and writes of one buffer, in as many entries as it takes.
// Owner: the thread; the operation keeps the caller's buffer alive and owns one chunk per entry.
// Invariants: a write loops until every byte is written or an error comes, which then tells
// `bytesWritten`; a read goes on only while entries come back full and the file is a regular one
// (a pipe's next read could wait for ever); the chunk is given back at each completion.
// Not here: argument checks (io/fs/handle_arguments.ts).
import * as abi from '../abi/layout.ts';
import { invariant } from '../base/assert.ts';
import { type SystemError, systemError } from '../base/errors.ts';
import type { Chunk } from '../ring/buffer_pool.ts';
import { detachedError } from './buffers.ts';
import { setBuffer, setPosition, writeEntry } from './entry.ts';
import { IoOperation } from './io_operation.ts';
import type { IoThread } from './io_thread.ts';

/** Largest entry straight into pool memory; more would hold up the thread (one copy, 60 us). */
const DIRECT_BYTES_MAX = 1024 * 1024;

export type Position = number | bigint;
export const FILE_POSITION = -1;

function advance(position: Position, bytes: number): Position {
  if (position === FILE_POSITION) return FILE_POSITION;
  return typeof position === 'bigint' ? position + BigInt(bytes) : position + bytes;
}

abstract class Transfer<T> extends IoOperation<T> {
  protected readonly fd: number;
  protected readonly bytes: Uint8Array;
  protected readonly offset: number;
  protected readonly length: number;
  protected position: Position;
  protected done = 0;
  protected readonly arenaId: number;
  protected chunk: Chunk | undefined = undefined;
  protected entryBytes = 0;

  constructor(
    thread: IoThread,
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: Position,
  ) {
    super(thread);
    this.fd = fd;
    this.bytes = bytes;
    this.offset = offset;
    this.length = length;
    this.position = position;
    this.arenaId = thread.pool.arenaIdOf(bytes.buffer);
  }

  override get entryBytesWanted(): number {
    const most = this.arenaId !== 0 ? DIRECT_BYTES_MAX : abi.CHUNK_BYTES_MAX;
    return Math.min(this.length - this.done, most);
  }

  override prepare(): boolean {
    this.entryBytes = this.entryBytesWanted;
    if (this.arenaId !== 0) return true;
    this.chunk = this.thread.pool.acquire(this.entryBytes);
    return this.chunk !== undefined;
  }

  protected encodeTransfer(
    words: Uint32Array,
    at: number,
    opcode: number,
    slot: number,
    generation: number,
  ): void {
    writeEntry(words, at, opcode, slot, generation, this.fd);
    setPosition(words, at, this.position);
    const { chunk } = this;
    if (chunk !== undefined) setBuffer(words, at, chunk.arenaId, chunk.offset, this.entryBytes);
    else {
      const start = this.bytes.byteOffset + this.offset + this.done;
      setBuffer(words, at, this.arenaId, start, this.entryBytes);
    }
  }

  override release(): void {
    if (this.chunk === undefined) return;
    this.thread.pool.release(this.chunk);
    this.chunk = undefined;
  }

  /** The caller's buffer still covers what the entry was about. */
  protected isAttached(): boolean {
    return this.bytes.byteLength >= this.offset + this.done + this.entryBytes;
  }

  protected failure(result: number, syscall: string): Error {
    if (this.cancelError !== undefined && this.wasCancelled(result)) return this.cancelError;
    return systemError(result, syscall);
  }
}

/** Result as node:fs/promises gives it. */
export interface ReadResult<B> {
  bytesRead: number;
  buffer: B;
}

export class ReadOperation<B> extends Transfer<ReadResult<B>> {
  readonly #buffer: B;
  readonly #isRegular: boolean;

  constructor(
    thread: IoThread,
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: Position,
    buffer: B,
    isRegular: boolean,
  ) {
    super(thread, fd, bytes, offset, length, position);
    this.#buffer = buffer;
    this.#isRegular = isRegular;
  }

  encode(words: Uint32Array, at: number, slot: number, generation: number): void {
    this.encodeTransfer(words, at, abi.OP_READ, slot, generation);
  }

  completed(result: number): void {
    const { chunk, entryBytes } = this;
    if (result < 0) {
      this.release();
      this.#fail(result);
      return;
    }
    invariant(result <= entryBytes, 'read no more than asked', result, entryBytes);
    if (chunk !== undefined && result > 0) {
      if (!this.isAttached()) {
        this.release();
        this.reject(detachedError('buffer'));
        return;
      }
      const source = result === chunk.bytes ? chunk.view : chunk.view.subarray(0, result);
      this.bytes.set(source, this.offset + this.done);
    }
    this.release();
    this.done += result;
    this.position = advance(this.position, result);
    const mayGoOn = result === entryBytes && this.done < this.length && this.#isRegular;
    if (mayGoOn && this.cancelError === undefined) this.thread.submit(this);
    else this.fulfill({ bytesRead: this.done, buffer: this.#buffer });
  }

  // What was read before the failure is not lost: the caller gets it, and the error next time.
  #fail(result: number): void {
    if (this.done > 0) this.fulfill({ bytesRead: this.done, buffer: this.#buffer });
    else this.reject(this.failure(result, 'read'));
  }
}

export interface WriteResult<B> {
  bytesWritten: number;
  buffer: B;
}

export class WriteOperation<B> extends Transfer<WriteResult<B>> {
  readonly #buffer: B;

  constructor(
    thread: IoThread,
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: Position,
    buffer: B,
  ) {
    super(thread, fd, bytes, offset, length, position);
    this.#buffer = buffer;
  }

  override prepare(): boolean {
    if (!super.prepare()) return false;
    const { chunk, bytes, entryBytes } = this;
    if (chunk === undefined) return true;
    const start = this.offset + this.done;
    // Detached meanwhile: nothing to copy; completed() is told by a zero-length entry.
    if (!this.isAttached()) this.entryBytes = 0;
    else if (start === 0 && bytes.byteLength === entryBytes) chunk.view.set(bytes);
    else chunk.view.set(bytes.subarray(start, start + entryBytes));
    return true;
  }

  encode(words: Uint32Array, at: number, slot: number, generation: number): void {
    this.encodeTransfer(words, at, abi.OP_WRITE, slot, generation);
  }

  completed(result: number): void {
    this.release();
    if (result < 0) {
      this.#fail(this.failure(result, 'write'));
      return;
    }
    invariant(result <= this.entryBytes, 'wrote no more than asked', result, this.entryBytes);
    this.done += result;
    this.position = advance(this.position, result);
    if (this.done === this.length) {
      this.fulfill({ bytesWritten: this.done, buffer: this.#buffer });
    } else if (this.bytes.byteLength < this.offset + this.length) {
      this.#fail(detachedError('buffer'));
    } else if (result === 0) {
      // No progress on a non-empty write: a device that takes nothing. Never spin on it.
      this.fulfill({ bytesWritten: this.done, buffer: this.#buffer });
    } else if (this.cancelError !== undefined) {
      this.#fail(this.cancelError);
    } else {
      this.thread.submit(this);
    }
  }

  #fail(error: Error): void {
    (error as SystemError).bytesWritten = this.done;
    this.reject(error);
  }
}
