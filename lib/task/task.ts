// Task: the smallest unit the scheduler manages (S-3): a suspendable execution with a scheduling
// state, an outcome, a budget and an engine. The object is both what users hold and what the
// scheduler links into its queues.
// Owner: one worker thread. Invariants: the state changes through state.ts only, by commands of the
// bus (S-16); exactly one outcome, written once; no mailbox (S-17); not thenable itself.
// Not here: how a body is stepped (execution.ts), queues (scheduler/), joins (join.ts).
import type { AsyncResource } from 'node:async_hooks';
import { inspect } from 'node:util';
import { NephriteError } from '../base/errors.ts';
import type { Operation, OperationWaiter } from '../base/operation.ts';
import { type OperationOwner, operationOwner } from '../base/operation_owner.ts';
import type { Waitable } from '../base/suspension.ts';
import type { CommandSink, TaskEngine, TaskRights } from './command_sink.ts';
import { currentTask } from './current.ts';
import type { Execution } from './execution.ts';
import { JoinOperation, OutcomeOperation } from './join.ts';
import type { Outcome } from './outcome.ts';
import { ProgressFeed } from './progress.ts';
import { CANCEL_REQUESTED, type StateName, stateName } from './state.ts';
import type { TaskBody } from './task_body.ts';
import { TaskExtras } from './task_extras.ts';

/** A spawned task. `cancel()` is cooperative; `join()` waits for its value. */
export class Task<T = unknown> implements OperationWaiter, OperationOwner {
  /** Unique in its runtime, from 1 on. */
  declare readonly id: number;
  // Below: the scheduler's. All fields are assigned in the constructor, in one order: one hidden
  // class, and 10 % less for a spawn and join than with class fields.
  /** @internal */
  declare word: number;
  /** Link of the run queue, or of the operation, that it is in. @internal */
  declare nextWaiter: OperationWaiter | undefined;
  /** @internal */
  declare execution: Execution | undefined;
  /** The generator, or what an async body waits for. @internal */
  declare frame: unknown;
  /** @internal */
  declare waitingFor: Waitable | undefined;
  /** @internal */
  declare reductionCount: number;
  /** @internal */
  declare readonly sink: CommandSink;
  /** @internal */
  declare readonly engine: TaskEngine;
  /** @internal */
  declare readonly rights: TaskRights;
  /** Kept after the start for its name. @internal */
  declare readonly body: TaskBody<T, never>;
  /** @internal */
  declare args: unknown[] | undefined;
  /** @internal */
  declare parent: Task | undefined;
  /** Doubly linked list of all tasks that have not completed. @internal */
  declare previousLive: Task | undefined;
  /** @internal */
  declare nextLive: Task | undefined;
  /** In 1/64 s: a small integer for a year, where a double is an object of its own. @internal */
  declare readonly spawnedAtTicks: number;
  /** @internal */
  declare outcomeStatus: Outcome<T>['status'] | undefined;
  /** What the last step gave; in the end value, error, trap info or reason. @internal */
  declare outcomeValue: unknown;
  /** Who waits for the outcome, in order. @internal */
  declare firstJoin: JoinOperation<unknown> | undefined;
  /** @internal */
  declare lastJoin: JoinOperation<unknown> | undefined;
  /** Operations it has started that are open. @internal */
  declare firstOwned: Operation<unknown> | undefined;
  /** @internal */
  declare context: AsyncResource | undefined;
  /** @internal */
  declare extras: TaskExtras | undefined;

  /** @internal Tasks are made by the bus. */
  constructor(
    id: number,
    sink: CommandSink,
    body: TaskBody<T, never>,
    args: unknown[],
    engine: TaskEngine,
    rights: TaskRights,
    parent: Task | undefined,
    spawnedAtTicks: number,
  ) {
    this.id = id;
    this.word = 0;
    this.sink = sink;
    this.engine = engine;
    this.rights = rights;
    this.body = body;
    this.args = args;
    this.parent = parent;
    this.spawnedAtTicks = spawnedAtTicks;
    this.nextWaiter = undefined;
    this.execution = undefined;
    this.frame = undefined;
    this.waitingFor = undefined;
    this.reductionCount = 0;
    this.previousLive = undefined;
    this.nextLive = undefined;
    this.outcomeStatus = undefined;
    this.outcomeValue = undefined;
    this.firstJoin = undefined;
    this.lastJoin = undefined;
    this.firstOwned = undefined;
    this.context = undefined;
    this.extras = undefined;
  }

  /** Given by `rt.with({ name })`, else the body's own name, else 'anonymous'. */
  get name(): string {
    return this.extras?.name ?? (this.body.name || 'anonymous');
  }

  get state(): StateName {
    return stateName(this.word);
  }

