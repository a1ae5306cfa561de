// Family: who was spawned by whom. Owner: none. Invariants: a task keeps its parent as long as it
// lives; completed parents are kept by their running descendants.
import type { Task } from './task.ts';

/** Whether `task` was spawned by `ancestor` or by one of its descendants. */
export function isDescendant(task: Task, ancestor: Task): boolean {
  for (let parent = task.parent; parent !== undefined; parent = parent.parent) {
    if (parent === ancestor) return true;
  }
  return false;
}
