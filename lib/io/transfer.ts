// Transfers: reads and writes of one buffer, in as many entries as it takes.
// Owner: the thread; the operation keeps the caller's buffer alive and owns one chunk per entry.
// Invariants: a write loops until every byte is written or an error comes, which then tells
// `bytesWritten`; a read goes on only while entries come back full and the file is a regular one
// (a pipe's next read could wait for ever); the chunk is given back at each completion.
// What a transfer has to know of its file and the open did not tell, it asks with a stat in
// between.
// Not here: argument checks (io/fs/handle_arguments.ts).
import * as abi from '../abi/layout.ts';
import { invariant } from '../base/assert.ts';
import { type SystemError, systemError } from '../base/errors.ts';
import type { Chunk } from '../ring/buffer_pool.ts';
import { detachedError } from './buffers.ts';
import { alignmentError } from './direct_alignment.ts';
import { setBuffer, setPosition, writeEntry } from './entry.ts';
import { IoOperation } from './io_operation.ts';
import type { IoThread } from './io_thread.ts';
import { closedError, KIND_REGULAR, KIND_UNKNOWN, type OpenFile } from './open_file.ts';

/** Largest entry straight into pool memory; more would hold up the thread (one copy, 60 us). */
const DIRECT_BYTES_MAX = 1024 * 1024;
/**
 * Largest chunk for a pipe or a socket: what a pipe holds. A read that waits keeps its chunk; with
 * larger ones 256 of them held all there are, and files stopped.
 */
const PIPE_BYTES_MAX = 65536;

export type Position = number | bigint;
export const FILE_POSITION = -1;

export function advance(position: Position, bytes: number): Position {
  if (position === FILE_POSITION) return FILE_POSITION;
  return typeof position === 'bigint' ? position + BigInt(bytes) : position + bytes;
}

const EINVAL = -22;

abstract class Transfer<T> extends IoOperation<T> {
  protected readonly file: OpenFile;
  protected readonly fd: number;
  protected readonly bytes: Uint8Array;
  protected readonly offset: number;
  protected readonly length: number;
  protected position: Position;
  protected done = 0;
  protected readonly arenaId: number;
  protected chunk: Chunk | undefined = undefined;
  protected entryBytes = 0;
  /** The entry in flight is a stat. */
  #isAsking = false;

  constructor(
    thread: IoThread,
    file: OpenFile,
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: Position,
  ) {
    super(thread);
    this.file = file;
    this.fd = fd;
    this.bytes = bytes;
    this.offset = offset;
    this.length = length;
    this.position = position;
    this.arenaId = thread.pool.arenaIdOf(bytes.buffer);
    file.hold();
  }

  protected abstract readonly opcode: number;
  protected abstract readonly syscall: string;
  /** The entry has moved `result` bytes: goes on or settles. */
  protected abstract transferred(result: number): void;
  protected abstract failed(error: Error): void;
  /** After ask(): the file's kind is known now. */
  protected answered(): void {}

