// RunQueue: the runnable tasks of one worker. Three places: run-next (a task just woken), new
// children (last in, first out: depth first keeps a tree of a million tasks small), and the queue
// of woken, yielded and outside tasks (first in, first out).
// Owner: its scheduler. Invariants: intrusive links, no allocation; a task is in at most one place;
// run-next is taken at most three times in a row, and the queue gets every eighth turn, so neither
// ping-pong nor a flood of children starves it.
// Not here: budgets (scheduler.ts), other workers.
import type { Task } from '../task/task.ts';

const NEXT_IN_A_ROW_MAX = 3;
// Of so many picks one is the queue's, whatever children there are.
const QUEUE_SHARE = 8;

export interface TaskQueue {
  readonly length: number;
  /** A child of the running task, not started. */
  pushChild(task: Task): void;
  /** Woken: may run next. */
  pushWoken(task: Task): void;
  /** Spawned from outside, or gave way. */
  pushLast(task: Task): void;
  /** The next one to run. */
  take(): Task | undefined;
}

export class RunQueue implements TaskQueue {
  length = 0;
  #next: Task | undefined = undefined;
  #nextInARow = 0;
  #children: Task | undefined = undefined;
  #head: Task | undefined = undefined;
  #tail: Task | undefined = undefined;
  #picks = 0;

  pushChild(task: Task): void {
    task.next = this.#children;
    this.#children = task;
    this.length++;
  }

  pushWoken(task: Task): void {
    if (this.#next === undefined && this.#nextInARow < NEXT_IN_A_ROW_MAX) {
      this.#next = task;
      this.length++;
    } else {
      this.pushLast(task);
    }
  }

  pushLast(task: Task): void {
    task.next = undefined;
    if (this.#tail === undefined) this.#head = task;
    else this.#tail.next = task;
    this.#tail = task;
    this.length++;
  }

  take(): Task | undefined {
    if (this.length === 0) {
      this.#nextInARow = 0;
      return undefined;
    }
    this.length--;
    const next = this.#next;
    if (next !== undefined) {
      this.#next = undefined;
      this.#nextInARow++;
      return next;
    }
    this.#nextInARow = 0;
    const child = this.#children;
    if (child !== undefined && (this.#head === undefined || ++this.#picks % QUEUE_SHARE !== 0)) {
      this.#children = child.next;
      child.next = undefined;
      return child;
    }
    const head = this.#head as Task;
    this.#head = head.next;
    if (this.#head === undefined) this.#tail = undefined;
    head.next = undefined;
    return head;
  }
}
