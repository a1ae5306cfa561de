// Composition of one scheduler with its bus, queue, host and rights. Owner: whoever asked for it.
// Not here: the public Runtime (runtime.ts), the test runtime (testing/).
import { ALL_CAPABILITIES } from './bus/capabilities.ts';
import { RuntimeBus } from './bus/runtime_bus.ts';
import { RunQueue } from './scheduler/run_queue.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import { STALL_MS_DEFAULT, type StallEvent, StallWatch } from './scheduler/stall_watch.ts';
import { ThreadHost } from './scheduler/thread_host.ts';
import { watchAsyncContext } from './task/async_context.ts';
import type { TaskRights } from './task/command_sink.ts';

export interface Parts {
  readonly host: ThreadHost;
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
  const host = new ThreadHost();
  const scheduler = new Scheduler(host, new RunQueue(), new StallWatch(stallMs, onStall));
  const bus = new RuntimeBus(scheduler, rights);
  scheduler.bus = bus;
  host.onAlarm = () => scheduler.turn();
  return { host, scheduler, bus };
}
