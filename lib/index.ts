// nephrite: public names only; no logic. Owner: none.
// Not here: files (fs.ts), engines (engine.ts), tests (testing.ts). Importing it makes no system
// call beyond reading the modules.
export { AbortError, NephriteError, TimeoutError } from './base/errors.ts';
export { Operation } from './base/operation.ts';
export type { Suspension } from './base/suspension.ts';
export type { Capabilities, CapabilityOptions } from './bus/capabilities.ts';
export type { CommandBus, SpawnSettings } from './bus/command_bus.ts';
export type { CommandEntry } from './bus/generic_entry.ts';
export type { TapEvent, TapListener } from './bus/tap.ts';
export {
  type BackendInfo,
  backend,
  type ConfigureOptions,
  configure,
  type RingOptions,
} from './io/current_thread.ts';
export type { OperationOptions } from './io/operation_options.ts';
export type { Metrics } from './metrics/metrics.ts';
export type { TaskDump } from './metrics/task_dump.ts';
export { type Engines, Runtime, type RuntimeOptions } from './runtime.ts';
export type { CloseOptions, CloseReport } from './runtime_close.ts';
export type { RuntimeWith, WithOptions } from './runtime_with.ts';
export type { StallEvent } from './scheduler/stall_watch.ts';
export { type Channel, channel, type Received } from './sync/channel.ts';
export { type Lock, type Mutex, mutex } from './sync/mutex.ts';
export { type Semaphore, semaphore } from './sync/semaphore.ts';
export { type EveryOptions, every } from './task/every.ts';
export { type EventSource, type FromEventOptions, fromEvent } from './task/interop/from_event.ts';
export { fromPromise } from './task/interop/from_promise.ts';
export {
  type Outcome,
  TaskCancelledError,
  TaskTrapError,
  type TrapInfo,
  type TrapKind,
} from './task/outcome.ts';
export type { ProgressFeed } from './task/progress.ts';
export { checkpoint } from './task/reductions.ts';
export { sleep, sleepUntil } from './task/sleep.ts';
export { current, report, spawn, spawnLocal } from './task/spawn.ts';
export { all } from './task/structured/all.ts';
export type { Item, ItemValue } from './task/structured/item.ts';
export { race } from './task/structured/race.ts';
export type { Scope } from './task/structured/scope.ts';
export { scope } from './task/structured/scope_operation.ts';
export { withDeadline, withTimeout } from './task/structured/timeout.ts';
export { type Uncancellable, uncancellable } from './task/structured/uncancellable.ts';
export type { Task } from './task/task.ts';
export type { TaskBody, TaskGenerator } from './task/task_body.ts';
export type { TaskTrace } from './task/tracing.ts';
export { type WaitToken, waitToken } from './task/wait_token.ts';
