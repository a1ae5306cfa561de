// SplitTransfer: one large read or write of a regular file as several transfers in flight at a
// time, so that the copy of one part runs beside the kernel's work on another.
// Owner: the thread; it holds the file until it settles, so a close waits for all parts.
// Invariants: at most PARTS_MAX parts are in flight; parts have explicit positions (the file
// position would depend on their order); the result counts contiguous bytes from the start: what
// lies behind a short or failed part is not counted, though some of it may have been moved, as with
// any write that fails half-way.
// Not here: the parts (transfer.ts), which calls are large enough (fs/file_handle.ts).
import * as abi from '../abi/layout.ts';
import type { SystemError } from '../base/errors.ts';
import { AbortError } from '../base/errors.ts';
import { Operation, type OperationWaiter, REJECTED } from '../base/operation.ts';
import type { OpenFile } from './open_file.ts';
import type { Cancellable } from './operation_options.ts';

const PART_BYTES = abi.CHUNK_BYTES_MAX;
// Two keep both sides busy; four also fill a disk's queue. 1 MiB is a turn's share (io_thread.ts).
const PARTS_MAX = 4;

/** What a part fulfills with. */
export type Moved = { bytesRead: number } | { bytesWritten: number };

/** Starts the transfer of `bytes` bytes, `offset` bytes into the whole. */
export type StartPart = (offset: number, bytes: number) => Cancellable<Moved>;

const movedBytes = (moved: Moved): number =>
  'bytesRead' in moved ? moved.bytesRead : moved.bytesWritten;

class PartWaiter implements OperationWaiter {
  nextWaiter: OperationWaiter | undefined = undefined;
  readonly index: number;
  readonly #onSettled: (index: number, part: Operation<unknown>) => void;

  constructor(index: number, onSettled: (index: number, part: Operation<unknown>) => void) {
    this.index = index;
    this.#onSettled = onSettled;
  }

  operationSettled(part: Operation<unknown>): void {
    this.#onSettled(this.index, part);
  }
}

export class SplitTransfer<T> extends Operation<T> {
  readonly #file: OpenFile;
  readonly #length: number;
  readonly #startPart: StartPart;
  readonly #result: (total: number) => T;
  readonly #isRead: boolean;
  readonly #moved: number[] = [];
  readonly #running = new Map<number, Cancellable<Moved>>();
  #partCount: number;
  #nextPart = 0;
  #error: unknown = undefined;
  #errorPart = Infinity;
  #cancelError: Error | undefined = undefined;
  readonly #onSettled = (index: number, part: Operation<unknown>): void =>
    this.#partSettled(index, part);

  constructor(
    file: OpenFile,
    length: number,
    isRead: boolean,
    startPart: StartPart,
    result: (total: number) => T,
  ) {
    super();
    this.#file = file;
    this.#length = length;
    this.#isRead = isRead;
    this.#startPart = startPart;
    this.#result = result;
    this.#partCount = Math.ceil(length / PART_BYTES);
    file.hold();
    this.#startParts();
  }

  #startParts(): void {
    while (this.#nextPart < this.#partCount && this.#running.size < PARTS_MAX) {
      const index = this.#nextPart++;
      const part = this.#startPart(index * PART_BYTES, this.#bytesOf(index));
      this.#running.set(index, part);
      part.subscribe(new PartWaiter(index, this.#onSettled));
    }
  }

  #bytesOf(index: number): number {
    return Math.min(PART_BYTES, this.#length - index * PART_BYTES);
  }

  #partSettled(index: number, part: Operation<unknown>): void {
    this.#running.delete(index);
    const value = part.settledValue;
    if (part.state === REJECTED) {
      this.#moved[index] = (value as SystemError).bytesWritten ?? 0;
      if (index < this.#errorPart) {
        this.#errorPart = index;
        this.#error = value instanceof AbortError ? this.#cancelError : value;
      }
    } else {
      this.#moved[index] = movedBytes(value as Moved);
    }
    // Short or failed: nothing behind it is asked for any more.
    if (this.#moved[index] < this.#bytesOf(index)) {
      this.#partCount = Math.min(this.#partCount, this.#nextPart);
    }
    if (this.#cancelError === undefined) this.#startParts();
    if (this.#running.size === 0) this.#finish();
  }

  #finish(): void {
    let total = 0;
    let index = 0;
    for (; index < this.#moved.length; index++) {
      total += this.#moved[index];
      if (this.#moved[index] < this.#bytesOf(index)) break;
    }
    const error = index === this.#errorPart ? this.#error : this.#cancelError;
    this.#file.release();
    // A read's bytes are not lost to a later failure: the caller gets them, the error next time.
    if (total === this.#length || error === undefined || (this.#isRead && total > 0)) {
      this.fulfill(this.#result(total));
      return;
    }
    if (!this.#isRead) (error as SystemError).bytesWritten = total;
    this.reject(error);
  }

  override cancel(reason?: unknown): void {
    this.cancelWith(new AbortError(reason));
  }

  /** Stops the parts in flight; settles when the last of them has ended. */
  cancelWith(error: Error): void {
    if (this.isSettled || this.#cancelError !== undefined) return;
    this.#cancelError = error;
    // An error for each: a write notes its own bytesWritten on it.
    for (const part of [...this.#running.values()]) part.cancelWith(new AbortError(error));
  }
}

/** Whether a transfer is better split: large, of a regular file, at a position of its own. */
export function isSplitWorthy(file: OpenFile, length: number, position: number | bigint): boolean {
  return length > PART_BYTES && file.isRegular && position !== -1;
}
