// Reading small cached files in one entry: a pool thread opens, reads and closes, beside this
// thread. Used when several reads are in flight (a single one is quicker step by step, without a
// trip to another thread) and only for what needs no second look.
// Owner: the thread. Invariants: whatever the pool declines (a large or uncached file, /proc, a
// pipe, no descriptors left) goes step by step as if nothing had been tried; aborted, it fails at
// once and the entry's result is dropped, since it holds no memory of the caller.
// Not here: the steps (read_file.ts), the call itself (native/backend/posix_whole_file.cc).
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import { systemError } from '../../base/errors.ts';
import { type Operation, type OperationWaiter, REJECTED } from '../../base/operation.ts';
import type { Chunk } from '../../ring/buffer_pool.ts';
import { setBuffer, setPath, writeEntry } from '../entry.ts';
import { IoOperation } from '../io_operation.ts';
import type { IoThread } from '../io_thread.ts';
import type { OpenGate } from '../open_gate.ts';
import { pathBytesBound, SCRATCH_PATH_MAX, writePath } from '../path_bytes.ts';

// A chunk class; larger files are worth three entries.
const SMALL_BYTES = 65536;
// Below so many operations in flight the trip to a pool thread costs more than it saves.
const IN_FLIGHT_LEAST = 4;

const EAGAIN = errnoOf('EAGAIN');
const ENOTSUP = errnoOf('ENOTSUP');

/** Whether to try it: enough in flight, a short path, a backend that can. */
export function isWorthTrying(thread: IoThread, gate: OpenGate, path: string | Buffer): boolean {
  return (
    thread.inFlightCount >= IN_FLIGHT_LEAST &&
    gate.canReadWhole &&
    pathBytesBound(path) <= SCRATCH_PATH_MAX
  );
}

export class ReadSmallFile extends IoOperation<Buffer | string> implements OperationWaiter {
  nextWaiter: OperationWaiter | undefined = undefined;
  readonly #path: string | Buffer;
  readonly #encoding: BufferEncoding | undefined;
  readonly #gate: OpenGate;
  readonly #startSteps: () => IoOperation<Buffer | string>;
  #chunk: Chunk | undefined = undefined;
  #steps: IoOperation<Buffer | string> | undefined = undefined;

  constructor(
    thread: IoThread,
    path: string | Buffer,
    encoding: BufferEncoding | undefined,
    gate: OpenGate,
    startSteps: () => IoOperation<Buffer | string>,
  ) {
    super(thread);
    this.#path = path;
    this.#encoding = encoding;
    this.#gate = gate;
    this.#startSteps = startSteps;
  }

  override prepare(): boolean {
    this.#chunk = this.thread.pool.acquire(SMALL_BYTES);
    return this.#chunk !== undefined;
  }

  encode(words: Uint32Array, at: number, slot: number, generation: number): void {
    const { memory, scratch } = this.thread;
    writeEntry(words, at, abi.OP_READ_FILE, slot, generation, -1);
    const start = memory.scratchOffsetOf(slot) + abi.SCRATCH_PATH_OFFSET;
    const bytes = writePath(scratch, start, this.#path);
    scratch[start + bytes + 1] = 0;
    setPath(words, at, 0, start, bytes, 0);
    const chunk = this.#chunk;
    if (chunk !== undefined) setBuffer(words, at, chunk.arenaId, chunk.offset, chunk.bytes);
  }

  completed(result: number): void {
    if (this.isSettled) {
      this.thread.orphanEnded();
      this.release();
    } else if (result >= 0) {
      this.#settle(result);
    } else if (result === EAGAIN || result === ENOTSUP) {
      this.release();
      if (result === ENOTSUP) this.#gate.canReadWhole = false;
      this.#steps = this.#startSteps();
      this.#steps.subscribe(this);
    } else {
      this.release();
      this.reject(systemError(result, 'open', this.#path));
    }
  }

  #settle(bytes: number): void {
    let value: Buffer | string;
    try {
      value = this.#take(bytes);
    } catch (error) {
      this.release();
      this.reject(error);
      return;
    }
    this.release();
    this.fulfill(value);
  }

  // Always a buffer of its own, as Node gives it: callers use `.buffer`.
  #take(bytes: number): Buffer | string {
    const view = this.#chunk?.view ?? Buffer.alloc(0);
    if (this.#encoding !== undefined) return view.toString(this.#encoding, 0, bytes);
    const value = Buffer.allocUnsafeSlow(bytes);
    view.copy(value, 0, 0, bytes);
    return value;
  }

  operationSettled(steps: Operation<unknown>): void {
    if (steps.state === REJECTED) this.reject(steps.settledValue);
    else this.fulfill(steps.settledValue as Buffer | string);
  }

  override cancelWith(error: Error): void {
    if (this.#steps !== undefined) {
      this.#steps.cancelWith(error);
      return;
    }
    if (this.isSettled || this.cancelError !== undefined) return;
    super.cancelWith(error);
    if (this.isSettled || this.slot < 0) return;
    this.thread.orphan();
    this.reject(error);
  }

  override release(): void {
    if (this.#chunk === undefined) return;
    this.thread.pool.release(this.#chunk);
    this.#chunk = undefined;
  }
}
