// SchedulerPort: what the bus asks of the scheduler below it; the scheduler implements it and
// nobody but the bus calls it (S-16). Owner: none, types only.

import type { Operation } from '../base/operation.ts';
import type { TaskEngine } from '../task/command_sink.ts';
import type { Task } from '../task/task.ts';
import type { Clock } from '../time/timer_port.ts';

export interface SchedulerPort {
  readonly clock: Clock;
  /** The clock as it was last read: no system call. */
  readonly lastNowMs: number;
  /** The same in 1/64 s. */
  readonly lastNowTicks: number;
  readonly defaultEngine: TaskEngine;
  /** @throws ERR_RUNTIME_CLOSED, ERR_QUEUE_FULL, ERR_ENGINE_LIMIT */
  checkAdmission(engine: TaskEngine, isChild: boolean): void;
  /** A task made by the bus enters its queue. */
  admit(task: Task, isChild: boolean): void;
  /** Running -> Waiting. */
  suspend(task: Task, waitable: Operation<unknown>): void;
  /** Running -> Runnable, at the end of the queue. */
  requeue(task: Task): void;
  /** Waiting -> Runnable. */
  makeRunnable(task: Task): void;
  /** False if it has completed or was asked before. */
  requestCancel(task: Task, reason: unknown): boolean;
  taskById(id: number): Task | undefined;
  /** Something waits in the bus's inbox: a turn is needed. */
  requestTurn(): void;
  giveWay(): PromiseLike<void>;
  /** @throws ERR_ENGINE_UNKNOWN */
  engineById(engineId: string): TaskEngine;
  /** @throws ERR_ENGINE_EXISTS and ERR_INVALID_ARG_* */
  registerEngine(config: unknown): unknown;
  /** @throws ERR_ENGINE_UNKNOWN and ERR_INVALID_ARG_* */
  updateEngine(engineId: string, changes: unknown): unknown;
}
