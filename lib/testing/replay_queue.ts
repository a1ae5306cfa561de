// ReplayQueue: runnable tasks that run when the record says so.
// Owner: the scheduler of one replaying runtime. Invariants: it shows itself empty while what the
// record wants next is anything but the dispatch of a task that is here; after a divergence first
// in, first out. Not here: what the record wants (replay_script.ts).
import { OP_DISPATCH } from '../bus/commands.ts';
import type { TaskQueue } from '../scheduler/run_queue.ts';
import type { Task } from '../task/task.ts';
import type { ReplayScript } from './replay_script.ts';

export class ReplayQueue implements TaskQueue {
  readonly #script: ReplayScript;
  readonly #tasks = new Map<number, Task>();
  /** Goes on with a slice that the record does not interrupt (replay_bus.ts). */
  #continuing: Task | undefined;

  constructor(script: ReplayScript) {
    this.#script = script;
  }

  get length(): number {
    if (this.#script.divergence !== undefined) return this.#tasks.size;
    return this.#continuing !== undefined || this.#wanted() !== undefined ? 1 : 0;
  }

  #wanted(): Task | undefined {
    const { next } = this.#script;
    return next?.opcode === OP_DISPATCH ? this.#tasks.get(next.taskId) : undefined;
  }

  pushChild(task: Task): void {
    this.#tasks.set(task.id, task);
  }

  pushWoken(task: Task): void {
    this.#tasks.set(task.id, task);
  }

  pushLast(task: Task): void {
    this.#tasks.set(task.id, task);
  }

  /** The task, just pushed, runs before anything else. */
  continueWith(task: Task): void {
    this.#continuing = task;
  }

  isContinuing(taskId: number): boolean {
    return this.#continuing?.id === taskId;
  }

  continued(): void {
    this.#continuing = undefined;
  }

  /** Never: every slice is a pick of its own. */
  takeChild(): boolean {
    return false;
  }

  tasks(): Iterable<Task> {
    return this.#tasks.values();
  }

  take(): Task | undefined {
    let task = this.#continuing ?? this.#wanted();
    if (this.#script.divergence !== undefined) [task] = this.#tasks.values();
    if (task !== undefined) this.#tasks.delete(task.id);
    return task;
  }
}
