// SeededRunQueue: runnable tasks without places or turns: which one runs is drawn from the seed.
// Owner: the scheduler of one test runtime. Invariants: the same seed and the same pushes give the
// same picks; a draw is made for each pick among two or more, and for nothing else. After
// SLICES_MAX picks in one turn it shows itself empty until endTurn(): on a clock that stands still
// no turn ends by time, and a task that spins must let others of the event loop in.
// Not here: the order of the real runtime (scheduler/run_queue.ts).
import { Prng } from '../base/prng.ts';
import type { TaskQueue } from '../scheduler/run_queue.ts';
import type { Task } from '../task/task.ts';

/** Slices of one turn; then virtual time goes on by a turn's length. */
export const SLICES_MAX = 10_000;
// Draws of the simulated backend have the streams from 0 on.
const STREAM = 0x7fffffff;

export class SeededRunQueue implements TaskQueue {
  readonly #prng: Prng;
  readonly #tasks: Task[] = [];
  #slicesLeft = SLICES_MAX;

  constructor(seed: number) {
    this.#prng = new Prng(seed, STREAM);
  }

  get length(): number {
    return this.#slicesLeft > 0 ? this.#tasks.length : 0;
  }

  pushChild(task: Task): void {
    this.#tasks.push(task);
  }

  pushWoken(task: Task): void {
    this.#tasks.push(task);
  }

  pushLast(task: Task): void {
    this.#tasks.push(task);
  }

  take(): Task | undefined {
    const tasks = this.#tasks;
    if (tasks.length === 0 || this.#slicesLeft === 0) return undefined;
    this.#slicesLeft--;
    const last = tasks.length - 1;
    const at = last === 0 ? 0 : this.#prng.nextBelow(tasks.length);
    const task = tasks[at];
    tasks[at] = tasks[last];
    tasks.pop();
    return task;
  }

  /** Never: every slice is a pick of its own. */
  takeChild(): boolean {
    return false;
  }

  tasks(): Iterable<Task> {
    return this.#tasks;
  }

  endTurn(): void {
    this.#slicesLeft = SLICES_MAX;
  }
}
