// LiveTasks: all tasks of a scheduler that have not ended, for dumps, close and commands by id.
// Owner: the scheduler. Invariants: a task is listed from its first wait on; before that the run
// queue or the processor has it. Most tasks end without having waited, and two links each way cost
// a spawn and join 40 ns. Intrusive, no allocation.
// Not here: tasks that have ended (whoever holds them).
import { operationOwner } from '../base/operation_owner.ts';
import { LISTED } from '../task/state.ts';
import type { Task } from '../task/task.ts';
import type { TaskQueue } from './run_queue.ts';

export class LiveTasks {
  /** All of them, listed or not. Kept by the scheduler. */
  count = 0;
  readonly #queue: TaskQueue;
  #last: Task | undefined = undefined;

  constructor(queue: TaskQueue) {
    this.#queue = queue;
  }

  /** Its first wait. */
  list(task: Task): void {
    const last = this.#last;
    task.word |= LISTED;
    task.previousLive = last;
    if (last !== undefined) last.nextLive = task;
    this.#last = task;
  }

  /** A listed one has ended. */
  unlist(task: Task): void {
    const { previousLive, nextLive } = task;
    if (previousLive !== undefined) previousLive.nextLive = nextLive;
    if (nextLive === undefined) this.#last = previousLive;
    else nextLive.previousLive = previousLive;
    task.previousLive = undefined;
    task.nextLive = undefined;
  }

  /** O(n): for commands that name a task by its id. */
  find(id: number): Task | undefined {
    const { current } = operationOwner;
    if (current !== undefined && (current as Task).id === id) return current as Task;
    return this.all().find((task) => task.id === id);
  }

  /** In the order of spawning. */
  all(): Task[] {
    const tasks: Task[] = [];
    for (let task = this.#last; task !== undefined; task = task.previousLive) tasks.push(task);
    const isNew = (task: Task): boolean => (task.word & LISTED) === 0;
    for (const task of this.#queue.tasks()) if (isNew(task)) tasks.push(task);
    const current = operationOwner.current as Task | undefined;
    if (current !== undefined && isNew(current)) tasks.push(current);
    return tasks.sort((a, b) => a.id - b.id);
  }
}
