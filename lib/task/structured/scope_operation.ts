// scope(): opens a scope, with a body that runs as a task of it, or without.
// Owner: the task or caller. Invariants: it settles when body and children have ended; the value is
// the body's, a failure of any of them is the scope's.
// Not here: the children (scope.ts).
import { AbortError } from '../../base/errors.ts';
import { disposeLate } from '../../base/late_value.ts';
import type { Operation } from '../../base/operation.ts';
import { ownOperation } from '../../base/operation_owner.ts';
import { joinError } from '../join.ts';
import { CompositeOperation } from '../join_cycle.ts';
import type { Task } from '../task.ts';
import { checkBody, type TaskBody, type TaskGenerator } from '../task_body.ts';
import { Scope } from './scope.ts';

class ScopeOperation<T> extends CompositeOperation<T> {
  declare private readonly scope: Scope;
  declare private readonly body: Task<T>;
  declare private isCancelled: boolean;
  declare private cancelReason: unknown;

  constructor(body: TaskBody<T, [Scope]>) {
    super();
    this.isCancelled = false;
    this.cancelReason = undefined;
    this.scope = new Scope();
    this.body = this.scope.spawn(body, this.scope);
    this.scope.body = this.body as Task;
    this.scope.onEmptied = () => this.scopeEmptied();
    ownOperation(this);
  }

  private scopeEmptied(): void {
    const { failures } = this.scope;
    const { outcomeStatus, outcomeValue } = this.body;
    const isSuccess = outcomeStatus === 'success';
    const abort = this.isCancelled ? new AbortError(this.cancelReason) : undefined;
    if (isSuccess && failures.isEmpty && abort === undefined) {
      this.fulfill(outcomeValue as T);
      return;
    }
    // The body was done, a child was not: what it gave reaches nobody.
    if (isSuccess) disposeLate(outcomeValue);
    if (failures.isEmpty) this.reject(abort ?? joinError(this.body as Task));
    else this.reject(failures.toError(abort));
  }

  override openParts(): Iterable<Task> {
    return this.scope.openTasks();
  }

  override cancel(reason?: unknown): void {
    if (this.isSettled || this.isCancelled) return;
    this.isCancelled = true;
    this.cancelReason = reason;
    this.scope.cancel(reason);
  }

  /** What a body gave may belong to others as well. */
  override giveBack(): void {}

  override describeWait(): string {
    return this.scope.describeWait();
  }
}

/**
 * Opens a scope: `yield* scope(function* (s) { s.spawn(...); return value; })`, in ordinary code
 * and async bodies `await scope(async (s) => …)`. The body runs as a child task. The scope ends
 * when the body and all that was spawned through it have ended, and gives the body's value.
 * - A failure of the body or of a task cancels all the others; when they have ended, it is rethrown
 *   as it is. Several: AggregateError, the first one first. Failures of `finally` blocks that the
 *   cancellation ran: SuppressedError. Joining a task and catching its failure does not undo it.
 * - A task that was cancelled by itself is no failure; if the body was, TaskCancelledError.
 * - Cancelling the task that waits cancels body and tasks, and waits for them.
 *
 * Without a body it gives the Scope itself, for `await using s = scope()`; it is joined when it is
 * left, and cancelled when the task that opened it is cancelled or ends.
 * @throws ERR_INVALID_ARG_TYPE, what spawn() throws
 */
export function scope(): Scope;
export function scope<T>(body: (s: Scope) => TaskGenerator<T>): Operation<T>;
export function scope<T>(body: (s: Scope) => PromiseLike<T>): Operation<T>;
export function scope<T>(body: (s: Scope) => T): Operation<T>;
export function scope<T>(body?: TaskBody<T, [Scope]>): Scope | Operation<T> {
  if (body === undefined) return new Scope().guard();
  checkBody(body);
  return new ScopeOperation<T>(body);
}
