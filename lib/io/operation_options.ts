// Options of every operation: `{ signal, timeout }`.
// Owner: one thread. Invariants: one listener per AbortSignal however many operations share it,
// gone when the last of them has settled; a timeout's deadline is cancelled at settlement; both
// only ask the operation to stop, its target decides.
// Not here: what stopping means (io_operation.ts), the deadlines (time/deadlines.ts).
import { AbortError, invalidArgType, outOfRange, TimeoutError } from '../base/errors.ts';
import type { Operation, OperationWaiter } from '../base/operation.ts';
import { armDeadline, cancelDeadline, type Deadline } from '../time/deadlines.ts';
import type { IoOperation } from './io_operation.ts';

export interface OperationOptions {
  /** Aborting it fails the operation with an AbortError whose cause is the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds, >= 0; Infinity or undefined: none. Fails it with ERR_OPERATION_TIMEOUT. */
  timeout?: number | undefined;
}

/** What cancelWith() offers: IoOperation and composites. */
export type Cancellable<T> = Operation<T> & Pick<IoOperation<T>, 'cancelWith'>;

// All operations of one signal behind one listener.
class SignalGroup {
  readonly #signal: AbortSignal;
  readonly #members = new Set<Cancellable<unknown>>();
  readonly #onAbort = (): void => {
    const { reason } = this.#signal;
    // An error for each: a write notes its own bytesWritten on it.
    for (const operation of [...this.#members]) operation.cancelWith(new AbortError(reason));
  };

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(operation: Cancellable<unknown>): void {
    if (this.#members.size === 0) {
      this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    }
    this.#members.add(operation);
  }

  delete(operation: Cancellable<unknown>): void {
    this.#members.delete(operation);
    if (this.#members.size === 0) this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

const groups = new WeakMap<AbortSignal, SignalGroup>();

// Detaches signal and deadline when the operation settles.
class Attachment implements OperationWaiter {
  nextWaiter: OperationWaiter | undefined = undefined;
  group: SignalGroup | undefined = undefined;
  deadline: Deadline | undefined = undefined;

  operationSettled(operation: Operation<unknown>): void {
    this.group?.delete(operation as Cancellable<unknown>);
    if (this.deadline !== undefined) cancelDeadline(this.deadline);
  }
}

/** @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE; the signal's AbortError when already aborted */
export function checkOptions(options: OperationOptions | null | undefined): void {
  if (options === undefined || options === null) return;
  const { signal, timeout } = options;
  if (signal !== undefined && signal !== null) {
    // All that is called later is looked at now: a failure then would leave the operation running.
    const isSignal =
      typeof signal === 'object' &&
      'aborted' in signal &&
      typeof signal.addEventListener === 'function';
    if (!isSignal) {
      throw invalidArgType('options.signal', 'an instance of AbortSignal', signal);
    }
    if (signal.aborted) throw new AbortError(signal.reason);
  }
  if (timeout === undefined || timeout === null) return;
  if (typeof timeout !== 'number')
    throw invalidArgType('options.timeout', 'of type number', timeout);
  if (!(timeout >= 0)) throw outOfRange('options.timeout', '>= 0 milliseconds', timeout);
}

/** Attaches checked options to an operation that has just started. */
export function attachOptions<T extends Cancellable<unknown>>(
  operation: T,
  options: OperationOptions | null | undefined,
): T {
  if (options === undefined || options === null || operation.isSettled) return operation;
  const signal = options.signal ?? undefined;
  const timeoutMs = options.timeout ?? Infinity;
  if (signal === undefined && timeoutMs === Infinity) return operation;
  const attachment = new Attachment();
  if (signal !== undefined) {
    let group = groups.get(signal);
    if (group === undefined) {
      group = new SignalGroup(signal);
      groups.set(signal, group);
    }
    group.add(operation);
    attachment.group = group;
  }
  if (timeoutMs !== Infinity) {
    attachment.deadline = armDeadline(timeoutMs, () =>
      operation.cancelWith(new TimeoutError(timeoutMs)),
    );
  }
  // Not an observer of failures: an unobserved one must still be reported.
  operation.onSettled(attachment);
  // Aborted while it started, by an iterator of the caller's: that event is past.
  if (signal?.aborted === true) operation.cancelWith(new AbortError(signal.reason));
  return operation;
}
