// CancelWaits: asks what cancelled tasks wait for to stop. What a task waits for may be another
// task, whose wait is cancelled in turn, and so on: in a flat loop, since thousands of nested
// scopes would fill the stack and leave half of them unasked.
// Owner: the scheduler. Invariants: empty outside of ask(). Not here: who is cancelled.
import type { Task } from '../task/task.ts';

export class CancelWaits {
  readonly #tasks: Task[] = [];

  /** The task is Waiting, and its word says that its wait is cancelled. */
  ask(task: Task): void {
    this.#tasks.push(task);
    // The outermost call asks for all that are added meanwhile.
    if (this.#tasks.length > 1) return;
    try {
      for (const each of this.#tasks) each.waitingFor?.cancel(each.extras?.cancelReason);
    } finally {
      this.#tasks.length = 0;
    }
  }
}
