// Unhandled failures: of tasks that nobody joined; reported once, to whoever wants to know, else as
// Node reports an unhandled rejection. Owner: one runtime. Invariants: a listener that throws keeps
// no failure from the others.
// Not here: when a failure counts as unhandled (scheduler/thread_host.ts).
import { channel } from 'node:diagnostics_channel';
import { callSafely } from './base/throw_later.ts';
import { joinError } from './task/join.ts';
import type { Task } from './task/task.ts';

export type UnhandledListener = (error: unknown, task: Task) => void;

const unhandledChannel = channel('nephrite.task.unhandled');

export class UnhandledFailures {
  readonly #listeners = new Set<UnhandledListener>();

  /** Returns a function that ends it. */
  add(listener: UnhandledListener): () => void {
    const own: UnhandledListener = (error, task) => listener(error, task);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  report(task: Task): void {
    const error = joinError(task);
    if (unhandledChannel.hasSubscribers) unhandledChannel.publish({ error, task });
    if (this.#listeners.size === 0) {
      // Node's own machinery decides: by default the process ends, with the error's text.
      Promise.reject(error);
      return;
    }
    for (const listener of this.#listeners) callSafely(() => listener(error, task));
  }
}
