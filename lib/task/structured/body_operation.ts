// BodyOperation: a body as a child task that belongs to whoever waits for it: cancelling the
// operation cancels the task, and it settles when the task has completed, never earlier.
// Owner: the task that made it. Invariants: the failure of a task that nobody can be told of any
// more counts as unobserved, so it is reported.
// Not here: joins of tasks that belong to others (join.ts), groups (scope.ts).
import { AbortError, TimeoutError } from '../../base/errors.ts';
import { ownOperation } from '../../base/operation_owner.ts';
import type { TaskSettings } from '../command_sink.ts';
import { currentTask } from '../current.ts';
import { JoinOperation, joinError } from '../join.ts';
import { suppress } from '../outcome.ts';
import {
  ASYNC_BODY,
  CANCEL_REQUESTED,
  COMPLETED,
  OBSERVED,
  stateOf,
  WAIT_CANCELLED,
  WAITING,
} from '../state.ts';
import type { Task } from '../task.ts';
import type { TaskBody } from '../task_body.ts';
import { currentSink } from '../thread_tasks.ts';
import { cleanupError, type FailureKind, kindOfFailure } from './failures.ts';

/** Whether what the task waits for can reach it no more: it has ended, or is told to return. */
export function isDeaf(task: Task | undefined): boolean {
  if (task === undefined) return false;
  if (stateOf(task.word) === COMPLETED) return true;
  return (task.word & (WAIT_CANCELLED | ASYNC_BODY)) === WAIT_CANCELLED;
}

// What a quiet one is rejected with when it was cancelled; making an error costs microseconds.
const QUIET = new AbortError();

export class BodyOperation<T> extends JoinOperation<T> {
  declare private readonly waiting: Task | undefined;
  declare private readonly timeoutMs: number;
  /** Only a group has it, which asks failureKind() and never shows the AbortError. */
  declare isQuiet: boolean;
  declare private isStopped: boolean;
  declare private stopReason: unknown;
  declare private wasInterrupted: boolean;

  /** `timeoutMs`: what its deadline came from, for the error; Infinity: no deadline of its own. */
  constructor(target: Task<T>, timeoutMs: number) {
    super(target);
    this.waiting = currentTask();
    this.timeoutMs = timeoutMs;
    this.isQuiet = false;
    this.isStopped = false;
    this.stopReason = undefined;
    this.wasInterrupted = false;
    ownOperation(this);
  }

  override cancel(reason?: unknown): void {
    if (this.isSettled || this.isStopped) return;
    this.isStopped = true;
    this.stopReason = reason;
    const { target } = this;
    this.wasInterrupted = stateOf(target.word) === WAITING;
    // As its owner; no right is needed.
    target.sink.cancel(target, reason, undefined);
  }

  /** Of its rejection. */
  failureKind(): FailureKind {
    const { target } = this;
    if (target.outcomeStatus === 'cancelled') return this.isStopped ? 'cancelled' : 'own';
    return kindOfFailure(target, target.outcomeValue, this.wasInterrupted);
  }

  override taskCompleted(): void {
    const { target } = this;
    const value = target.outcomeValue;
    if (target.outcomeStatus === 'success') {
      this.fulfill(value as T);
      return;
    }
    const isCancelled = target.outcomeStatus === 'cancelled';
    const isExpired = (target.word & CANCEL_REQUESTED) !== 0 && !this.isStopped;
    const reason = target.extras?.cancelReason;
    if (isExpired && reason instanceof TimeoutError) {
      const timeout = this.timeoutMs === Infinity ? reason : new TimeoutError(this.timeoutMs);
      this.reject(isCancelled ? timeout : this.afterTimeout(timeout));
      return;
    }
    if (isCancelled && this.isStopped) {
      this.reject(this.isQuiet ? QUIET : new AbortError(this.stopReason));
      return;
    }
    if (!isCancelled && isDeaf(this.waiting)) target.word &= ~OBSERVED;
    this.reject(joinError(target));
  }

  /** It failed although its deadline had passed. */
  private afterTimeout(timeout: TimeoutError): unknown {
    const error = joinError(this.target);
    // The deadline's own timer has cancelled it: whether it waited then is not known here.
    const kind = kindOfFailure(this.target, error, true);
    if (kind === 'own') return error;
    if (kind === 'cancelled') return timeout;
    return suppress(cleanupError(error), timeout, `${this.target.name} failed after its deadline`);
  }
}

/** Spawns the body as a child of the running task. @throws what spawn() throws */
export function spawnOwned<T>(
  body: TaskBody<T>,
  settings?: TaskSettings,
  timeoutMs = Infinity,
): BodyOperation<T> {
  const parent = currentTask();
  const sink = parent?.sink ?? currentSink();
  return new BodyOperation<T>(sink.spawn(body, [], settings, parent), timeoutMs);
}
