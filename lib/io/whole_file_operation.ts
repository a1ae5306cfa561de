// WholeFileOperation: open, transfer, close as one operation with one object and no promise between
// the steps. readFile and writeFile are its two kinds; on a FileHandle it only transfers.
// Owner: the thread. Invariants: a descriptor it opened is closed on every path, also when the open
// was aborted and succeeds late; it settles after the close; the first failure wins.
// Not here: what is transferred (read_file.ts, write_file.ts), EMFILE waiting (open_gate.ts).
import * as abi from '../abi/layout.ts';
import { systemError } from '../base/errors.ts';
import type { Chunk } from '../ring/buffer_pool.ts';
import { setArguments, setBuffer, setPath, setPosition, writeEntry } from './entry.ts';
import { IoOperation } from './io_operation.ts';
import type { IoThread } from './io_thread.ts';
import { closedError, KIND_REGULAR, KIND_UNKNOWN, type OpenFile } from './open_file.ts';
import type { OpenGate } from './open_gate.ts';
import { pathBytes, pathBytesBound, SCRATCH_PATH_MAX, writePath } from './path_bytes.ts';
import { closeQuietly } from './path_operation.ts';

const EMFILE = -24;
const ENFILE = -23;
const ENAMETOOLONG = -36;

const TWO_32 = 4294967296;

const STEP_OPEN = 0;
const STEP_STAT = 1;
const STEP_TRANSFER = 2;
const STEP_SYNC = 3;
const STEP_CLOSE = 4;
type Step = 0 | 1 | 2 | 3 | 4;
// Opcodes of the steps that carry nothing but the descriptor.
const STEP_OPCODES = {
  [STEP_STAT]: abi.OP_STAT,
  [STEP_SYNC]: abi.OP_SYNC,
  [STEP_CLOSE]: abi.OP_CLOSE,
};

export interface WholeFileTarget {
  path?: string | Buffer;
  /** A handle's file and descriptor, which stay open; the operation holds them. */
  file?: OpenFile;
  fd?: number;
  /** open(2) flags and mode, with `path`. */
  flags?: number;
  mode?: number;
  /** fsync before the close. */
  isFlushed?: boolean;
}

export abstract class WholeFileOperation<T> extends IoOperation<T> {
  readonly #target: WholeFileTarget;
  readonly #gate: OpenGate;
  #step: Step;
  #fd: number;
  #error: Error | undefined = undefined;
  #pathChunk: Chunk | undefined = undefined;
  /** The bounce chunk of the transfer in flight. */
  protected chunk: Chunk | undefined = undefined;
  protected entryBytes = 0;

  constructor(thread: IoThread, target: WholeFileTarget, gate: OpenGate) {
    super(thread);
    this.#target = target;
    this.#gate = gate;
    this.#fd = target.fd ?? -1;
    target.file?.hold();
    this.#step = target.fd === undefined ? STEP_OPEN : STEP_TRANSFER;
  }

  /** Bytes of the next entry, at most CHUNK_BYTES_MAX. */
  protected abstract nextBytes(): number;
  /** Fills the chunk before a write. */
  protected fill(_chunk: Chunk): void {}
  protected abstract readonly transferOpcode: number;
  protected abstract readonly transferSyscall: string;
  /** Whether a regular file's size is worth a stat when the open did not tell it. */
  protected get wantsSize(): boolean {
    return false;
  }
  /** The file's size in bytes, -1 when it is not known; an error refuses the file. */
  protected opened(_sizeBytes: number): Error | undefined {
    return undefined;
  }
  /** Takes the entry's result; true when another entry is needed. */
  protected abstract transferred(result: number): boolean | Error;
  protected abstract value(): T;
  /** Nothing to transfer at all. */
  protected isEmpty(): boolean {
    return false;
  }
  /** Adds what is known to a failure of the transfer. */
  protected describeFailure(error: Error): Error {
    return error;
  }

  /** Begins; refuses what no kernel would take. */
  start(): void {
    const { path } = this.#target;
    const longest = abi.PATH_BYTES_MAX - 1;
    if (path !== undefined && pathBytesBound(path) > longest && pathBytes(path) > longest) {
      this.abandoned(systemError(ENAMETOOLONG, 'open', path));
    } else if (this.#step === STEP_TRANSFER && this.isEmpty()) {
      this.#finish();
    } else {
      this.thread.submit(this);
    }
  }

