// Scope: owns the tasks that are spawned through it; nothing outlives it. The first failure cancels
// siblings and body; leaving it joins them, or cancels them when the body failed or was cancelled.
// Owner: the task or caller that opened it. Invariants: a child is watched from its spawn on, so
// its failure is known before anybody who joins it hears of it; who waits for the scope is told
// when the last child has ended, never earlier.
// Not here: what becomes of several errors (failures.ts), the body form (scope_operation.ts).
import { AbortError, NephriteError } from '../../base/errors.ts';
import { Operation } from '../../base/operation.ts';
import { ownOperation } from '../../base/operation_owner.ts';
import type { CommandSink, TaskWatcher } from '../command_sink.ts';
import { currentTask } from '../current.ts';
import { joinError } from '../join.ts';
import { CompositeOperation } from '../join_cycle.ts';
import { CANCEL_REQUESTED, MASK_UNIT, OBSERVED, stateOf, WAITING } from '../state.ts';
import { labelOf, type Task } from '../task.ts';
import type { TaskBody } from '../task_body.ts';
import { currentSink } from '../thread_tasks.ts';
import { isDeaf } from './body_operation.ts';
import { Failures, kindOfFailure } from './failures.ts';

/** Settles when the scope has no open tasks. */
class ScopeJoin extends CompositeOperation<void> {
  declare private readonly scope: Scope;
  declare private isCancelled: boolean;
  declare private cancelReason: unknown;

  constructor(scope: Scope) {
    super();
    this.scope = scope;
    this.isCancelled = false;
    this.cancelReason = undefined;
    ownOperation(this);
  }

  override openParts(): Iterable<Task> {
    return this.scope.openTasks();
  }

  scopeEmptied(): void {
    if (this.isSettled) return;
    const abort = this.isCancelled ? new AbortError(this.cancelReason) : undefined;
    const { failures } = this.scope;
    if (failures.isEmpty && abort === undefined) this.fulfill(undefined);
    else this.reject(failures.isEmpty ? abort : failures.toError(abort));
  }

  override cancel(reason?: unknown): void {
    if (this.isSettled || this.isCancelled) return;
    this.isCancelled = true;
    this.cancelReason = reason;
    this.scope.cancel(reason);
  }

  override describeWait(): string {
    return this.scope.describeWait();
  }
}

/** The scope among what its opener has going on: cancelled when the opener is or has ended. */
class ScopeGuard extends Operation<void> {
  declare private readonly scope: Scope;

  constructor(scope: Scope) {
    super();
    this.scope = scope;
    ownOperation(this);
  }

  override cancel(reason?: unknown): void {
    this.scope.openerStopped(reason);
  }

  end(): void {
    if (!this.isSettled) this.fulfill(undefined);
  }

  override describeWait(): string {
    return this.scope.describeWait();
  }
}

/** Made by `scope()`; give it to helpers that spawn on the caller's behalf. */
export class Scope implements TaskWatcher, AsyncDisposable {
  static readonly name: string = 'Scope';
  /** @internal */
  readonly failures = new Failures('scope');
  /** Told when the last task has ended, before those who join. @internal */
  onEmptied: (() => void) | undefined = undefined;
  /** The task that runs the body. @internal */
  body: Task | undefined = undefined;
  readonly #sink: CommandSink;
  readonly #opener: Task | undefined;
  readonly #open = new Set<Task>();
  readonly #joins = new Set<ScopeJoin>();
  // Async bodies that waited when they were cancelled.
  readonly #interrupted = new WeakSet<Task>();
  #guard: ScopeGuard | undefined = undefined;
  #isGuarded = false;
  #failed: Task | undefined = undefined;
  #isCancelled = false;
  #cancelReason: unknown = undefined;
  #isDelivered = false;
  #isClosing = false;

  /** @internal */
  constructor() {
    this.#opener = currentTask();
    this.#sink = this.#opener?.sink ?? currentSink();
  }

  /** Ties it to the running task: scopes without a body. @internal */
  guard(): this {
    this.#isGuarded = this.#opener !== undefined;
    this.#renewGuard();
    return this;
  }

  // Joined scopes let go of their opener: a server's loop opens one for each request.
  #renewGuard(): void {
    if (!this.#isGuarded || this.#guard !== undefined || currentTask() !== this.#opener) return;
    this.#guard = new ScopeGuard(this);
  }

