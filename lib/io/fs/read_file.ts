// Reading whole files into buffers or strings: readFile and readMany.
// Owner: the thread. Invariants: reading ends at the size that the open told (as Node does) or,
// when that is 0 or unknown (/proc, pipes, devices), at a read of 0 bytes, never at a short one;
// shared memory is copied before any text decoding.
// Not here: opening and closing (../whole_file_operation.ts), who may be read (whole_file.ts).
import { constants } from 'node:buffer';
import { constants as fsConstants } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import { NephriteError } from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import { currentFileAuthority, type FileAuthority } from '../authority.ts';
import { CompositeOperation } from '../composite.ts';
import { currentThread } from '../current_thread.ts';
import type { IoOperation } from '../io_operation.ts';
import type { IoThread } from '../io_thread.ts';
import type { OpenGate } from '../open_gate.ts';
import {
  attachOptions,
  type Cancellable,
  checkOptions,
  type OperationOptions,
} from '../operation_options.ts';
import { WholeFileOperation, type WholeFileTarget } from '../whole_file_operation.ts';
import { withDescriptor } from './descriptors.ts';
import { checkedFlags } from './open.ts';
import { isWorthTrying, ReadSmallFile } from './read_small_file.ts';
import { checkedEncoding, checkedLimit, gateOf, optionsOf } from './whole_file_arguments.ts';

// Files of unknown size: what most of them (/proc, /sys) fit in.
const UNKNOWN_BYTES = 65536;
const { O_RDONLY } = fsConstants;

export interface ReadFileOptions extends OperationOptions {
  encoding?: BufferEncoding | 'buffer' | null;
  /** Default 'r'. */
  flag?: string | number;
  /** Stops after so many bytes (of an endless device, say); default: the whole file. */
  limit?: number;
}

export class ReadFileOperation extends WholeFileOperation<Buffer | string> {
  protected readonly transferOpcode = abi.OP_READ;
  protected readonly transferSyscall = 'read';
  readonly #encoding: BufferEncoding | undefined;
  readonly #limit: number;
  // Bytes still expected, when the size is known; 0 = read until the end.
  #sizeBytes = 0;
  #total = 0;
  readonly #parts: Buffer[] = [];
  #whole: Buffer | undefined = undefined;

  constructor(
    thread: IoThread,
    target: WholeFileTarget,
    gate: OpenGate,
    encoding: BufferEncoding | undefined,
    limit: number,
  ) {
    super(thread, target, gate);
    this.#encoding = encoding;
    this.#limit = limit;
  }

  protected override get wantsSize(): boolean {
    return true;
  }

  protected override opened(sizeBytes: number): Error | undefined {
    if (Math.min(sizeBytes, this.#limit) > constants.MAX_LENGTH) {
      return new NephriteError(
        'ERR_FS_FILE_TOO_LARGE',
        `File size (${sizeBytes}) is greater than ${constants.MAX_LENGTH} bytes; give a \`limit\``,
      );
    }
    if (sizeBytes > 0) this.#sizeBytes = sizeBytes;
    return undefined;
  }

  protected override isEmpty(): boolean {
    return this.#limit === 0;
  }

  protected nextBytes(): number {
    const wanted = this.#sizeBytes > 0 ? this.#sizeBytes - this.#total : this.#unknownBytes();
    return Math.min(wanted, this.#limit - this.#total, abi.CHUNK_BYTES_MAX);
  }

  // A large file of unknown size (a pipe) deserves large reads, the rest small ones.
  #unknownBytes(): number {
    return this.#total < UNKNOWN_BYTES ? UNKNOWN_BYTES : abi.CHUNK_BYTES_MAX;
  }

  protected transferred(result: number): boolean | Error {
    const { chunk } = this;
    if (result === 0 || chunk === undefined) return false;
    try {
      chunk.view.copy(this.#roomFor(result), 0, 0, result);
    } catch (error) {
      return error as Error; // no memory for it
    }
    this.#total += result;
    if (this.#total >= this.#limit) return false;
    return this.#sizeBytes === 0 || this.#total < this.#sizeBytes;
  }

  #roomFor(bytes: number): Buffer {
    if (this.#sizeBytes > 0) {
      this.#whole ??= Buffer.allocUnsafeSlow(Math.min(this.#sizeBytes, this.#limit));
      return this.#whole.subarray(this.#total, this.#total + bytes);
    }
    const part = Buffer.allocUnsafeSlow(bytes);
    this.#parts.push(part);
    return part;
  }

  protected value(): Buffer | string {
    let bytes: Buffer;
    if (this.#whole !== undefined) bytes = this.#whole.subarray(0, this.#total);
    else if (this.#parts.length === 1) bytes = this.#parts[0];
    else bytes = Buffer.concat(this.#parts, this.#total);
    return this.#encoding === undefined ? bytes : bytes.toString(this.#encoding);
  }
}

/** As startRead(), under the authority that was in force when the call was made. */
export function startReadUnder(
  authority: FileAuthority | undefined,
  thread: IoThread,
  target: WholeFileTarget,
  encoding: BufferEncoding | undefined,
  limit: number,
): Cancellable<Buffer | string> {
  const { path, flags = O_RDONLY } = target;
  if (authority === undefined || path === undefined) {
    return startRead(thread, target, encoding, limit);
  }
  return new CompositeOperation<Buffer | string>(
    thread,
    (scope) =>
      withDescriptor(scope, path, flags, 'open', async (fd) =>
        scope.run(() => startRead(thread, { fd }, encoding, limit)),
      ),
    authority,
  );
}

/** Starts reading one file, the quickest way that gives the same result. */
function startRead(
  thread: IoThread,
  target: WholeFileTarget,
  encoding: BufferEncoding | undefined,
  limit: number,
): IoOperation<Buffer | string> {
  const gate = gateOf(thread);
  const startSteps = (): ReadFileOperation => {
    const operation = new ReadFileOperation(thread, target, gate, encoding, limit);
    operation.start();
    return operation;
  };
  const { path } = target;
  const isPlain = path !== undefined && target.flags === O_RDONLY && limit === Infinity;
  if (!isPlain || !isWorthTrying(thread, gate, path)) return startSteps();
  const operation = new ReadSmallFile(thread, path, encoding, gate, startSteps);
  thread.submit(operation);
  return operation;
}

/** Starts reading a target; a FileHandle's from its position. @throws ERR_INVALID_ARG_* */
export function readWhole(
  target: WholeFileTarget,
  options: ReadFileOptions | string | null | undefined,
): Operation<Buffer | string> {
  const given = optionsOf<ReadFileOptions>(options);
  target.flags = checkedFlags(given?.flag);
  const encoding = checkedEncoding(given?.encoding);
  const limit = checkedLimit(given?.limit);
  checkOptions(given);
  const authority = currentFileAuthority();
  return attachOptions(startReadUnder(authority, currentThread(), target, encoding, limit), given);
}
