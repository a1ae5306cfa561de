// Writing whole files (writeFile, appendFile) out of buffers, strings or iterables of them.
// Owner: the thread. Invariants: every byte is written or the call fails, then telling
// `bytesWritten`; the descriptor is closed either way.
// Not here: opening and closing (../whole_file_operation.ts).
import * as abi from '../../abi/layout.ts';
import { invalidArgType, type SystemError } from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import type { Chunk } from '../../ring/buffer_pool.ts';
import { currentFileAuthority } from '../authority.ts';
import { type BufferLike, checkedBytes, detachedError } from '../buffers.ts';
import { CompositeOperation } from '../composite.ts';
import { currentThread } from '../current_thread.ts';
import type { IoThread } from '../io_thread.ts';
import { closedError, OpenFile } from '../open_file.ts';
import type { OpenGate } from '../open_gate.ts';
import {
  attachOptions,
  type Cancellable,
  checkOptions,
  type OperationOptions,
} from '../operation_options.ts';
import { type Request, startVoid } from '../path_operation.ts';
import { FILE_POSITION, WriteOperation } from '../transfer.ts';
import { WholeFileOperation, type WholeFileTarget } from '../whole_file_operation.ts';
import { withDescriptor } from './descriptors.ts';
import { checkedFlags, checkedMode } from './open.ts';
import { checkedEncoding, gateOf, optionsOf } from './whole_file_arguments.ts';

type WritePart = string | BufferLike;
export type WriteData = WritePart | Iterable<WritePart> | AsyncIterable<WritePart>;

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

  /** `length`: of the bytes when the call was made. */
  constructor(
    thread: IoThread,
    target: WholeFileTarget,
    gate: OpenGate,
    bytes: Uint8Array,
    length: number,
  ) {
    super(thread, target, gate);
    this.#bytes = bytes;
    this.#length = length;
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
    // Not even an empty view can be made of detached memory.
    if (this.entryBytes === 0) return;
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

type Parts = Iterable<WritePart> | AsyncIterable<WritePart>;

// Strings and views iterate too, over the wrong things: they are asked first.
function isParts(data: WriteData): data is Parts {
  if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data)) return false;
  return Symbol.asyncIterator in data || Symbol.iterator in data;
}

const toBytes = (part: WritePart, encoding: BufferEncoding): Uint8Array =>
  typeof part === 'string' ? Buffer.from(part, encoding) : checkedBytes(part, 'data');

// One part after the other, each whole; the next is asked for when the last is written.
function writeParts(
  thread: IoThread,
  target: WholeFileTarget,
  parts: Parts,
  encoding: BufferEncoding,
): CompositeOperation<void> {
  return new CompositeOperation<void>(thread, async (scope) => {
    const { path, flags: argument0, mode: argument1 } = target;
    const open = { opcode: abi.OP_OPEN, syscall: 'open', path, argument0, argument1 };
    const fd = target.fd ?? (await scope.request(open as Request));
    const file = target.file ?? new OpenFile(fd, 0, false);
    file.hold();
    try {
      for await (const part of parts) {
        const bytes = toBytes(part, encoding);
        if (!file.isUsable) throw closedError('write');
        if (bytes.byteLength > 0) await scope.run(() => startWrite(thread, file, fd, bytes));
      }
      if (target.isFlushed === true) {
        await scope.request({ opcode: abi.OP_SYNC, syscall: 'fsync', fd });
      }
    } finally {
      file.release();
      if (target.fd === undefined)
        await startVoid(thread, { opcode: abi.OP_CLOSE, syscall: 'close', fd });
    }
  });
}

function startWrite(
  thread: IoThread,
  file: OpenFile,
  fd: number,
  bytes: Uint8Array,
): WriteOperation<Uint8Array> {
  const count = bytes.byteLength;
  const operation = new WriteOperation(thread, file, fd, bytes, 0, count, FILE_POSITION, bytes);
  thread.submit(operation);
  return operation;
}

function checkedFlush(flush: unknown): boolean {
  if (flush === undefined || flush === null) return false;
  if (typeof flush !== 'boolean') throw invalidArgType('options.flush', 'of type boolean', flush);
  return flush;
}

/** Starts writing a target; a FileHandle's at its position. @throws ERR_INVALID_ARG_* */
export function writeWhole(
  target: WholeFileTarget,
  data: WriteData,
  options: WriteFileOptions | string | null | undefined,
  flag: 'w' | 'a',
): Operation<void> {
  const given = optionsOf<WriteFileOptions>(options);
  const encoding = checkedEncoding(given?.encoding) ?? 'utf8';
  const whole: WholeFileTarget = {
    ...target,
    flags: checkedFlags(given?.flag ?? flag),
    mode: checkedMode(given?.mode, 0o666),
    isFlushed: checkedFlush(given?.flush),
  };
  checkOptions(given);
  const thread = currentThread();
  if (isParts(data)) return attachOptions(writeParts(thread, whole, data, encoding), given);
  const bytes = toBytes(data, encoding);
  const isGuarded = whole.path !== undefined && currentFileAuthority() !== undefined;
  const startWhole = isGuarded ? writeUnder : startWriteFile;
  return attachOptions(startWhole(thread, whole, bytes), given);
}

function startWriteFile(
  thread: IoThread,
  target: WholeFileTarget,
  bytes: Uint8Array,
  length = bytes.byteLength,
): Cancellable<void> {
  const operation = new WriteFileOperation(thread, target, gateOf(thread), bytes, length);
  operation.start();
  return operation;
}

// Under the authority of now: its open is a request like any other.
function writeUnder(
  thread: IoThread,
  target: WholeFileTarget,
  bytes: Uint8Array,
): Cancellable<void> {
  const { path = '', flags = 0, mode, isFlushed } = target;
  const length = bytes.byteLength;
  return new CompositeOperation<void>(thread, (scope) =>
    withDescriptor(
      scope,
      path,
      flags,
      'open',
      async (fd) => scope.run(() => startWriteFile(thread, { fd, isFlushed }, bytes, length)),
      mode,
    ),
  );
}
