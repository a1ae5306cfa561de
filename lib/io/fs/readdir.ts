// readdir: names or Dirents of a directory, whole or, iterated, as a stream.
// Owner: the operation. Invariants: awaited, names are sorted by their bytes as Node's are;
// iterated with `for await` from the start, entries come in the directory's own order and only two
// batches are held, whatever its size.
// Not here: reading (directory_listing.ts), the hand-over to `for await` (entry_iterator.ts).
import type { Dirent } from 'node:fs';
import { ManualOperation, type Operation } from '../../base/operation.ts';
import { CompositeOperation, type CompositeScope } from '../composite.ts';
import { currentThread } from '../current_thread.ts';
import type { IoThread } from '../io_thread.ts';
import { attachOptions, checkOptions, type OperationOptions } from '../operation_options.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { Permits } from '../permits.ts';
import { collect, type Listing, stream } from './directory_listing.ts';
import { EntryIterator } from './entry_iterator.ts';
import { type AnyDirent, direntShaper, nameShaper } from './entry_shapes.ts';
import {
  checkedPathOptions,
  latin1Path,
  type PathEncoding,
  type PathEncodingOptions,
} from './path_encoding.ts';

export interface ReaddirOptions extends PathEncodingOptions {
  /** Dirents instead of names; default false. */
  withFileTypes?: boolean;
  /** The directories in it too; default false. Names are then relative to `path`. */
  recursive?: boolean;
}

/** What readdir() gives: awaitable for all entries, iterable for one after the other. */
export interface ReaddirOperation<E> extends Operation<E[]>, AsyncIterable<E> {
  /**
   * The entries as they are read. Taken at once (`for await (const entry of readdir(path))`),
   * nothing else is held; the operation itself then gives an empty array at the end. Signal and
   * timeout are those of the whole iteration.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<E>;
}

// Whole listings at a time, so that many of them cannot use up the descriptors. Streams are not
// counted: their consumers may take their time.
const LISTINGS_MAX = 32;
const permits = new Permits(LISTINGS_MAX);

/** How the entries are wanted; decided in the turn of the call. */
class Demand<E> {
  iterator: EntryIterator<E> | undefined = undefined;
  isCollecting = false;
}

class Readdir<E> extends CompositeOperation<E[]> implements ReaddirOperation<E> {
  readonly #demand: Demand<E>;

  constructor(thread: IoThread, listing: Listing<E>) {
    const demand = new Demand<E>();
    super(thread, (scope) => run(scope, listing, demand));
    this.#demand = demand;
  }

  override cancelWith(error: Error): void {
    super.cancelWith(error);
    if (!this.isSettled) this.#demand.iterator?.cancelled(error);
  }

  [Symbol.asyncIterator](): EntryIterator<E> {
    if (this.#demand.isCollecting) return iterateResult(this);
    if (this.#demand.iterator === undefined) {
      this.#demand.iterator = new EntryIterator<E>();
      this.subscribe(this.#demand.iterator);
    }
    return this.#demand.iterator;
  }
}

/** Bad arguments: nothing was started. */
class RefusedReaddir<E> extends ManualOperation<E[]> implements ReaddirOperation<E> {
  [Symbol.asyncIterator](): EntryIterator<E> {
    return iterateResult(this);
  }
}

function iterateResult<E>(operation: Operation<E[]>): EntryIterator<E> {
  const iterator = new EntryIterator<E>();
  operation.subscribe({
    nextWaiter: undefined,
    operationSettled: () => {
      const { settledValue } = operation;
      if (Array.isArray(settledValue)) iterator.offer(settledValue as E[]);
      iterator.operationSettled(operation);
    },
  });
  return iterator;
}

async function run<E>(scope: CompositeScope, listing: Listing<E>, demand: Demand<E>): Promise<E[]> {
  // `for await` asks for its iterator in the same turn.
  await Promise.resolve();
  const { iterator } = demand;
  if (iterator === undefined) {
    demand.isCollecting = true;
    return permits.with(scope, () => collect(scope, listing));
  }
  await stream(scope, listing, async (batch) => {
    await scope.run(() => iterator.offer(batch));
    return !iterator.isStopped;
  });
  // Until then signal and timeout are in force.
  await scope.run(() => iterator.drained());
  return [];
}

function list<E>(listing: Listing<E>, options: OperationOptions): ReaddirOperation<E> {
  return attachOptions(new Readdir(currentThread(), listing), options);
}

type NamesOptions = ReaddirOptions & { withFileTypes?: false | undefined };
type TypesOptions = ReaddirOptions & { withFileTypes: true };

/**
 * The entries of a directory without "." and "..": names, or Dirents `withFileTypes`. Awaited, all
 * of them, sorted; iterated at once (`for await (const name of readdir(path))`), one after the
 * other in bounded memory. `recursive` goes into directories, outer ones first; into links to
 * directories when names are wanted, as Node does it, but not round a loop.
 */
export function readdir(
  path: PathLike,
  options: 'buffer' | (NamesOptions & { encoding: 'buffer' }),
): ReaddirOperation<Buffer>;
export function readdir(
  path: PathLike,
  options?: BufferEncoding | (NamesOptions & { encoding?: BufferEncoding | null }) | null,
): ReaddirOperation<string>;
export function readdir(
  path: PathLike,
  options: TypesOptions & { encoding: 'buffer' },
): ReaddirOperation<Dirent<Buffer>>;
export function readdir(
  path: PathLike,
  options: TypesOptions & { encoding?: BufferEncoding | null },
): ReaddirOperation<Dirent>;
export function readdir(
  path: PathLike,
  options?: ReaddirOptions | PathEncoding | null,
): ReaddirOperation<string | Buffer | AnyDirent>;
export function readdir(
  path: PathLike,
  options?: ReaddirOptions | PathEncoding | null,
): ReaddirOperation<string | Buffer> | ReaddirOperation<AnyDirent> {
  try {
    const given = checkedPathOptions<ReaddirOptions>(options);
    const checked = checkedPath(path);
    checkOptions(given);
    const { encoding } = given;
    const isRecursive = Boolean(given.recursive);
    const hasTypes = Boolean(given.withFileTypes);
    const where = { path: checked, root: latin1Path(checked), isRecursive, hasTypes };
    if (hasTypes) return list({ ...where, shape: direntShaper(checked, encoding) }, given);
    return list({ ...where, shape: nameShaper(encoding) }, given);
  } catch (error) {
    const refused = new RefusedReaddir<string | Buffer>();
    refused.rejectWith(error);
    return refused;
  }
}
