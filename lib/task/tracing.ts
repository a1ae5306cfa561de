// Tracing: tasks on a TracingChannel `nephrite.task` (node:diagnostics_channel), for APM tools.
// start and end are around the spawn: a store that is bound to `start` is the body's. When the task
// has completed: error (unless it succeeded), asyncStart, those who wait are told, asyncEnd.
// Owner: module state of one thread. Invariants: silent and free while nobody listens: one boolean,
// looked up once a turn and at spawns from outside; a task that was spawned unheard stays so.
// Not here: commands and decisions of the scheduler (bus/tap.ts).
import { tracingChannel } from 'node:diagnostics_channel';
import { joinError } from './join.ts';
import type { Outcome } from './outcome.ts';
import type { Task } from './task.ts';

/** One object per task, the same in all events of it. */
export class TaskTrace {
  readonly task: Task;
  /** Set before asyncStart. */
  outcome: Outcome<unknown> | undefined = undefined;
  /** As Node's: the value of a task that succeeded. */
  result: unknown = undefined;
  /** As Node's: what join() rejects with. */
  error: unknown = undefined;

  constructor(task: Task) {
    this.task = task;
  }

  get id(): number {
    return this.task.id;
  }

  get name(): string {
    return this.task.name;
  }

  /** Undefined for tasks that were spawned from outside. */
  get parentId(): number | undefined {
    return this.task.parent?.id;
  }
}

const channels = tracingChannel<unknown, TaskTrace>('nephrite.task');
const { start, end, asyncStart, asyncEnd, error: failed } = channels;
const traces = new WeakMap<Task, TaskTrace>();

/** Somebody listens; read at each spawn and completion. */
export const taskTracing = { isActive: false };

/** Looks whether somebody listens. */
export function refreshTracing(): void {
  // TracingChannel.hasSubscribers exists from Node 20.13 on only with all five.
  taskTracing.isActive =
    start.hasSubscribers ||
    end.hasSubscribers ||
    asyncStart.hasSubscribers ||
    asyncEnd.hasSubscribers ||
    failed.hasSubscribers;
}

/** Publishes start and end; `capture` runs in the stores that are bound to start. */
export function traceSpawn<R>(task: Task, capture: () => R): R {
  const trace = new TaskTrace(task);
  traces.set(task, trace);
  try {
    return start.runStores(trace, capture);
  } finally {
    end.publish(trace);
  }
}

/** The outcome is written, nobody knows it yet. Returns what traceCompleted() takes. */
export function traceCompletion(task: Task): TaskTrace | undefined {
  const trace = traces.get(task);
  if (trace === undefined) return undefined;
  trace.outcome = task.outcome as Outcome<unknown>;
  if (task.outcomeStatus === 'success') trace.result = task.outcomeValue;
  else {
    trace.error = joinError(task);
    failed.publish(trace);
  }
  asyncStart.publish(trace);
  return trace;
}

/** Those who waited have been told. */
export function traceCompleted(trace: TaskTrace): void {
  asyncEnd.publish(trace);
}
