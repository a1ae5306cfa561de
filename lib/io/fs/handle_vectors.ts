// readv and writev of a FileHandle: several buffers in the order given.
// Owner: the operation, which holds the file open. Invariants: small buffers go through one of
// ours, so they cost one entry together and a small writev is one write(2); a write loops until
// every byte is written or an error comes, which then tells `bytesWritten`; counts and offsets are
// never those of a 32-bit system call.
// Not here: one buffer (../transfer.ts).
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import { invalidArgType, type SystemError, systemError } from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import { type BufferLike, checkedBytes } from '../buffers.ts';
import type { CompositeScope } from '../composite.ts';
import { closedError, KIND_REGULAR, KIND_UNKNOWN, type OpenFile } from '../open_file.ts';
import { advance, type Position, ReadOperation, WriteOperation } from '../transfer.ts';
import { kindOf } from './directory_reader.ts';
import { checkPosition } from './handle_arguments.ts';
import { attempt, type CallOptions, callComposite } from './path_call.ts';

export interface ReadVectorResult<B> {
  bytesRead: number;
  buffers: B;
}

export interface WriteVectorResult<B> {
  bytesWritten: number;
  buffers: B;
}

function checkedVectors(buffers: unknown): Uint8Array[] {
  const areViews = Array.isArray(buffers) && buffers.every((each) => ArrayBuffer.isView(each));
  if (!areViews) throw invalidArgType('buffers', 'an ArrayBufferView[]', buffers);
  return buffers.map((each, index) => checkedBytes(each, `buffers[${index}]`));
}

const bytesOf = (vectors: readonly Uint8Array[]): number =>
  vectors.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** One transfer after the other on a file held open. */
class VectorRun {
  readonly #scope: CompositeScope;
  readonly #file: OpenFile;
  readonly #fd: number;
  #position: Position;
  done = 0;

  constructor(scope: CompositeScope, file: OpenFile, fd: number, position: Position) {
    this.#scope = scope;
    this.#file = file;
    this.#fd = fd;
    this.#position = position;
  }

  /** Fills `bytes` as far as the file goes; gives how far. */
  async read(bytes: Uint8Array): Promise<number> {
    const { bytesRead } = await this.#scope.run(() => {
      const operation = new ReadOperation(...this.#arguments(bytes, 'readv'));
      this.#scope.thread.submit(operation);
      return operation;
    });
    this.#moved(bytesRead);
    return bytesRead;
  }

  async write(bytes: Uint8Array): Promise<number> {
    const { bytesWritten } = await this.#scope.run(() => {
      const operation = new WriteOperation(...this.#arguments(bytes, 'writev'));
      this.#scope.thread.submit(operation);
      return operation;
    });
    this.#moved(bytesWritten);
    return bytesWritten;
  }

  #arguments(
    bytes: Uint8Array,
    syscall: string,
  ): ConstructorParameters<typeof ReadOperation<Uint8Array>> {
    if (!this.#file.isUsable) throw closedError(syscall);
    const { thread } = this.#scope;
    return [thread, this.#file, this.#fd, bytes, 0, bytes.byteLength, this.#position, bytes];
  }

  #moved(bytes: number): void {
    this.done += bytes;
    this.#position = advance(this.#position, bytes);
  }

  /** Learns the file's kind if the open did not tell it. */
  async isRegular(): Promise<boolean> {
    if (this.#file.kind === KIND_UNKNOWN) {
      const request = { opcode: abi.OP_STAT, syscall: 'fstat', fd: this.#fd };
      this.#file.kind = await this.#scope.decoded(request, kindOf);
    }
    return this.#file.kind === KIND_REGULAR;
  }
}

async function readInto(run: VectorRun, vectors: readonly Uint8Array[]): Promise<void> {
  const total = bytesOf(vectors);
  // What is no regular file gives what is there: one read, or the next one might wait for ever.
  if (total <= abi.CHUNK_BYTES_MAX || !(await run.isRegular())) {
    const together = Buffer.allocUnsafe(Math.min(total, abi.CHUNK_BYTES_MAX));
    scatter(together.subarray(0, await run.read(together)), vectors);
    return;
  }
  for (const bytes of vectors) {
    if (bytes.byteLength > 0 && (await run.read(bytes)) < bytes.byteLength) return;
  }
}

function scatter(source: Buffer, vectors: readonly Uint8Array[]): void {
  let at = 0;
  for (const bytes of vectors) {
    if (at === source.length) return;
    const part = source.subarray(at, at + bytes.byteLength);
    bytes.set(part);
    at += part.length;
  }
}

/** Neighbours that fit into one chunk together become one. */
function* gathered(vectors: readonly Uint8Array[]): Generator<Uint8Array> {
  let group: Uint8Array[] = [];
  let groupBytes = 0;
  for (const bytes of vectors) {
    if (groupBytes + bytes.byteLength > abi.CHUNK_BYTES_MAX && group.length > 0) {
      yield join(group);
      group = [];
      groupBytes = 0;
    }
    group.push(bytes);
    groupBytes += bytes.byteLength;
  }
  if (group.length > 0) yield join(group);
}

function join(group: readonly Uint8Array[]): Uint8Array {
  return group.length === 1 ? group[0] : Buffer.concat(group);
}

async function writeFrom(run: VectorRun, vectors: readonly Uint8Array[]): Promise<void> {
  try {
    for (const bytes of gathered(vectors)) {
      if (bytes.byteLength > 0 && (await run.write(bytes)) < bytes.byteLength) return;
    }
  } catch (error) {
    const failure = error as SystemError;
    failure.bytesWritten = run.done + (failure.bytesWritten ?? 0);
    throw failure;
  }
}

function vectorOperation<R>(
  file: OpenFile,
  syscall: string,
  position: unknown,
  options: CallOptions,
  body: (run: VectorRun) => Promise<R>,
): Operation<R> {
  const at = checkPosition(position);
  return callComposite(async (scope) => {
    const run = new VectorRun(scope, file, file.checkedFd(syscall), at);
    file.hold();
    try {
      return await body(run);
    } finally {
      file.release();
    }
  }, options);
}

export function readVectors<B extends readonly BufferLike[]>(
  file: OpenFile,
  buffers: B,
  position: number | bigint | null | undefined,
  options: CallOptions,
): Operation<ReadVectorResult<B>> {
  return attempt(() => {
    file.checkedFd('readv');
    const vectors = checkedVectors(buffers);
    if (vectors.length === 0) throw systemError(errnoOf('EINVAL'), 'read');
    return vectorOperation(file, 'readv', position, options, async (run) => {
      await readInto(run, vectors);
      return { bytesRead: run.done, buffers };
    });
  });
}

export function writeVectors<B extends readonly BufferLike[]>(
  file: OpenFile,
  buffers: B,
  position: number | bigint | null | undefined,
  options: CallOptions,
): Operation<WriteVectorResult<B>> {
  return attempt(() => {
    file.checkedFd('writev');
    const vectors = checkedVectors(buffers);
    return vectorOperation(file, 'writev', position, options, async (run) => {
      await writeFrom(run, vectors);
      return { bytesWritten: run.done, buffers };
    });
  });
}
