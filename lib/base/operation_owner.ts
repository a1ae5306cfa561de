// Owner of operations: the running task, as those see it who start operations. Operations that are
// still open when their task ends are cancelled.
// Owner: module state of one thread, written by the scheduler at each dispatch (task/current.ts).
// Invariants: an operation is in its owner's list from its start until it settles.
// Not here: tasks (task/).
import type { Operation } from './operation.ts';

export interface OperationOwner {
  own(operation: Operation<unknown>): void;
  disown(operation: Operation<unknown>): void;
}

export const operationOwner: {
  /** The generator task that runs now. */
  current: OperationOwner | undefined;
  /** Set with the first async body: the async task that runs now. */
  findAsync: (() => OperationOwner | undefined) | undefined;
  /**
   * Set with the first async body: `await` in a cancelled one gets another operation to wait for,
   * one that rejects. Undefined as result: nothing special about this await.
   */
  guardAwait: (<T>(operation: Operation<T>) => Operation<T> | undefined) | undefined;
} = { current: undefined, findAsync: undefined, guardAwait: undefined };

/** To be called by every operation that has work going on somewhere, when it starts. */
export function ownOperation(operation: Operation<unknown>): void {
  const owner = operationOwner.current ?? operationOwner.findAsync?.();
  if (owner !== undefined) owner.own(operation);
}
