// PathOperation: every operation of one entry that names its object by path or descriptor and is
// not a transfer: open, stat, rename, ... What differs is data (opcode, arguments, how to read the
// result), so there is one class.
// Owner: the thread. Invariants: paths lie in the slot's scratch, long ones in a chunk held until
// the completion; an abandoned open's descriptor is adopted and closed.
// Not here: argument checks and results of Node's shape (io/fs/).
import * as abi from '../abi/layout.ts';
import { systemError } from '../base/errors.ts';
import type { Chunk } from '../ring/buffer_pool.ts';
import type { FileAuthority } from './authority.ts';
import {
  setArguments,
  setBuffer,
  setDoubles,
  setFlags,
  setPath,
  setPosition,
  setValue,
  writeEntry,
} from './entry.ts';
import { IoOperation } from './io_operation.ts';
import type { IoThread } from './io_thread.ts';
import type { Cancellable } from './operation_options.ts';
import { pathBytes, pathBytesBound, SCRATCH_PATH_MAX, writePath } from './path_bytes.ts';

const ENAMETOOLONG = -36;

/** What one entry says; unset fields are zero. */
export interface Request {
  opcode: number;
  /** Node's name of the system call, for errors. */
  syscall: string;
  fd?: number;
  path?: string | Buffer;
  path2?: string | Buffer;
  flags?: number;
  argument0?: number;
  argument1?: number;
  position?: number | bigint;
  value?: number;
  /** atime and mtime in seconds (utimes). */
  times?: readonly [number, number];
  /** Bytes of a chunk that receives output (readlink, realpath, readdir). */
  outputBytes?: number;
  /** What errors show as path, when it is not `path`; false = none (Node's fd calls). */
  errorPath?: string | Buffer | false;
  /** What the paths lead through: held until the entry has ended, also as an orphan. */
  lease?: Lease;
}

/** Something that must stay while entries refer to it. */
export interface Lease {
  hold(): void;
  release(): void;
}

/** Reads the result of a completed request; runs while scratch and chunk still hold it. */
export type Decode<T> = (result: number, flags: number, source: ResultSource) => T;

/** Where a decoder finds output. */
export interface ResultSource {
  readonly thread: IoThread;
  /** Bytes from the start of the ring memory to the slot's StatRecord. */
  readonly statOffset: number;
  /** The output chunk, when outputBytes was given. */
  readonly output: Buffer | undefined;
}

export class PathOperation<T> extends IoOperation<T> {
  readonly #request: Request;
  readonly #decode: Decode<T>;
  #pathChunk: Chunk | undefined = undefined;
  #output: Chunk | undefined = undefined;

  constructor(thread: IoThread, request: Request, decode: Decode<T>) {
    super(thread);
    this.#request = request;
    this.#decode = decode;
    request.lease?.hold();
  }

  override get slotsToSpare(): number {
    return this.#request.opcode === abi.OP_CLOSE ? 1 : super.slotsToSpare;
  }

  override usesDescriptor(fd: number): boolean {
    return this.#request.fd === fd && this.#request.opcode !== abi.OP_CLOSE;
  }

