// LiveTasks: all tasks of a scheduler that have not ended, for dumps, close and commands by id.
// Owner: the scheduler. Invariants: a task is listed from its first wait on; before that the run
// queue or the processor has it. Most tasks end without having waited, and two links each way cost
// a spawn and join 40 ns. Intrusive, no allocation.
// Not here: tasks that have ended (whoever holds them).
import type { CommandSink } from '../task/command_sink.ts';
import { currentTask } from '../task/current.ts';
import { LISTED } from '../task/state.ts';
import type { Task } from '../task/task.ts';
import type { TaskQueue } from './run_queue.ts';

export class LiveTasks {
  /** All of them, listed or not. Kept by the scheduler. */
  count = 0;
  readonly #queue: TaskQueue;
  readonly #sink: () => CommandSink;
  #last: Task | undefined = undefined;

  /** `sink`: the bus of the scheduler, which is made after it. */
  constructor(queue: TaskQueue, sink: () => CommandSink) {
    this.#queue = queue;
    this.#sink = sink;
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
    return this.findAll(new Set([id])).get(id);
  }

  /** O(n), for any number of ids. */
  findAll(ids: ReadonlySet<number>): Map<number, Task> {
    const found = new Map<number, Task>();
    for (const task of this.#each()) if (ids.has(task.id)) found.set(task.id, task);
    return found;
  }

  /** In the order of spawning. */
  all(): Task[] {
    return [...this.#each()].sort((a, b) => a.id - b.id);
  }

  *#each(): Generator<Task> {
    for (let task = this.#last; task !== undefined; task = task.previousLive) yield task;
    const isNew = (task: Task): boolean => (task.word & LISTED) === 0;
    for (const task of this.#queue.tasks()) if (isNew(task)) yield task;
    // Also an async body in the part before its first await.
    const current = currentTask();
    const isOwn = current !== undefined && current.sink === this.#sink();
    if (isOwn && isNew(current) && current.outcomeStatus === undefined) yield current;
  }
}
