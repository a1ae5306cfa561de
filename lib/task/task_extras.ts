// TaskExtras: what few tasks need; kept out of Task so that a million of them stay small.
// Owner: its task. Invariants: listeners on foreign signals are gone when the task has completed.
// Not here: anything on the way of spawn and join.

import { operationOwner } from '../base/operation_owner.ts';
import { setFileAuthority } from '../io/authority.ts';
import type { TaskWatcher } from './command_sink.ts';
import { runOutsideAsync } from './current.ts';
import type { TrapInfo } from './outcome.ts';
import type { ProgressFeed } from './progress.ts';
import type { Task } from './task.ts';

/** Listeners are the code of whoever added them, not of the task that cancels. */
function abortFromOutside(controller: AbortController, reason: unknown): void {
  const owner = operationOwner.current;
  const authority = setFileAuthority(undefined);
  operationOwner.current = undefined;
  try {
    runOutsideAsync(() => controller.abort(reason));
  } finally {
    operationOwner.current = owner;
    setFileAuthority(authority);
  }
}

export class TaskExtras {
  name: string | undefined = undefined;
  watcher: TaskWatcher | undefined = undefined;
  cancelReason: unknown = undefined;
  /** Decided while the body still has `finally` blocks to run. */
  trap: TrapInfo | undefined = undefined;
  /** On the runtime's clock; Infinity: none. */
  deadlineMs = Infinity;
  /** Undoes what ties the task to signals and deadlines. */
  detach: (() => void) | undefined = undefined;
  /** Failed children that nobody has joined so far; reported when this task ends. */
  failedChildren: Task<unknown>[] | undefined = undefined;
  /** How often the body was told to return. */
  deliveryCount = 0;
  /** Where the body was when it was told to return. */
  leftAt: string | undefined = undefined;
  /** The generator below the body whose `finally` waits while the body returns. */
  returning: Generator<unknown, unknown, unknown> | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #feeds: Set<ProgressFeed> | undefined = undefined;

  signalFor(task: Task<unknown>): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (task.cancelled) this.#controller.abort(this.cancelReason);
    }
    return this.#controller.signal;
  }

  cancellationRequested(reason: unknown): void {
    this.cancelReason = reason;
    if (this.#controller !== undefined) abortFromOutside(this.#controller, reason);
  }

  addFeed(feed: ProgressFeed): void {
    this.#feeds ??= new Set();
    this.#feeds.add(feed);
    feed.onReturn = () => this.#feeds?.delete(feed);
  }

  report(value: unknown): void {
    if (this.#feeds === undefined) return;
    for (const feed of this.#feeds) feed.push(value);
  }

  completed(): void {
    this.detach?.();
    this.detach = undefined;
    for (const feed of this.#feeds ?? []) feed.end();
    this.#feeds = undefined;
  }
}
