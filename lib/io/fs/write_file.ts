// writeFile and appendFile: whole files out of buffers, strings or iterables of them.
// Owner: the thread. Invariants: every byte is written or the call fails, then telling
// `bytesWritten`; the descriptor is closed either way.
// Not here: opening and closing (../whole_file_operation.ts).
import * as abi from '../../abi/layout.ts';
import { invalidArgType, type SystemError } from '../../base/errors.ts';
import { type Operation, rejectedOperation } from '../../base/operation.ts';
import type { Chunk } from '../../ring/buffer_pool.ts';
import { type BufferLike, checkedBytes, detachedError } from '../buffers.ts';
import { currentThread } from '../current_thread.ts';
import type { IoThread } from '../io_thread.ts';
import type { OpenGate } from '../open_gate.ts';
import { attachOptions, checkOptions, type OperationOptions } from '../operation_options.ts';
import type { PathLike } from '../path_bytes.ts';
import { WholeFileOperation, type WholeFileTarget } from '../whole_file_operation.ts';
import type { FileHandle } from './file_handle.ts';
import { checkedFlags, checkedMode } from './open.ts';
import { checkedEncoding, gateOf, optionsOf, targetOf } from './whole_file_arguments.ts';

export type WriteData = string | BufferLike;

export interface WriteFileOptions extends OperationOptions {
  /** Of strings; default 'utf8'. */
  encoding?: BufferEncoding | null;
  /** Default 0o666. */
  mode?: number | string;
  /** Default 'w' ('a' for appendFile). */
  flag?: string | number;
  /** fsync before the close; default false. */
  flush?: boolean;
}

class WriteFileOperation extends WholeFileOperation<void> {
  protected readonly transferOpcode = abi.OP_WRITE;
  protected readonly transferSyscall = 'write';
  readonly #bytes: Uint8Array;
  readonly #length: number;
  #total = 0;

  constructor(thread: IoThread, target: WholeFileTarget, gate: OpenGate, bytes: Uint8Array) {
    super(thread, target, gate);
    this.#bytes = bytes;
    this.#length = bytes.byteLength;
  }

  protected override isEmpty(): boolean {
    return this.#length === 0;
  }

  protected nextBytes(): number {
    // Detached meanwhile: an empty entry, and transferred() fails.
    if (this.#bytes.byteLength < this.#length) return 0;
    return Math.min(this.#length - this.#total, abi.CHUNK_BYTES_MAX);
  }

  protected override fill(chunk: Chunk): void {
    chunk.view.set(this.#bytes.subarray(this.#total, this.#total + this.entryBytes));
  }

  protected transferred(result: number): boolean | Error {
    this.#total += result;
    if (this.#bytes.byteLength < this.#length) return detachedError('data');
    return result > 0 && this.#total < this.#length;
  }

  protected override describeFailure(error: Error): Error {
    (error as SystemError).bytesWritten = this.#total;
    return error;
  }

  protected value(): void {}
}

function isIterable(data: unknown): data is Iterable<WriteData> | AsyncIterable<WriteData> {
  return (
    typeof data === 'object' &&
    data !== null &&
    (Symbol.asyncIterator in data || Symbol.iterator in data)
  );
}

/**
 * Replaces the file's content (`flag` 'w'). `data`: string, Buffer, TypedArray or DataView.
 * A FileHandle is written at its position.
 */
export function writeFile(
  path: PathLike | FileHandle,
  data: WriteData,
  options?: WriteFileOptions | BufferEncoding | null,
): Operation<void> {
  return writeWhole(path, data, options, 'w');
}

/** As writeFile(), with `flag` 'a'. */
export function appendFile(
  path: PathLike | FileHandle,
  data: WriteData,
  options?: WriteFileOptions | BufferEncoding | null,
): Operation<void> {
  return writeWhole(path, data, options, 'a');
}

function writeWhole(
  path: PathLike | FileHandle,
  data: WriteData,
  options: WriteFileOptions | BufferEncoding | null | undefined,
  flag: string,
): Operation<void> {
  try {
    const given = optionsOf<WriteFileOptions>(options);
    const encoding = checkedEncoding(given?.encoding) ?? 'utf8';
    const target = targetOf(path, 'write');
    target.flags = checkedFlags(given?.flag ?? flag);
    target.mode = checkedMode(given?.mode, 0o666);
    target.isFlushed = given?.flush === true;
    const bytes =
      typeof data === 'string' ? Buffer.from(data, encoding) : checkedBytes(data, 'data');
    checkOptions(given);
    const thread = currentThread();
    const operation = new WriteFileOperation(thread, target, gateOf(thread), bytes);
    operation.start();
    return attachOptions(operation, given);
  } catch (error) {
    return rejectedOperation(error);
  }
}