  #endGuard(): void {
    this.#guard?.end();
    this.#guard = undefined;
  }

  /** Tasks that have not ended, the body among them. */
  get openCount(): number {
    return this.#open.size;
  }

  /** cancel() was called, or a task has failed. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /**
   * Starts a task that the scope owns, as a child of the running task. In a cancelled scope it is
   * cancelled at once: its body is never entered.
   * @throws ERR_INVALID_STATE when the scope has been left; what spawn() throws
   */
  spawn<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Task<T> {
    if (this.#isClosing && this.#open.size === 0) {
      throw new NephriteError('ERR_INVALID_STATE', 'the scope has been left: it takes no tasks');
    }
    this.#renewGuard();
    const running = currentTask();
    const parent = running?.sink === this.#sink ? running : (this.body ?? this.#opener);
    const task = this.#sink.spawn(body, args, { watcher: this }, parent);
    this.#open.add(task as Task);
    if (this.#isCancelled) this.#stopTask(task as Task);
    return task;
  }

  /**
   * Waits until no task is open. Rejects with the failure of a task (of several: an AggregateError,
   * the first one first). When the running task has been cancelled, the tasks are cancelled.
   * Cancelling the operation cancels the tasks and waits for them.
   * @throws ERR_JOIN_CYCLE in a task of the scope
   */
  join(): Operation<void> {
    const running = currentTask();
    if (running !== undefined && this.#open.has(running)) {
      const text = `join(): ${labelOf(running)} belongs to the scope and would wait for itself`;
      throw new NephriteError('ERR_JOIN_CYCLE', text);
    }
    if (running !== undefined) this.#followCancellation(running);
    this.#isDelivered = true;
    if (this.#open.size === 0) this.#endGuard();
    return this.#wait();
  }

  #wait(): ScopeJoin {
    const join = new ScopeJoin(this);
    if (this.#open.size === 0) join.scopeEmptied();
    else this.#joins.add(join);
    return join;
  }

  // Also in a `finally` block, whose waits are masked.
  #followCancellation(running: Task): void {
    const isCancelled = (running.word & CANCEL_REQUESTED) !== 0 && running.word < MASK_UNIT;
    if (isCancelled) this.cancel(running.extras?.cancelReason);
  }

  /** Cancels every task of the scope, now and later; no failure. The first reason counts. */
  cancel(reason?: unknown): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#cancelReason = reason;
    for (const task of [...this.#open]) this.#stopTask(task);
  }

  #stopTask(task: Task): void {
    if (stateOf(task.word) === WAITING) this.#interrupted.add(task);
    // As their owner; no right is needed.
    task.sink.cancel(task, this.#cancelReason, undefined);
  }

  /**
   * For `await using`: waits for the tasks (cancels them first when the running task has been
   * cancelled) and rejects with their failure, unless join() has told it. A block that throws
   * cannot be told from one that ends: call cancel() where that matters, or use the form with a
   * body.
   */
  [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    const running = currentTask();
    if (running !== undefined) this.#followCancellation(running);
    const isDelivered = this.#isDelivered;
    this.#isDelivered = true;
    const join = this.#wait();
    // A promise of its own: `await` of an operation would throw TaskCancelledError in a cancelled
    // body, which is what it is being left with already.
    return new Promise<void>((resolve, reject) => {
      join.subscribe({
        nextWaiter: undefined,
        operationSettled: () => {
          this.#endGuard();
          if (isDelivered || this.failures.isEmpty) resolve();
          else reject(this.failures.toError());
        },
      });
    });
  }

  /** @internal */
  openerStopped(reason: unknown): void {
    this.cancel(reason);
    const opener = this.#opener;
    const failed = this.#failed;
    if (opener?.outcomeStatus === undefined || this.#isDelivered || failed === undefined) return;
    // Nobody has joined the scope, and nobody will: reported at the end of the opener.
    failed.word &= ~OBSERVED;
    const extras = opener.ensureExtras();
    extras.failedChildren ??= [];
    extras.failedChildren.push(failed);
  }

  /** @internal */
  taskCompleted(task: Task): void {
    this.#open.delete(task);
    const status = task.outcomeStatus;
    if (status === 'failure' || status === 'trap') this.#noteFailure(task);
    else if (status === 'cancelled' && task === this.body && !this.#isCancelled) {
      this.#fail(task, joinError(task));
    }
    if (this.#open.size > 0) return;
    if (this.#isDelivered) this.#endGuard();
    if (this.body !== undefined) this.#isClosing = true;
    this.onEmptied?.();
    for (const join of this.#joins) join.scopeEmptied();
    this.#joins.clear();
  }

  #noteFailure(task: Task): void {
    const error = joinError(task);
    if (!this.#isCancelled) {
      this.#fail(task, error);
      return;
    }
    const kind = kindOfFailure(task, error, this.#interrupted.has(task));
    this.failures.addByKind(kind, error);
    if (kind === 'cancelled') return;
    this.#failed ??= task;
    if (isDeaf(this.#opener)) task.word &= ~OBSERVED;
  }

  #fail(task: Task, error: unknown): void {
    this.#failed = task;
    this.failures.add(error);
    this.cancel(error);
  }

  /** @internal */
  openTasks(): Iterable<Task> {
    return this.#open;
  }

  /** @internal */
  describeWait(): string {
    return `scope (${this.#open.size} tasks)`;
  }
}
