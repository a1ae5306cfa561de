// Looks at operations from outside: how often each settled and with what. Owner: its test.
// Invariants: watching does not count as asking for the outcome (giveBack still works) and takes
// care of failures, so that none is reported. Not here: models.
import { FULFILLED, type Operation, type OperationWaiter } from '../../../lib/base/operation.ts';

export class Watch implements OperationWaiter {
  nextWaiter: OperationWaiter | undefined = undefined;
  settledCount = 0;
  operationSettled(): void {
    this.settledCount++;
  }
}

export function watch<O extends Operation<unknown>>(operation: O): O {
  operation.subscribe(new Watch());
  return operation;
}

/** 'pending', `value`, or the code of the failure. */
export function outcomeOf(operation: Operation<unknown>): unknown {
  if (!operation.isSettled) return 'pending';
  if (operation.state === FULFILLED) return { value: operation.settledValue };
  return (operation.settledValue as { code?: string }).code;
}

/** The `yield*` of a task that stands at `operation`: driven by hand. */
export function standAt<T>(operation: Operation<T>): { leave(): void } {
  const iterator = operation[Symbol.iterator]();
  if (!operation.isSettled) iterator.next();
  return { leave: () => void iterator.return(undefined as T) };
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
