// all(): waits for several at once; the first failure cancels the rest.
// Owner: the task or caller. Invariants: it settles when every item has; values that nobody gets
// are given back. Not here: what items are (item.ts), how errors are joined (failures.ts).
import { AbortError } from '../../base/errors.ts';
import { FULFILLED, fulfilledOperation, type Operation } from '../../base/operation.ts';
import { Failures } from './failures.ts';
import { GroupOperation, operationsOf } from './group_operation.ts';
import { type Item, type ItemValue, kindOfRejection } from './item.ts';

class AllOperation extends GroupOperation<unknown[]> {
  declare private readonly values: unknown[];
  declare private failures: Failures | undefined;
  declare private isIncomplete: boolean;

  constructor(items: readonly Operation<unknown>[]) {
    super(items);
    this.values = new Array<unknown>(items.length);
    this.failures = undefined;
    this.isIncomplete = false;
    this.begin();
  }

  protected override noteItem(index: number, item: Operation<unknown>): void {
    const value = item.settledValue;
    if (item.state === FULFILLED) {
      this.values[index] = value;
      return;
    }
    this.isIncomplete = true;
    this.failures ??= new Failures('all()');
    if (this.isStopped) {
      this.failures.addByKind(kindOfRejection(item), value);
      return;
    }
    this.failures.add(value);
    this.stop(value);
  }

  protected override finish(): void {
    const { failures } = this;
    if (!this.isIncomplete) {
      this.fulfill(this.values);
      return;
    }
    this.giveBack();
    const abort = this.isCancelled ? new AbortError(this.cancelReason) : undefined;
    this.reject(failures === undefined || failures.isEmpty ? abort : failures.toError(abort));
  }

  override giveBack(): void {
    // One may have been given twice.
    for (const item of new Set(this.items)) item.giveBack();
  }

  /** Each of them has to settle. */
  override openParts(): Iterable<Operation<unknown>> {
    return this.items.filter((item) => !item.isSettled);
  }

  override describeWait(): string {
    return `all of ${this.items.length} (${this.openCount} open)`;
  }
}

/**
 * Waits for all items: operations, tasks (their join), promises, or bodies, which are spawned as
 * children. Gives the values in order. The first failure cancels the rest, waits for them, and
 * rejects with that failure itself; if others failed by themselves too, with an AggregateError, the
 * first failure first. Cancelling cancels what is open and waits for it; tasks that were given are
 * only left, bodies are cancelled. `all([])` is `[]`.
 * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE beyond 1,048,576 items, what spawn() throws
 */
export function all<const I extends readonly Item<unknown>[]>(
  items: I,
): Operation<{ -readonly [K in keyof I]: ItemValue<I[K]> }>;
export function all<T>(items: Iterable<Item<T>>): Operation<T[]>;
export function all(items: Iterable<Item<unknown>>): Operation<unknown[]> {
  const operations = operationsOf(items);
  if (operations.length === 0) return fulfilledOperation<unknown[]>([]);
  return new AllOperation(operations);
}
