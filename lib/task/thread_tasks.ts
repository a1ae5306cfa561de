// ThreadTasks: where tasks go that are spawned outside any task and without a Runtime.
// Owner: module state of one thread; the composition root says how to make it (runtime.ts).
// Not here: how a scheduler is put together.
import { invariant } from '../base/assert.ts';
import type { CommandSink } from './command_sink.ts';
import { currentTask } from './current.ts';

let create: (() => CommandSink) | undefined;
let sink: CommandSink | undefined;

/** Called once, at import of the composition root. */
export function setThreadTasks(maker: () => CommandSink): void {
  create = maker;
}

/** The running task's bus, else the thread's own; made at first use. */
export function currentSink(): CommandSink {
  const task = currentTask();
  if (task !== undefined) return task.sink;
  if (sink === undefined) {
    invariant(create !== undefined, 'the composition root is loaded');
    sink = create();
  }
  return sink;
}
