// Settings of a task: name, deadline, signal, watcher; given by `rt.with({...})` or inherited.
// Owner: none. Invariants: a deadline is the minimum of one's own and the parent's; the listener on
// a signal is gone when the task has completed.
// Not here: validation (runtime_with.ts), capabilities and engines (the bus has applied them).
import { TimeoutError } from '../base/errors.ts';
import type { TaskSettings } from './command_sink.ts';
import { attachSignal } from './signal_listener.ts';
import { OBSERVED } from './state.ts';
import type { Task } from './task.ts';

/** Called by the bus before the task is runnable. @throws ERR_ENGINE_NO_TIMER_WHEEL */
export function applySettings(task: Task, settings: TaskSettings | undefined): void {
  const inheritedMs = task.parent?.extras?.deadlineMs ?? Infinity;
  const deadlineMs = Math.min(settings?.deadlineMs ?? Infinity, inheritedMs);
  if (deadlineMs === Infinity && settings === undefined) return;
  const extras = task.ensureExtras();
  extras.name = settings?.name;
  extras.deadlineMs = deadlineMs;
  if (settings?.watcher !== undefined) {
    extras.watcher = settings.watcher;
    task.word |= OBSERVED;
  }
  // The parent's own deadline cancels the parent; a detached child needs its own.
  const detachDeadline = deadlineMs === Infinity ? undefined : armDeadline(task, deadlineMs);
  const { signal } = settings ?? {};
  const detachSignal = signal === undefined ? undefined : attachSignal(task, signal);
  if (detachDeadline === undefined && detachSignal === undefined) return;
  extras.detach = () => {
    detachDeadline?.();
    detachSignal?.();
  };
}

function armDeadline(task: Task, deadlineMs: number): () => void {
  const timers = task.engine.timers();
  const timeoutMs = Math.max(0, deadlineMs - timers.clock.nowMs());
  const handle = timers.arm(deadlineMs, {
    timerExpired: () => task.sink.cancel(task, new TimeoutError(timeoutMs), undefined),
  });
  return () => timers.cancel(handle);
}
