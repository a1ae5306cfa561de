// The running task: a variable for generator bodies, our own AsyncLocalStorage for async ones.
// Owner: module state of one thread; written by the scheduler at each dispatch.
// Invariants: the storage exists only after the first async body was spawned, since an active
// store triples the cost of `await` (DESIGN 6).
// Not here: what AsyncLocalStorage of the user sees (async_context.ts).
import { AsyncLocalStorage } from 'node:async_hooks';
import { NephriteError } from '../base/errors.ts';
import { operationOwner } from '../base/operation_owner.ts';
import type { Task } from './task.ts';

/** The generator task that runs now: the owner of what is started. Written by the scheduler. */
export const running = {
  get task(): Task<unknown> | undefined {
    return operationOwner.current as Task<unknown> | undefined;
  },
};

let storage: AsyncLocalStorage<Task<unknown>> | undefined;

/** The task whose code runs now; undefined outside tasks. */
export function currentTask(): Task<unknown> | undefined {
  // Not through `running`: V8 calls its getter out of line, which costs spawn 10 ns.
  return (operationOwner.current as Task<unknown> | undefined) ?? storage?.getStore();
}

/** The task whose async body runs now. */
export function currentAsyncTask(): Task<unknown> | undefined {
  return storage?.getStore();
}

/** @throws ERR_NOT_IN_TASK */
export function requireTask(what: string): Task<unknown> {
  const task = currentTask();
  if (task === undefined) {
    throw new NephriteError('ERR_NOT_IN_TASK', `${what} must be called inside a task`);
  }
  return task;
}

/** Runs what is not the code of the async task that has it run, and keeps the user's stores. */
export function runOutsideAsync<R>(run: () => R): R {
  if (storage?.getStore() === undefined) return run();
  // Not exit(), which disables the storage for everybody meanwhile.
  return (storage as AsyncLocalStorage<Task<unknown> | undefined>).run(undefined, run);
}

/** Runs an async body so that its continuations know their task. */
export function runAsAsync<R>(task: Task<unknown>, run: () => R): R {
  if (storage === undefined) {
    storage = new AsyncLocalStorage();
    operationOwner.findAsync = currentAsyncTask;
  }
  return storage.run(task, run);
}
