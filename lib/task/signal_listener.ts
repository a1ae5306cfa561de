// Signals in: tasks that end when an AbortSignal is aborted. One listener per signal however many
// tasks share it (a listener each leaks on long-lived signals, and removing one is O(n)).
// Owner: module state of one thread, weakly by signal. Invariants: no listener while nobody
// listens.
// Not here: signals out (Task.signal), operations' own signals (io/operation_options.ts).
import type { Task } from './task.ts';

class SignalTasks {
  readonly #signal: AbortSignal;
  readonly #tasks = new Set<Task>();
  readonly #onAbort = (): void => {
    const { reason } = this.#signal;
    for (const task of [...this.#tasks]) task.sink.cancel(task, reason, undefined);
  };

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(task: Task): void {
    if (this.#tasks.size === 0) {
      this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    }
    this.#tasks.add(task);
  }

  delete(task: Task): void {
    this.#tasks.delete(task);
    if (this.#tasks.size === 0) this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

const bySignal = new WeakMap<AbortSignal, SignalTasks>();

/** Cancels the task when the signal is aborted. Returns what undoes it; undefined if it was. */
export function attachSignal(task: Task, signal: AbortSignal): (() => void) | undefined {
  if (signal.aborted) {
    task.sink.cancel(task, signal.reason, undefined);
    return undefined;
  }
  let tasks = bySignal.get(signal);
  if (tasks === undefined) {
    tasks = new SignalTasks(signal);
    bySignal.set(signal, tasks);
  }
  tasks.add(task);
  return () => tasks.delete(task);
}