  get engineId(): string {
    return this.engine.engineId;
  }

  /** Reductions used so far: one per resume, `cost` per checkpoint. */
  get reductions(): number {
    return this.reductionCount;
  }

  /** What it waits for, in words; undefined unless it waits. */
  get waitCondition(): string | undefined {
    return this.state === 'waiting' ? this.waitingFor?.describeWait() : undefined;
  }

  /** Sticky: stays true once cancel() was called (S-13). */
  get cancellationRequested(): boolean {
    return this.sink.queryCancellation(this as Task);
  }

  /** The same as cancellationRequested, as `current().cancelled` in long computations. */
  get cancelled(): boolean {
    return (this.word & CANCEL_REQUESTED) !== 0;
  }

  /** Undefined until the task has completed. */
  get outcome(): Outcome<T> | undefined {
    switch (this.outcomeStatus) {
      case 'success':
        return { status: 'success', value: this.outcomeValue as T };
      case 'failure':
        return { status: 'failure', error: this.outcomeValue };
      case 'trap':
        return { status: 'trap', info: this.outcomeValue as never };
      case 'cancelled':
        return { status: 'cancelled', reason: this.outcomeValue };
      default:
        return undefined;
    }
  }

  /** Aborted when cancellation is requested. Made at first use; for APIs that take a signal. */
  get signal(): AbortSignal {
    return this.ensureExtras().signalFor(this as Task);
  }

  /**
   * Requests cancellation: cooperative and sticky; a waiting task is woken when what it waits for
   * has stopped, a running one sees it at its next suspension or checkpoint, one that never ran is
   * never entered. `reason` reaches TaskCancelledError and the outcome.
   * Returns false, and does nothing, if the task has completed or was asked before.
   * @throws ERR_CAPABILITY_DENIED in a task without `cancelOthers`, except for its own descendants
   */
  cancel(reason?: unknown): boolean {
    return this.sink.cancel(this as Task, reason, currentTask());
  }

  /**
   * Its value: `yield* task.join()` or `await task.join()`. Rejects with what the body threw, with
   * TaskTrapError or TaskCancelledError. Cancelling the join leaves the task alone.
   * @throws ERR_JOIN_CYCLE when a task joins itself
   */
  join(): Operation<T> {
    this.#refuseSelf('join');
    return new JoinOperation<T>(this);
  }

  /** Its outcome; never rejects because of how the task ended. @throws ERR_JOIN_CYCLE */
  settled(): Operation<Outcome<T>> {
    this.#refuseSelf('settled');
    return new OutcomeOperation<T>(this);
  }

  #refuseSelf(what: string): void {
    if (operationOwner.current !== this && currentTask() !== (this as Task)) return;
    throw new NephriteError('ERR_JOIN_CYCLE', `${what}(): ${labelOf(this)} would wait for itself`);
  }

  /**
   * What the body reports through report(), from now on: an async iterator that ends with the task.
   * At most 256 reports wait for a slow reader; then the oldest are dropped (`droppedCount`).
   */
  progress(): ProgressFeed {
    const feed = new ProgressFeed();
    if (this.outcomeStatus !== undefined) feed.end();
    else this.ensureExtras().addFeed(feed);
    return feed;
  }

  /** Rarely needed state, made at first use. @internal */
  ensureExtras(): TaskExtras {
    this.extras ??= new TaskExtras();
    return this.extras;
  }

  /** Its wait is over. @internal */
  operationSettled(_operation: Operation<unknown>): void {
    this.sink.wake(this as Task);
  }

  /** @internal */
  own(operation: Operation<unknown>): void {
    const first = this.firstOwned;
    operation.owner = this;
    operation.nextOwned = first;
    if (first !== undefined) first.previousOwned = operation;
    this.firstOwned = operation;
  }

  /** @internal */
  disown(operation: Operation<unknown>): void {
    const { previousOwned, nextOwned } = operation;
    if (previousOwned === undefined) this.firstOwned = nextOwned;
    else previousOwned.nextOwned = nextOwned;
    if (nextOwned !== undefined) nextOwned.previousOwned = previousOwned;
    operation.owner = undefined;
    operation.nextOwned = undefined;
    operation.previousOwned = undefined;
  }

  // No `static name`, which dist/ would need: it keeps V8 from optimizing (join.ts).
  get [Symbol.toStringTag](): string {
    return 'Task';
  }

  [inspect.custom](): string {
    return `Task { ${labelOf(this)}, ${this.outcomeStatus ?? this.state} }`;
  }
}

/** 'load #7', for messages. */
export function labelOf(task: Pick<Task<unknown>, 'id' | 'name'>): string {
  return `${task.name} #${task.id}`;
}