  override get entryBytesWanted(): number {
    return this.#step === STEP_TRANSFER ? this.nextBytes() : 0;
  }

  override prepare(): boolean {
    const { pool } = this.thread;
    if (this.#step === STEP_OPEN) {
      const { path } = this.#target;
      if (path === undefined || pathBytesBound(path) <= SCRATCH_PATH_MAX) return true;
      this.#pathChunk = pool.acquire(abi.PATH_BYTES_MAX + 2);
      return this.#pathChunk !== undefined;
    }
    if (this.#step !== STEP_TRANSFER) return true;
    this.entryBytes = this.nextBytes();
    this.chunk = pool.acquire(this.entryBytes);
    if (this.chunk === undefined) return false;
    this.fill(this.chunk);
    return true;
  }

  encode(words: Uint32Array, at: number, slot: number, generation: number): void {
    if (this.#step === STEP_OPEN) this.#encodeOpen(words, at, slot, generation);
    else if (this.#step !== STEP_TRANSFER) {
      writeEntry(words, at, STEP_OPCODES[this.#step], slot, generation, this.#fd);
    } else {
      writeEntry(words, at, this.transferOpcode, slot, generation, this.#fd);
      // The descriptor's own position: pipes and devices have no other.
      setPosition(words, at, -1);
      const { chunk } = this;
      if (chunk !== undefined) setBuffer(words, at, chunk.arenaId, chunk.offset, this.entryBytes);
    }
  }

  #encodeOpen(words: Uint32Array, at: number, slot: number, generation: number): void {
    const { path = '', flags = 0, mode = 0o666 } = this.#target;
    writeEntry(words, at, abi.OP_OPEN, slot, generation, -1);
    const chunk = this.#pathChunk;
    const start =
      chunk === undefined ? this.thread.memory.scratchOffsetOf(slot) + abi.SCRATCH_PATH_OFFSET : 0;
    const target = chunk === undefined ? this.thread.scratch : chunk.view;
    const bytes = writePath(target, start, path);
    target[start + bytes + 1] = 0;
    setPath(words, at, chunk?.arenaId ?? 0, chunk === undefined ? start : chunk.offset, bytes, 0);
    setArguments(words, at, flags, mode);
  }

  completed(result: number, flags: number, slot: number): void {
    if (this.#step === STEP_OPEN) this.#openCompleted(result, flags);
    else if (this.#step === STEP_STAT) this.#statCompleted(result, slot);
    else if (this.#step === STEP_TRANSFER) this.#transferCompleted(result);
    else if (this.#step === STEP_SYNC) this.#syncCompleted(result);
    else this.#closeCompleted(result);
  }

  #openCompleted(result: number, flags: number): void {
    this.release();
    if (this.isSettled) {
      // Aborted while the open was on its way: the descriptor is adopted and closed.
      this.thread.orphanEnded();
      if (result >= 0) closeQuietly(this.thread, result);
      return;
    }
    if (result < 0) {
      if ((result === EMFILE || result === ENFILE) && this.cancelError === undefined) {
        if (this.#gate.wait(this)) return;
      }
      const { cancelError } = this;
      const isCancel = cancelError !== undefined && this.wasCancelled(result);
      this.reject(isCancel ? cancelError : systemError(result, 'open', this.#target.path));
      return;
    }
    this.#fd = result;
    this.#gate.opened();
    const sizeBytes = (flags >>> abi.COMPLETION_SIZE_SHIFT) - 1;
    const kind = flags & abi.COMPLETION_KIND_MASK;
    // Not told at all: a backend in TypeScript, or a file system that is not of this machine.
    const mayHaveSize = kind === KIND_REGULAR || kind === KIND_UNKNOWN;
    if (this.cancelError !== undefined) this.#fail(this.cancelError);
    else if (sizeBytes < 0 && mayHaveSize && this.wantsSize) this.#submit(STEP_STAT);
    else this.#begin(sizeBytes);
  }

  #statCompleted(result: number, slot: number): void {
    const { scratchOffset, words } = this.thread.memory;
    const at = (scratchOffset + slot * abi.SCRATCH_BYTES + abi.STAT_SIZE_OFFSET) / 4;
    if (this.cancelError !== undefined) this.#fail(this.cancelError);
    else this.#begin(result < 0 ? -1 : words[at] + words[at + 1] * TWO_32);
  }

  #begin(sizeBytes: number): void {
    const refusal = this.opened(sizeBytes);
    if (refusal !== undefined) this.#fail(refusal);
    else if (this.isEmpty()) this.#finish();
    else this.#submit(STEP_TRANSFER);
  }

  /** A descriptor has been given back: the open that met EMFILE goes again. */
  retryOpen(): void {
    this.thread.submit(this);
  }

  #transferCompleted(result: number): void {
    if (result < 0) {
      this.release();
      const { cancelError } = this;
      const isCancel = cancelError !== undefined && this.wasCancelled(result);
      const error = isCancel ? cancelError : systemError(result, this.transferSyscall);
      this.#fail(this.describeFailure(error));
      return;
    }
    const needsMore = this.transferred(result);
    this.release();
    if (needsMore instanceof Error) this.#fail(this.describeFailure(needsMore));
    else if (this.cancelError !== undefined && needsMore)
      this.#fail(this.describeFailure(this.cancelError));
    else if (this.#target.file?.isUsable === false && needsMore)
      this.#fail(this.describeFailure(closedError(this.transferSyscall)));
    else if (needsMore) this.#submit(STEP_TRANSFER);
    else this.#finish();
  }

  #syncCompleted(result: number): void {
    const { cancelError } = this;
    const isCancel = cancelError !== undefined && this.wasCancelled(result);
    if (result < 0) this.#error ??= isCancel ? cancelError : systemError(result, 'fsync');
    this.#closeOrSettle();
  }

  #closeCompleted(result: number): void {
    this.#fd = -1;
    this.#gate.closed();
    if (result < 0) this.#error ??= systemError(result, 'close');
    this.#settle();
  }

  #submit(step: Step): void {
    this.#step = step;
    this.thread.submit(this);
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#closeOrSettle();
  }

  #finish(): void {
    if (this.#target.isFlushed === true) this.#submit(STEP_SYNC);
    else this.#closeOrSettle();
  }

  #closeOrSettle(): void {
    if (this.#target.fd === undefined) this.#submit(STEP_CLOSE);
    else this.#settle();
  }

  #settle(): void {
    if (this.#error !== undefined) {
      this.reject(this.#error);
      return;
    }
    let value: T;
    try {
      value = this.value();
    } catch (error) {
      // A string longer than V8 allows, a buffer that memory does not hold.
      this.reject(error);
      return;
    }
    this.fulfill(value);
  }

  override usesDescriptor(fd: number): boolean {
    return this.#target.fd === fd;
  }

  override cancelWith(error: Error): void {
    if (this.isSettled || this.cancelError !== undefined) return;
    // A close is never cancelled: its descriptor would leak.
    if (this.#step === STEP_CLOSE) return;
    super.cancelWith(error);
    if (this.isSettled || this.#step !== STEP_OPEN) return;
    if (this.slot >= 0) {
      this.thread.orphan();
      this.reject(error);
    } else if (this.#gate.remove(this)) {
      this.reject(error);
    }
  }

  override abandoned(error: Error): void {
    if (this.#fd >= 0 && this.#target.fd === undefined && !this.thread.isClosed) {
      // Cancelled while the next step waited for a slot: the descriptor still has to go.
      this.release();
      this.#fail(this.describeFailure(error));
      return;
    }
    super.abandoned(this.#fd >= 0 ? this.describeFailure(error) : error);
  }

  protected override fulfill(value: T): void {
    this.#target.file?.release();
    super.fulfill(value);
  }

  protected override reject(error: unknown): void {
    this.#target.file?.release();
    super.reject(error);
  }

  override release(): void {
    const { pool } = this.thread;
    if (this.chunk !== undefined) pool.release(this.chunk);
    if (this.#pathChunk !== undefined) pool.release(this.#pathChunk);
    this.chunk = undefined;
    this.#pathChunk = undefined;
  }
}