  override get entryBytesWanted(): number {
    if (this.#isAsking) return 0;
    const left = this.length - this.done;
    if (left <= PIPE_BYTES_MAX) return left;
    if (this.arenaId !== 0) return Math.min(left, DIRECT_BYTES_MAX);
    return Math.min(left, this.file.isPipe ? PIPE_BYTES_MAX : abi.CHUNK_BYTES_MAX);
  }

  override usesDescriptor(fd: number): boolean {
    return this.fd === fd;
  }

  override prepare(): boolean {
    if (this.#isAsking) return true;
    this.entryBytes = this.entryBytesWanted;
    if (this.arenaId !== 0) return true;
    this.chunk = this.thread.pool.acquire(this.entryBytes);
    return this.chunk !== undefined;
  }

  encode(words: Uint32Array, at: number, slot: number, generation: number): void {
    if (this.#isAsking) {
      writeEntry(words, at, abi.OP_STAT, slot, generation, this.fd);
      return;
    }
    writeEntry(words, at, this.opcode, slot, generation, this.fd);
    setPosition(words, at, this.position);
    const { chunk } = this;
    if (chunk !== undefined) setBuffer(words, at, chunk.arenaId, chunk.offset, this.entryBytes);
    else setBuffer(words, at, this.arenaId, this.#start, this.entryBytes);
  }

  /** Bytes from the start of the arena to what the entry is about. */
  get #start(): number {
    return this.bytes.byteOffset + this.offset + this.done;
  }

  completed(result: number, _flags: number, slot: number): void {
    if (this.#isAsking) {
      this.#isAsking = false;
      this.#learn(result, this.thread.memory.scratchOffset + slot * abi.SCRATCH_BYTES);
    } else if (result >= 0) {
      invariant(result <= this.entryBytes, 'moved no more than asked', result, this.entryBytes);
      this.transferred(result);
    } else {
      this.release();
      if (result === EINVAL && this.file.isDirect) this.ask();
      else this.failed(this.#failure(result));
    }
  }

  // Memory of JavaScript's own, which the backends in TypeScript use, lies anywhere.
  #addressFromPage(): number | undefined {
    const { name } = this.thread.backend;
    if (name === 'node' || name === 'simulated') return undefined;
    return this.arenaId === 0 ? 0 : this.#start;
  }

  protected ask(): void {
    this.#isAsking = true;
    this.thread.submit(this);
  }

  // Asked for the alignment after EINVAL, for the kind otherwise.
  #learn(result: number, statOffset: number): void {
    const { memory } = this.thread;
    const word = (offset: number): number =>
      result < 0 ? 0 : memory.words[(statOffset + offset) / 4];
    const isAlignment = this.file.isDirect;
    if (!isAlignment) {
      const mode = word(abi.STAT_MODE_OFFSET) & 0xffff;
      this.file.kind = result < 0 ? KIND_UNKNOWN : mode >> 12;
      this.answered();
      return;
    }
    const request = {
      syscall: this.syscall,
      address: this.#addressFromPage(),
      bytes: this.entryBytes,
      position: this.position,
    };
    const memoryAlign = word(abi.STAT_DIO_MEMORY_ALIGN_OFFSET);
    const offsetAlign = word(abi.STAT_DIO_OFFSET_ALIGN_OFFSET);
    this.failed(alignmentError(request, memoryAlign, offsetAlign) ?? this.#failure(EINVAL));
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

  #failure(result: number): Error {
    if (this.cancelError !== undefined && this.wasCancelled(result)) return this.cancelError;
    return systemError(result, this.syscall);
  }

  /** What earlier entries have moved is told, as with any failure. */
  override abandoned(error: Error): void {
    this.release();
    if (!this.isSettled) this.failed(error);
  }

  protected override fulfill(value: T): void {
    this.file.release();
    super.fulfill(value);
  }

  protected override reject(error: unknown): void {
    this.file.release();
    super.reject(error);
  }
}

/** Result as node:fs/promises gives it. */
export interface ReadResult<B> {
  bytesRead: number;
  buffer: B;
}

export class ReadOperation<B> extends Transfer<ReadResult<B>> {
  protected readonly opcode = abi.OP_READ;
  protected readonly syscall = 'read';
  readonly #buffer: B;

  constructor(
    thread: IoThread,
    file: OpenFile,
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: Position,
    buffer: B,
  ) {
    super(thread, file, fd, bytes, offset, length, position);
    this.#buffer = buffer;
  }

  protected transferred(result: number): void {
    const { chunk } = this;
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
    // A short entry of a regular file is its end.
    const mayGoOn = result === this.entryBytes && this.done < this.length;
    if (!mayGoOn || this.cancelError !== undefined) this.#finish();
    else if (this.file.kind === KIND_UNKNOWN && !this.file.isDirect) this.ask();
    else this.answered();
  }

  protected override answered(): void {
    const { kind } = this.file;
    const isEndless = kind !== KIND_REGULAR && kind !== KIND_UNKNOWN;
    if (isEndless || this.cancelError !== undefined) this.#finish();
    else this.thread.submit(this);
  }

  #finish(): void {
    this.fulfill({ bytesRead: this.done, buffer: this.#buffer });
  }

  // What was read before the failure is not lost: the caller gets it, and the error next time.
  protected failed(error: Error): void {
    if (this.done > 0) this.#finish();
    else this.reject(error);
  }
}

export interface WriteResult<B> {
  bytesWritten: number;
  buffer: B;
}

export class WriteOperation<B> extends Transfer<WriteResult<B>> {
  protected readonly opcode = abi.OP_WRITE;
  protected readonly syscall = 'write';
  readonly #buffer: B;

  constructor(
    thread: IoThread,
    file: OpenFile,
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: Position,
    buffer: B,
  ) {
    super(thread, file, fd, bytes, offset, length, position);
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

  // A bounced write of a whole chunk: a kernel worker writes it while the next chunk is copied.
  override get isFlushedAtOnce(): boolean {
    return this.arenaId === 0 && this.entryBytes === abi.CHUNK_BYTES_MAX;
  }

  protected transferred(result: number): void {
    this.release();
    this.done += result;
    this.position = advance(this.position, result);
    if (this.done === this.length) {
      this.fulfill({ bytesWritten: this.done, buffer: this.#buffer });
    } else if (this.bytes.byteLength < this.offset + this.length) {
      this.failed(detachedError('buffer'));
    } else if (result === 0) {
      // No progress on a non-empty write: a device that takes nothing. Never spin on it.
      this.fulfill({ bytesWritten: this.done, buffer: this.#buffer });
    } else if (this.cancelError !== undefined) {
      this.failed(this.cancelError);
    } else if (!this.file.isUsable) {
      this.failed(closedError('write'));
    } else {
      this.thread.submit(this);
    }
  }

  protected failed(error: Error): void {
    (error as SystemError).bytesWritten = this.done;
    this.reject(error);
  }
}
