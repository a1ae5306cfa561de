// Items: what race(), all() and withTimeout() wait for: operations, tasks (their join), bodies
// (spawned as children), promises (as fromPromise).
// Owner: none. Invariants: everything is checked before anything is started.
// Not here: what the groups make of it.
import { invalidArgType } from '../../base/errors.ts';
import { Operation } from '../../base/operation.ts';
import { isThenable, PromiseOperation } from '../interop/from_promise.ts';
import { Task } from '../task.ts';
import { checkBody, type TaskBody, type TaskGenerator } from '../task_body.ts';
import { BodyOperation, spawnOwned } from './body_operation.ts';
import { type FailureKind, stemsFromCancellation } from './failures.ts';

/** An operation, a task (its join), a body (a child task), or a promise. */
export type Item<T> = Operation<T> | Task<T> | TaskBody<T> | PromiseLike<T>;

/** What an item gives. */
export type ItemValue<I> =
  I extends Task<infer T>
    ? T
    : I extends PromiseLike<infer T>
      ? T
      : I extends () => TaskGenerator<infer T>
        ? T
        : I extends () => PromiseLike<infer T>
          ? T
          : I extends () => infer T
            ? T
            : never;

/** @throws ERR_INVALID_ARG_TYPE */
export function checkItem(name: string, item: unknown): void {
  if (item instanceof Operation || item instanceof Task) return;
  if (typeof item === 'function') checkBody(item);
  else if (!isThenable(item)) {
    throw invalidArgType(name, 'an operation, a task, a promise or a body', item);
  }
}

/** Of a checked item; a body is spawned. */
export function operationOf<T>(item: Item<T>): Operation<T> {
  if (item instanceof Operation) return item;
  if (item instanceof Task) return item.join();
  if (typeof item === 'function') return spawnOwned<T>(item);
  return new PromiseOperation<T>(item);
}

/** Of an operation that was rejected after it had been cancelled. */
export function kindOfRejection(operation: Operation<unknown>): FailureKind {
  if (operation instanceof BodyOperation) return operation.failureKind();
  return stemsFromCancellation(operation.settledValue) ? 'cancelled' : 'own';
}
