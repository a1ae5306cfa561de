// GroupOperation: one operation made of several; when it is decided, those that are still open are
// cancelled, and it settles when all have settled: nothing goes on behind the caller's back.
// Owner: the task or caller. Invariants: each item is waited for; a decision is made once.
// Not here: what decides (all.ts, race.ts).
import { invalidArgType, outOfRange } from '../../base/errors.ts';
import type { Operation, OperationWaiter } from '../../base/operation.ts';
import { ownOperation } from '../../base/operation_owner.ts';
import { CompositeOperation } from '../join_cycle.ts';
import { spawnOwned } from './body_operation.ts';
import { checkItem, type Item, operationOf } from './item.ts';

/** Items of one call. */
export const ITEMS_MAX = 1_048_576;

class GroupWaiter implements OperationWaiter {
  nextWaiter: OperationWaiter | undefined = undefined;
  readonly #group: GroupOperation<unknown>;
  readonly #index: number;

  constructor(group: GroupOperation<unknown>, index: number) {
    this.#group = group;
    this.#index = index;
  }

  operationSettled(operation: Operation<unknown>): void {
    this.#group.itemSettled(this.#index, operation);
  }
}

export abstract class GroupOperation<T> extends CompositeOperation<T> {
  declare protected readonly items: readonly Operation<unknown>[];
  declare protected openCount: number;
  /** Decided or cancelled: nothing more is wanted of the items. */
  declare protected isStopped: boolean;
  declare protected isCancelled: boolean;
  declare protected cancelReason: unknown;

  constructor(items: readonly Operation<unknown>[]) {
    super();
    this.items = items;
    this.openCount = items.length;
    this.isStopped = false;
    this.isCancelled = false;
    this.cancelReason = undefined;
  }

  /** Called at the end of the constructor. */
  protected begin(): void {
    ownOperation(this);
    const { items } = this;
    for (let i = 0; i < items.length; i++) {
      items[i].subscribe(new GroupWaiter(this as GroupOperation<unknown>, i));
    }
  }

  itemSettled(index: number, item: Operation<unknown>): void {
    this.noteItem(index, item);
    // The note may have cancelled the others, and they may have settled at once.
    this.openCount--;
    if (this.openCount === 0) this.finish();
  }

  protected abstract noteItem(index: number, item: Operation<unknown>): void;
  /** All have settled. */
  protected abstract finish(): void;

  protected stop(reason: unknown): void {
    if (this.isStopped) return;
    this.isStopped = true;
    for (const item of this.items) item.cancel(reason);
  }

  override cancel(reason?: unknown): void {
    if (this.isSettled || this.isStopped) return;
    this.isCancelled = true;
    this.cancelReason = reason;
    this.stop(reason);
  }
}

function memberOf(item: Item<unknown>): Operation<unknown> {
  if (typeof item !== 'function') return operationOf(item);
  const operation = spawnOwned(item);
  operation.isQuiet = true;
  return operation;
}

/** Checks all items, then starts them in order. */
export function operationsOf(items: Iterable<Item<unknown>>): Operation<unknown>[] {
  const isIterable =
    typeof items === 'object' && items !== null && typeof items[Symbol.iterator] === 'function';
  if (!isIterable) throw invalidArgType('items', 'an array', items);
  const list = [...items];
  if (list.length > ITEMS_MAX) {
    throw outOfRange('items.length', `<= ${ITEMS_MAX}`, list.length);
  }
  for (const [index, item] of list.entries()) checkItem(`items[${index}]`, item);
  const operations: Operation<unknown>[] = [];
  try {
    for (const item of list) operations.push(memberOf(item));
  } catch (error) {
    // The queue is full, a right is missing: those that were started are not left behind.
    for (const operation of operations) {
      operation.markObserved();
      operation.cancel(error);
    }
    throw error;
  }
  return operations;
}
