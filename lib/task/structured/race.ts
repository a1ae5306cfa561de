// race(): the first of several that settles; the others are cancelled and waited for.
// Owner: the task or caller. Invariants: it settles when every item has, unless a loser waits for
// the task that races; what a loser was granted goes back. Not here: what items are (item.ts).
import { AbortError, NephriteError, outOfRange } from '../../base/errors.ts';
import { FULFILLED, type Operation, PENDING, REJECTED } from '../../base/operation.ts';
import { cycleThroughPart } from '../join_cycle.ts';
import { labelOf, type Task } from '../task.ts';
import { Failures } from './failures.ts';
import { GroupOperation, operationsOf } from './group_operation.ts';
import { type Item, type ItemValue, kindOfRejection } from './item.ts';

/** The reason that losers are cancelled with. */
const LOST = 'lost the race';

class RaceOperation extends GroupOperation<unknown> {
  declare private winner: Operation<unknown> | undefined;
  declare private failures: Failures | undefined;

  constructor(items: readonly Operation<unknown>[]) {
    super(items);
    this.winner = undefined;
    this.failures = undefined;
    this.begin();
  }

  protected override noteItem(_index: number, item: Operation<unknown>): void {
    if (this.winner === undefined && this.decides(item)) {
      this.winner = item;
      this.stop(LOST);
    } else if (item.state === FULFILLED) {
      if (item !== this.winner) item.giveBack();
    } else if (kindOfRejection(item) === 'cleanup') {
      this.failures ??= new Failures('race()');
      this.failures.addCleanup(item.settledValue);
    }
  }

  /** In a cancelled race only what settled by itself does. */
  private decides(item: Operation<unknown>): boolean {
    return !this.isStopped || item.state === FULFILLED || kindOfRejection(item) === 'own';
  }

  /** A loser that cannot be cancelled may wait for the very task that waits for it from now on. */
  protected override stop(reason: unknown): void {
    super.stop(reason);
    const owner = this.owner as Task | undefined;
    if (owner === undefined) return;
    const cycle = cycleThroughPart(owner, this);
    if (cycle === undefined) return;
    if (this.winner !== undefined) this.winner.giveBack();
    const path = [...cycle, cycle[0]].map(labelOf).join(' -> ');
    const text = `race(): decided, but tasks wait for one another: ${path}`;
    this.reject(new NephriteError('ERR_JOIN_CYCLE', text));
  }

  protected override finish(): void {
    // A ring was found.
    if (this.isSettled) return;
    const { winner, failures } = this;
    if (failures !== undefined) {
      if (winner !== undefined) winner.giveBack();
      this.reject(failures.toError(this.errorOf(winner)));
    } else if (winner?.state === FULFILLED) {
      this.fulfill(winner.settledValue);
    } else {
      this.reject(winner === undefined ? this.errorOf(winner) : winner.settledValue);
    }
  }

  private errorOf(winner: Operation<unknown> | undefined): Error | undefined {
    if (winner === undefined) return new AbortError(this.cancelReason);
    return winner.state === REJECTED ? (winner.settledValue as Error) : undefined;
  }

  override giveBack(): void {
    if (this.winner !== undefined) this.winner.giveBack();
  }

  /** One of them is enough; when it is decided, the losers have to end. */
  override openParts(): Iterable<Operation<unknown>> {
    return this.isStopped ? this.items.filter(({ state }) => state === PENDING) : [];
  }

  override describeWait(): string {
    return `race of ${this.items.length}`;
  }
}

/**
 * The first of the items that settles decides, with its value or its failure; items as in all().
 * The others are cancelled and waited for: bodies end, locks and messages that they were granted
 * go back, tasks that were given are only left. A failure of a loser is not reported, except of its
 * clean-up, which the race rejects with.
 * A loser that cannot be cancelled and waits for the task that races would keep it waiting for
 * ever: the race rejects with ERR_JOIN_CYCLE.
 * @throws ERR_OUT_OF_RANGE without items, which nobody could win, and beyond 1,048,576;
 * ERR_INVALID_ARG_TYPE; what spawn() throws
 */
export function race<const I extends readonly Item<unknown>[]>(
  items: I,
): Operation<ItemValue<I[number]>>;
export function race<T>(items: Iterable<Item<T>>): Operation<T>;
export function race(items: Iterable<Item<unknown>>): Operation<unknown> {
  const operations = operationsOf(items);
  if (operations.length === 0) throw outOfRange('items.length', '>= 1', 0);
  return new RaceOperation(operations);
}
