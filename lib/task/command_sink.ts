// CommandSink: how tasks, timers and completions reach the bus from below (DESIGN 3). The bus
// implements it; lib/task knows nothing above this interface.
// Owner: one per scheduler. Invariants: every change of scheduler state goes through it (S-16).
// Not here: checks of rights, recording (bus/), queues (scheduler/).
import type { Clock, TimerPort } from '../time/timer_port.ts';
import type { Task } from './task.ts';
import type { TaskBody } from './task_body.ts';

/** What a task may do to others; capabilities as lib/task sees them (S-20: checked at the bus). */
export interface TaskRights {
  readonly spawn: boolean;
  readonly cancelOthers: boolean;
  readonly configure: boolean;
}

/** All that the task layer knows of an engine; made from its EngineRuntimeConfig (S-14). */
export interface TaskEngine {
  readonly engineId: string;
  /** Reductions per slice. */
  readonly reductionLimit: number;
  readonly overrunPolicy: 'drift' | 'skip' | 'queue';
  /** @throws ERR_ENGINE_NO_TIMER_WHEEL (S-15) */
  timers(): TimerPort;
  /** Counts of periodic work, for metrics. */
  readonly periodic: PeriodicCounters;
}

/** What `every` reports to its engine. */
export interface PeriodicCounters {
  /** Runs per second that were asked for, summed over the running periodic tasks. */
  targetRate: number;
  /** Runs that have ended. */
  runCount: number;
  /** Periods that were over before their run could start. */
  overrunCount: number;
  /** Sum over the runs; 0 unless isTimed. */
  handlerDurationMs: number;
  /** Whether durations are recorded (metricsConfig). */
  isTimed: boolean;
}

/** What `rt.with({...})` sets; undefined fields are inherited from the parent. */
export interface TaskSettings {
  readonly name?: string | undefined;
  readonly engine?: TaskEngine | undefined;
  readonly rights?: TaskRights | undefined;
  /** On the runtime's clock; children inherit the minimum. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told when the task completes, before those who join it: scopes. */
  readonly watcher?: TaskWatcher | undefined;
}

/** Somebody who owns the task and is told of its end; counts as an observer of its failure. */
export interface TaskWatcher {
  taskCompleted(task: Task<unknown>): void;
}

export interface CommandSink {
  readonly clock: Clock;
  readonly defaultEngine: TaskEngine;
  /**
   * Creates a task and makes it runnable.
   * @throws ERR_CAPABILITY_DENIED, ERR_QUEUE_FULL, ERR_RUNTIME_CLOSED
   */
  spawn<T, A extends unknown[]>(
    body: TaskBody<T, A>,
    args: A,
    settings: TaskSettings | undefined,
    parent: Task<unknown> | undefined,
  ): Task<T>;
  /** What the waiting task waits for has settled. */
  wake(task: Task<unknown>): void;
  /** False if it has completed or was asked before. @throws ERR_CAPABILITY_DENIED */
  cancel(task: Task<unknown>, reason: unknown, issuer: Task<unknown> | undefined): boolean;
  queryCancellation(task: Task<unknown>): boolean;
  /** An async body at a checkpoint: settles when it may go on, in order. */
  giveWay(): PromiseLike<void>;
}
