// Composition of one scheduler with its bus, queue, host and rights. Owner: whoever asked for it.
// Not here: the public Runtime (runtime.ts), the test runtime (testing/).
import { followAsyncAuthority } from './bus/async_authority.ts';
import { ALL_CAPABILITIES } from './bus/capabilities.ts';
import { RuntimeBus } from './bus/runtime_bus.ts';
import { RunQueue } from './scheduler/run_queue.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import type { SchedulerHost } from './scheduler/scheduler_host.ts';
import { STALL_MS_DEFAULT, type StallEvent, StallWatch } from './scheduler/stall_watch.ts';
import { ThreadHost } from './scheduler/thread_host.ts';
import { watchAsyncContext } from './task/async_context.ts';
import type { TaskRights } from './task/command_sink.ts';
import type { Task } from './task/task.ts';

/** What a Runtime needs of its host beside what the scheduler does. */
export interface RuntimeHost extends SchedulerHost {
  /** Called for a failure that nobody has asked for. */
  onUnobserved: (task: Task) => void;
  /** Called when the last task has ended. */
  onIdle: () => void;
  /** Calls `call` once, after that time on the host's clock; returns a function that prevents it. */
  callAfter(delayMs: number, call: () => void): () => void;
  /** `hasTasks`: some were left behind; they may go on, but keep no process alive. */
  close(hasTasks: boolean): void;
}

export interface Parts {
  readonly host: RuntimeHost;
  readonly scheduler: Scheduler;
  readonly bus: RuntimeBus;
}

/** A scheduler on this thread's event loop. */
export function makeThreadParts(
  rights: TaskRights = ALL_CAPABILITIES,
  stallMs: number = STALL_MS_DEFAULT,
  onStall: (event: StallEvent) => void = () => {},
): Parts {
  watchAsyncContext();
  if (rights !== ALL_CAPABILITIES) followAsyncAuthority();
  const host = new ThreadHost();
  const scheduler = new Scheduler(host, new RunQueue(), new StallWatch(stallMs, onStall));
  const bus = new RuntimeBus(scheduler, rights);
  scheduler.bus = bus;
  host.onAlarm = () => scheduler.alarmExpired();
  return { host, scheduler, bus };
}
