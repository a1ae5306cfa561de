// Family: who was spawned by whom. Owner: none. Invariants: a task keeps its parent as long as it
// lives; ended ancestors are skipped when it ends, so that a task that spawns its successor and
// ends, for ever, does not leave a chain of all that were before (220 bytes each, measured).
import { COMPLETED, stateOf } from './state.ts';
import type { Task } from './task.ts';

/** Whether `task` was spawned by `ancestor` or by one of its descendants. */
export function isDescendant(task: Task, ancestor: Task): boolean {
  for (let parent = task.parent; parent !== undefined; parent = parent.parent) {
    if (parent === ancestor) return true;
  }
  return false;
}

/**
 * The task has ended: of its ancestors only those that live can still ask for their descendants.
 */
export function forgetEnded(task: Task): void {
  let { parent } = task;
  while (parent !== undefined && stateOf(parent.word) === COMPLETED) parent = parent.parent;
  task.parent = parent;
}
