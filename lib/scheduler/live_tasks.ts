// LiveTasks: all tasks of a scheduler that have not ended, for dumps, close and commands by id.
// Owner: the scheduler. Invariants: intrusive, no allocation; the order is that of spawning.
// Not here: tasks that have ended (whoever holds them).
import type { Task } from '../task/task.ts';

export class LiveTasks {
  count = 0;
  #first: Task | undefined = undefined;
  #last: Task | undefined = undefined;

  add(task: Task): void {
    const last = this.#last;
    task.previousLive = last;
    if (last === undefined) this.#first = task;
    else last.nextLive = task;
    this.#last = task;
    this.count++;
  }

  delete(task: Task): void {
    const { previousLive, nextLive } = task;
    if (previousLive === undefined) this.#first = nextLive;
    else previousLive.nextLive = nextLive;
    if (nextLive === undefined) this.#last = previousLive;
    else nextLive.previousLive = previousLive;
    task.previousLive = undefined;
    task.nextLive = undefined;
    this.count--;
  }

  /** O(n): for commands that name a task by its id. */
  find(id: number): Task | undefined {
    for (const task of this) if (task.id === id) return task;
    return undefined;
  }

  *[Symbol.iterator](): Generator<Task> {
    let task = this.#first;
    while (task !== undefined) {
      // The caller may end it.
      const next: Task | undefined = task.nextLive;
      yield task;
      task = next;
    }
  }
}
