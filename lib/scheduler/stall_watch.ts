// StallWatch: notices slices that took too long, names the task, and takes a stack at its first
// suspension afterwards (Node-API cannot interrupt a thread for a live one).
// Owner: one scheduler. Invariants: costs one store per slice; what is found late, because the
// clock is read every few dozen steps only, names every task that ran since.
// Not here: a watcher on another thread, which could tell while the stall lasts.
import { type UnwindTrace, unwinding } from '../base/suspension.ts';
import { running } from '../task/current.ts';
import { labelOf, type Task } from '../task/task.ts';

/** A slice that kept the thread from its event loop. */
export interface StallEvent {
  /** Time since the clock was read before: the slice, and what little came before it. */
  readonly durationMs: number;
  /** Who ran in that time: one task, as soon as slices are slow. */
  readonly tasks: readonly string[];
  /** Of the last one's first suspension afterwards; undefined when it ended without one. */
  readonly stack: string | undefined;
}

export const STALL_MS_DEFAULT = 50;
// More than can run between two looks at the clock (turn_budget.ts).
const RECENT_MAX = 64;

type Callable = (...given: never[]) => unknown;

export class StallWatch {
  readonly thresholdMs: number;
  /** Set by the scheduler: those that have not ended. O(all tasks). */
  findTasks: (ids: ReadonlySet<number>) => Map<number, Task> = () => new Map();
  readonly #emit: (event: StallEvent) => void;
  // Ids and bodies, not tasks: storing a young object in an old array costs a write barrier.
  readonly #ids = new Int32Array(RECENT_MAX);
  readonly #bodies: { readonly name: string }[] = new Array(RECENT_MAX).fill({ name: '' });
  #count = 0;
  #watched: Task | undefined;
  #pending: StallEvent | undefined;

  constructor(thresholdMs: number, emit: (event: StallEvent) => void) {
    this.thresholdMs = thresholdMs;
    this.#emit = emit;
  }

  /** Before each slice. */
  dispatched(task: Task): void {
    const at = this.#count++ & (RECENT_MAX - 1);
    this.#ids[at] = task.id;
    this.#bodies[at] = task.body;
    if (this.isWatching && task === this.#watched) this.#awaitSuspension(task);
  }

  /** The task has ended. */
  completed(task: Task): void {
    if (task === this.#watched) this.#finish(undefined);
  }

  /** A stall is known, and its stack is waited for. */
  isWatching = false;

  /** The clock was read again after `elapsedMs`. */
  clockRead(elapsedMs: number): void {
    const count = Math.min(this.#count, RECENT_MAX);
    this.#count = 0;
    if (elapsedMs > this.thresholdMs) this.#report(elapsedMs, count);
    // A body that read the clock itself goes on: the next look may find it again.
    if (running.task !== undefined) this.dispatched(running.task);
  }

  #report(durationMs: number, count: number): void {
    const names = new Map<number, string>();
    let last: Task | undefined;
    const live = this.findTasks(new Set(this.#ids.subarray(0, count)));
    for (let at = 0; at < count; at++) {
      const id = this.#ids[at];
      last = live.get(id);
      // One that has ended is known by its body's name only.
      const name = last?.name ?? (this.#bodies[at].name || 'anonymous');
      names.set(id, labelOf({ id, name }));
    }
    this.#finish(undefined);
    this.#pending = { durationMs, tasks: [...names.values()], stack: undefined };
    if (running.task !== undefined) this.#finish(stackBelow(this.clockRead));
    else if (last === undefined) this.#finish(undefined);
    else this.#watch(last);
  }

  #watch(task: Task | undefined): void {
    this.#watched = task;
    this.isWatching = task !== undefined;
  }

  #awaitSuspension(task: Task): void {
    const take = (below: Callable): void => {
      unwinding.trace = undefined;
      if (running.task === task) this.#finish(stackBelow(below));
    };
    const trace: UnwindTrace = { left: take, arrived: take };
    unwinding.trace = trace;
  }

  #finish(stack: string | undefined): void {
    const event = this.#pending;
    this.#pending = undefined;
    this.#watch(undefined);
    // Outside the task: the listener may throw, and spawn. What it throws is an uncaught exception.
    if (event !== undefined) queueMicrotask(() => this.#emit({ ...event, stack }));
  }
}

function stackBelow(below: Callable): string {
  const holder: { stack?: unknown } = {};
  Error.captureStackTrace(holder, below);
  return String(holder.stack).split('\n').slice(1).join('\n');
}
