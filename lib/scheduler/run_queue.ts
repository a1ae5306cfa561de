// RunQueue: the runnable tasks of one worker. Three places: run-next (a task just woken), new
// children (last in, first out: depth first keeps a tree of a million tasks small), and the queue
// of woken, yielded and outside tasks (first in, first out).
// Owner: its scheduler. Invariants: intrusive links, no allocation; a task is in at most one place;
// run-next is taken at most three times in a row, the queue gets every eighth turn, and old
// children move to it, so that neither ping-pong nor a flood of children starves anybody.
// Not here: budgets (scheduler.ts), other workers.
import type { Task } from '../task/task.ts';

const NEXT_IN_A_ROW_MAX = 3;
// Of so many picks one is the queue's, whatever children there are.
const QUEUE_SHARE = 8;
// After so many picks of children the oldest one has waited long enough and goes to the queue. Last
// in, first out alone starves the first of two children for ever when the other one spawns its
// successor. One at a time: moving all of them makes a tree of a million tasks twice as large.
const CHILD_PICKS_MAX = 16384;

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
  /** The child that take() would give before all others, if it is this one. */
  takeChild(task: Task): boolean;
  /** All that are queued, for dumps. */
  tasks(): Iterable<Task>;
}

export class RunQueue implements TaskQueue {
  length = 0;
  #next: Task | undefined = undefined;
  #nextInARow = 0;
  #children: Task | undefined = undefined;
  #childCount = 0;
  #childPicks = 0;
  #head: Task | undefined = undefined;
  #tail: Task | undefined = undefined;
  #picks = 0;

  pushChild(task: Task): void {
    if (this.#childCount === 0) this.#childPicks = 0;
    this.#childCount++;
    task.nextWaiter = this.#children;
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
    task.nextWaiter = undefined;
    if (this.#tail === undefined) this.#head = task;
    else this.#tail.nextWaiter = task;
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
      this.#children = child.nextWaiter as Task | undefined;
      child.nextWaiter = undefined;
      this.#childCount--;
      if (++this.#childPicks >= CHILD_PICKS_MAX) this.#ageChildren();
      return child;
    }
    const head = this.#head as Task;
    this.#head = head.nextWaiter as Task | undefined;
    if (this.#head === undefined) this.#tail = undefined;
    head.nextWaiter = undefined;
    return head;
  }

  takeChild(task: Task): boolean {
    if (this.#children !== task || this.#next !== undefined) return false;
    if (this.#head !== undefined && ++this.#picks % QUEUE_SHARE === 0) return false;
    if (++this.#childPicks >= CHILD_PICKS_MAX) this.#ageChildren();
    if (this.#children !== task) return false;
    this.#nextInARow = 0;
    this.#children = task.nextWaiter as Task | undefined;
    task.nextWaiter = undefined;
    this.#childCount--;
    this.length--;
    return true;
  }

  *tasks(): Generator<Task> {
    if (this.#next !== undefined) yield this.#next;
    for (const first of [this.#children, this.#head]) {
      for (let task = first; task !== undefined; task = task.nextWaiter as Task | undefined) {
        yield task;
      }
    }
  }

  // The walk to the oldest is at most a step per pick where one child moves; a stack that is higher
  // is no tree, and moves as a whole. No pointer to the oldest: it would cost every spawn a write
  // barrier.
  #ageChildren(): void {
    this.#childPicks = 0;
    let first = this.#children;
    if (first === undefined) return;
    let above: Task | undefined;
    let oldest = first;
    for (let below = oldest.nextWaiter; below !== undefined; below = oldest.nextWaiter) {
      above = oldest;
      oldest = below as Task;
    }
    if (this.#childCount > CHILD_PICKS_MAX) above = undefined;
    else first = oldest;
    if (this.#tail === undefined) this.#head = first;
    else this.#tail.nextWaiter = first;
    this.#tail = oldest;
    if (above === undefined) this.#children = undefined;
    else above.nextWaiter = undefined;
    this.#childCount = above === undefined ? 0 : this.#childCount - 1;
  }
}