  override prepare(): boolean {
    const { path, path2, outputBytes } = this.#request;
    const { pool } = this.thread;
    if (path !== undefined) {
      const bound = pathBytesBound(path) + (path2 === undefined ? 0 : pathBytesBound(path2));
      if (bound > SCRATCH_PATH_MAX) {
        this.#pathChunk = pool.acquire(4 * abi.PATH_BYTES_MAX);
        if (this.#pathChunk === undefined) return false;
      }
    }
    if (outputBytes !== undefined) {
      this.#output = pool.acquire(outputBytes);
      if (this.#output === undefined) {
        this.release();
        return false;
      }
    }
    return true;
  }

  encode(words: Uint32Array, at: number, slot: number, generation: number): void {
    const request = this.#request;
    writeEntry(words, at, request.opcode, slot, generation, request.fd ?? -1);
    if (request.path !== undefined) this.#encodePaths(words, at, slot, request.path);
    if (this.#output !== undefined) {
      setBuffer(words, at, this.#output.arenaId, this.#output.offset, this.#output.bytes);
    }
    if (request.flags !== undefined) setFlags(words, at, request.flags);
    setArguments(words, at, request.argument0 ?? 0, request.argument1 ?? 0);
    if (request.position !== undefined) setPosition(words, at, request.position);
    if (request.value !== undefined) setValue(words, at, request.value);
    if (request.times !== undefined) setDoubles(words, at, request.times[0], request.times[1]);
  }

  #encodePaths(words: Uint32Array, at: number, slot: number, path: string | Buffer): void {
    const { memory } = this.thread;
    const chunk = this.#pathChunk;
    const arenaId = chunk === undefined ? 0 : chunk.arenaId;
    const target = chunk === undefined ? this.thread.scratch : chunk.view;
    const start = chunk === undefined ? memory.scratchOffsetOf(slot) + abi.SCRATCH_PATH_OFFSET : 0;
    const { path2 } = this.#request;
    const bytes = writePath(target, start, path);
    const bytes2 = path2 === undefined ? 0 : writePath(target, start + bytes + 1, path2);
    if (path2 === undefined) target[start + bytes + 1] = 0;
    setPath(words, at, arenaId, chunk === undefined ? start : chunk.offset, bytes, bytes2);
  }

  completed(result: number, flags: number, slot: number): void {
    const { cancelError } = this;
    this.#request.lease?.release();
    if (this.isSettled) {
      this.thread.orphanEnded();
      this.#adopt(result);
      this.release();
      return;
    }
    if (result < 0) {
      this.release();
      const isCancel = cancelError !== undefined && this.wasCancelled(result);
      this.reject(isCancel ? cancelError : requestError(result, this.#request));
      return;
    }
    let value: T;
    try {
      value = this.#decode(result, flags, {
        thread: this.thread,
        statOffset: this.thread.memory.scratchOffset + slot * abi.SCRATCH_BYTES,
        output: this.#output?.view,
      });
    } catch (error) {
      this.release();
      this.reject(error);
      return;
    }
    this.release();
    this.fulfill(value);
  }

  /**
   * Operations that hold no memory of the caller may settle at once; the entry runs on as an orphan
   * and its result, if it made one, is disposed of. A close cannot be cancelled: its descriptor
   * would leak.
   */
  override cancelWith(error: Error): void {
    if (this.isSettled || this.cancelError !== undefined) return;
    if (this.#request.opcode === abi.OP_CLOSE) return;
    super.cancelWith(error);
    if (this.isSettled || this.slot < 0) return;
    this.thread.orphan();
    this.reject(error);
  }

  #adopt(result: number): void {
    if (this.#request.opcode === abi.OP_OPEN && result >= 0) closeQuietly(this.thread, result);
  }

  override abandoned(error: Error): void {
    this.#request.lease?.release();
    super.abandoned(error);
  }

  override release(): void {
    if (this.#pathChunk !== undefined) this.thread.pool.release(this.#pathChunk);
    if (this.#output !== undefined) this.thread.pool.release(this.#output);
    this.#pathChunk = undefined;
    this.#output = undefined;
  }
}

/** The system's error, with the paths that the request shows. */
export function requestError(errno: number, request: Request): Error {
  const { errorPath } = request;
  const path = errorPath === false ? undefined : (errorPath ?? request.path);
  return systemError(errno, request.syscall, path, request.path2);
}

const nothing = (): void => {};

/**
 * Starts a request under the authority that was in force when the caller's call was made: nobody
 * can forget to say which one, since it is no optional argument.
 */
export function start<T>(
  thread: IoThread,
  request: Request,
  decode: Decode<T>,
  authority: FileAuthority | undefined,
): Cancellable<T> {
  if (authority !== undefined && request.path !== undefined) {
    return authority.start(thread, request, decode);
  }
  return startUnguarded(thread, request, decode);
}

/**
 * Starts a request that no authority is asked about: descriptors, and an authority's own steps.
 * Paths that no kernel would take fail here, before any system call.
 */
export function startUnguarded<T>(
  thread: IoThread,
  request: Request,
  decode: Decode<T>,
): PathOperation<T> {
  const operation = new PathOperation(thread, request, decode);
  const { path, path2 } = request;
  const longest = abi.PATH_BYTES_MAX - 1;
  const isLong = (value: string | Buffer | undefined): boolean =>
    value !== undefined && pathBytesBound(value) > longest && pathBytes(value) > longest;
  if (isLong(path) || isLong(path2)) operation.abandoned(requestError(ENAMETOOLONG, request));
  else thread.submit(operation);
  return operation;
}

/** Starts a request on a descriptor, without a result. */
export function startVoid(
  thread: IoThread,
  request: Request & { path?: undefined },
): PathOperation<void> {
  return startUnguarded(thread, request, nothing);
}

/**
 * Starts a close. `isInterruptible`: what is pending on the descriptor may wait for ever and is
 * stopped first.
 */
export function startClose(
  thread: IoThread,
  fd: number,
  isInterruptible: boolean,
): PathOperation<void> {
  const argument0 = isInterruptible ? 1 : 0;
  const request = { opcode: abi.OP_CLOSE, syscall: 'close', fd, argument0 };
  const operation = new PathOperation(thread, request, nothing);
  if (isInterruptible) thread.submitClose(operation, fd);
  else thread.submit(operation);
  return operation;
}

/** Closes a descriptor nobody waits for; its error, if any, has no addressee. */
export function closeQuietly(thread: IoThread, fd: number): void {
  startClose(thread, fd, false).then(nothing, nothing);
}
