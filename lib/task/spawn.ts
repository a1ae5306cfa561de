// spawn: new parallel work comes about by this only (S-10). Owner: none.
// Not here: settings (`rt.with`), mobile tasks.
import { currentTask, requireTask } from './current.ts';
import type { Task } from './task.ts';
import type { TaskBody } from './task_body.ts';
import { currentSink } from './thread_tasks.ts';

const NONE: readonly unknown[] = Object.freeze([]);

/**
 * Starts a task on this thread: a child of the running task, whose engine, capabilities and
 * deadline it inherits. Outside tasks it runs on the thread's own scheduler. Children run before
 * tasks that were runnable already, the last spawned first.
 * @throws ERR_INVALID_ARG_TYPE if the body is no function, ERR_CAPABILITY_DENIED, ERR_QUEUE_FULL,
 * ERR_RUNTIME_CLOSED, ERR_ENGINE_LIMIT
 */
export function spawn<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Task<T> {
  const parent = currentTask();
  // Without arguments their array is never stored, and so never made.
  const given = args.length === 0 ? (NONE as unknown as A) : args;
  return (parent?.sink ?? currentSink()).spawn(body, given, undefined, parent);
}

/** The same under the name that says it: the task stays on the calling thread. */
export const spawnLocal = spawn;

/** The running task: `current().cancelled`, `current().name`. @throws ERR_NOT_IN_TASK */
export function current(): Task {
  return requireTask('current()');
}

/** Tells whoever reads `task.progress()` of the running task. @throws ERR_NOT_IN_TASK */
export function report(value: unknown): void {
  requireTask('report()').extras?.report(value);
}
