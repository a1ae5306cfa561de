// Path calls: what the functions of nephrite/fs that are one request have in common.
// Owner: none, stateless. Invariants: arguments and options are checked before anything is
// submitted; what a check throws becomes the operation's failure, as Node's async functions do it.
// Not here: functions of several steps (../composite.ts).
import { type Operation, rejectedOperation } from '../../base/operation.ts';
import { currentFileAuthority } from '../authority.ts';
import { type CompositeBody, CompositeOperation } from '../composite.ts';
import { currentThread } from '../current_thread.ts';
import { attachOptions, checkOptions, type OperationOptions } from '../operation_options.ts';
import { type Decode, type Request, start } from '../path_operation.ts';

export type CallOptions = OperationOptions | null | undefined;

/** What `make` throws becomes a failed operation. */
export function attempt<T>(make: () => Operation<T>): Operation<T> {
  try {
    return make();
  } catch (error) {
    return rejectedOperation(error);
  }
}

const nothing = (): void => {};

/** Starts a request without a result. @throws as checkOptions() */
export function callVoid(request: Request, options: CallOptions): Operation<void> {
  checkOptions(options);
  return attachOptions(start(currentThread(), request, nothing, currentFileAuthority()), options);
}

/** @throws as checkOptions() */
export function call<T>(request: Request, decode: Decode<T>, options: CallOptions): Operation<T> {
  checkOptions(options);
  return attachOptions(start(currentThread(), request, decode, currentFileAuthority()), options);
}

/** Starts an operation of several steps. @throws as checkOptions() */
export function callComposite<T>(body: CompositeBody<T>, options: CallOptions): Operation<T> {
  checkOptions(options);
  return attachOptions(new CompositeOperation(currentThread(), body), options);
}
