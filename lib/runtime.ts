// Runtime: the composition root, and what users hold: a scheduler with its bus on the calling
// thread. Owner: whoever started it. Invariants: everything that changes scheduler state goes over
// the bus (S-16); a closed runtime takes no tasks.
// Not here: how the parts are put together (runtime_parts.ts), spreading over worker threads.
import { invalidArgType, invalidArgValue, NephriteError, outOfRange } from './base/errors.ts';
import {
  ALL_CAPABILITIES,
  type Capabilities,
  type CapabilityOptions,
  narrow,
} from './bus/capabilities.ts';
import { CommandBus } from './bus/command_bus.ts';
import type { EngineConfigInput, EngineRuntimeConfig } from './engine/engine_config.ts';
import type { EngineDescriptor } from './engine/engine_definition.ts';
import {
  type BackendInfo,
  backend,
  type ConfigureOptions,
  configure,
} from './io/current_thread.ts';
import { collectMetrics, type Metrics } from './metrics/metrics.ts';
import { dumpTasks, type TaskDump } from './metrics/task_dump.ts';
import { type CloseOptions, type CloseReport, closeScheduler } from './runtime_close.ts';
import { makeThreadParts, type Parts } from './runtime_parts.ts';
import { RuntimeWith, type WithOptions } from './runtime_with.ts';
import type { StallEvent } from './scheduler/stall_watch.ts';
import { currentTask } from './task/current.ts';
import type { Task } from './task/task.ts';
import type { TaskBody } from './task/task_body.ts';
import { setThreadTasks } from './task/thread_tasks.ts';
import { UnhandledFailures, type UnhandledListener } from './unhandled.ts';

export interface RuntimeOptions {
  /** Engines beside the default one. */
  readonly engines?: readonly (EngineConfigInput | EngineDescriptor)[] | undefined;
  /** What code of this runtime may do; default: everything. */
  readonly capabilities?: CapabilityOptions | undefined;
  readonly tasks?:
    | {
        /** Tasks that may be queued, 1 up; default 4,194,304. Then spawn throws ERR_QUEUE_FULL. */
        readonly queuedMax?: number | undefined;
        /** A slice longer than this is a stall, in milliseconds; default 50. */
        readonly stallMs?: number | undefined;
      }
    | undefined;
  /** Worker threads: 0, the default, is all there is so far: tasks run on the calling thread. */
  readonly workers?: 0 | undefined;
  /** As configure(): exactly this backend for the calling thread, before its first operation. */
  readonly backend?: ConfigureOptions['backend'];
  /** As configure(): sizes of the calling thread's rings, before its first operation. */
  readonly ring?: ConfigureOptions['ring'];
  /** Called for each stall. */
  readonly onStall?: ((event: StallEvent) => void) | undefined;
}

/** Engines of a runtime: sugar over the bus. */
export interface Engines {
  /** @throws ERR_ENGINE_EXISTS, ERR_CAPABILITY_DENIED, ERR_INVALID_ARG_* */
  register(config: EngineConfigInput | EngineDescriptor): EngineRuntimeConfig;
  /** @throws ERR_ENGINE_UNKNOWN, ERR_CAPABILITY_DENIED, ERR_INVALID_ARG_* */
  update(engineId: string, changes: Partial<EngineConfigInput>): EngineRuntimeConfig;
  /** @throws ERR_ENGINE_UNKNOWN */
  get(engineId: string): EngineRuntimeConfig;
}

/** @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE; `engines` are checked when they are registered.
 * */
export function parseRuntimeOptions(options: RuntimeOptions) {
  if (typeof options !== 'object' || options === null) {
    throw invalidArgType('options', 'of type object', options);
  }
  const { engines = [], capabilities, tasks = {}, onStall } = options;
  const stallMs = positive('options.tasks.stallMs', tasks.stallMs, 50);
  const queuedMax = positive('options.tasks.queuedMax', tasks.queuedMax, 4_194_304);
  if (!Array.isArray(engines)) throw invalidArgType('options.engines', 'an array', engines);
  if (onStall !== undefined && typeof onStall !== 'function') {
    throw invalidArgType('options.onStall', 'of type function', onStall);
  }
  const rights =
    capabilities === undefined ? ALL_CAPABILITIES : narrow(ALL_CAPABILITIES, capabilities);
  return { rights, stallMs, queuedMax, onStall, engines };
}

const OPTIONS = ['engines', 'capabilities', 'tasks', 'workers', 'backend', 'ring', 'onStall'];

/** A misspelt option would restrict and limit nothing. */
function checkStartOptions(options: RuntimeOptions): void {
  for (const name of Object.keys(options)) {
    if (OPTIONS.includes(name)) continue;
    throw invalidArgValue(`options.${name}`, name, `is none of ${OPTIONS.join(', ')}`);
  }
  const { workers = 0 } = options;
  if (workers !== 0) throw outOfRange('options.workers', '0 in this version', workers);
}

/** A scheduler for tasks of the calling thread. Start it with `await Runtime.start()`. */
export class Runtime {
  static readonly name: string = 'Runtime';
  /** @internal */
  readonly parts: Parts;
  /** Commands as entries, and the tap. They are issued by the running task. */
  readonly bus: CommandBus;
  readonly #unhandled = new UnhandledFailures();
  readonly #idleListeners = new Set<() => void>();
  readonly #startedAtMs: number;
  #closing: Promise<CloseReport> | undefined;

  /** @internal Runtimes are made by start(). */
  protected constructor(parts: Parts) {
    this.parts = parts;
    this.bus = new CommandBus(parts.bus);
    this.#startedAtMs = parts.host.clock.nowMs();
    parts.host.onUnobserved = (task) => this.#unhandled.report(task);
    parts.host.onIdle = () => {
      for (const listener of this.#idleListeners) listener();
      this.#idleListeners.clear();
    };
  }

  /**
   * Starts a runtime on the calling thread.
   * @throws (rejects with) ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_ENGINE_EXISTS
   */
  static async start(options: RuntimeOptions = {}): Promise<Runtime> {
    const { rights, stallMs, onStall, queuedMax, engines } = parseRuntimeOptions(options);
    checkStartOptions(options);
    const { backend: backendName, ring } = options;
    if (backendName !== undefined || ring !== undefined) {
      configure({ ...(backendName && { backend: backendName }), ...(ring && { ring }) });
    }
    const runtime = new Runtime(makeThreadParts(rights, stallMs, onStall));
    runtime.parts.scheduler.queuedMax = queuedMax;
    for (const config of engines) runtime.parts.scheduler.engines.register(config);
    return runtime;
  }

  /** Which backend this thread's I/O uses, and why. Opens it if need be. */
  get backend(): BackendInfo {
    return backend();
  }

  /** `now()`: milliseconds on the clock that timers and deadlines use. */
  get clock(): { now(): number } {
    const { clock } = this.parts.host;
    return { now: () => clock.nowMs() };
  }

  get engines(): Engines {
    const { bus, scheduler } = this.parts;
    return {
      register: (config) => (bus.registerEngine(config) as { config: EngineRuntimeConfig }).config,
      update: (engineId, changes) =>
        (bus.updateEngine(engineId, changes) as { config: EngineRuntimeConfig }).config,
      get: (engineId) => scheduler.engines.get(engineId).config,
    };
  }

  /**
   * Starts a task. Inside a task of this runtime it is that task's child.
   * @throws ERR_INVALID_ARG_TYPE, ERR_CAPABILITY_DENIED, ERR_QUEUE_FULL, ERR_RUNTIME_CLOSED
   */
  spawn<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Task<T> {
    return this.parts.bus.spawn(body, args, undefined, currentTask());
  }

  /** Starts a task and waits for its value. Rejects as Task.join(). */
  run<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Promise<T> {
    return Promise.resolve(this.spawn(body, ...args).join());
  }

  /**
   * The same with settings for the tasks: name, engine, capabilities, deadline, signal.
   * @throws ERR_INVALID_ARG_*, ERR_ENGINE_UNKNOWN, ERR_CAPABILITY_WIDER
   */
  with(options: WithOptions): RuntimeWith {
    return new RuntimeWith(this.parts, options);
  }

  /**
   * Called for each failure that nobody joined, in place of Node's handling of unhandled
   * rejections. Returns a function that ends it.
   */
  onUnhandled(listener: UnhandledListener): () => void {
    if (typeof listener !== 'function')
      throw invalidArgType('listener', 'of type function', listener);
    return this.#unhandled.add(listener);
  }

  /** Every task that has not ended. */
  dump(): TaskDump[] {
    return dumpTasks(this.parts.scheduler);
  }

  /** The metrics of the seed (4.5), by name. */
  metrics(): Metrics {
    return collectMetrics(this.parts.scheduler, this.#startedAtMs);
  }

  /**
   * Ends the runtime: no new tasks; those that run get until `deadline` to end, are cancelled then,
   * and get a second for their `finally` blocks. Closing twice gives the same report.
   * @throws ERR_OUT_OF_RANGE; ERR_JOIN_CYCLE in a task of this runtime, which would wait for itself
   */
  close({ deadline = Infinity }: CloseOptions = {}): Promise<CloseReport> {
    if (typeof deadline !== 'number' || !(deadline >= 0)) {
      throw outOfRange('deadline', '>= 0 milliseconds', deadline);
    }
    if (currentTask()?.sink === this.parts.bus) {
      const text = 'close(): a task of the runtime would wait for itself';
      throw new NephriteError('ERR_JOIN_CYCLE', text);
    }
    this.#closing ??= this.#close(deadline);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<CloseReport> {
    const onIdle = (listener: () => void) => this.#idleListeners.add(listener);
    const report = await closeScheduler(this.parts, onIdle, deadlineMs);
    this.parts.host.close(report.abandoned.length > 0);
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function positive(name: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value !== 'number') throw invalidArgType(name, 'of type number', value);
  if (!(value > 0)) throw outOfRange(name, '> 0', value);
  return value;
}

setThreadTasks(() => {
  const parts = makeThreadParts();
  const unhandled = new UnhandledFailures();
  parts.host.onUnobserved = (task) => unhandled.report(task);
  return parts.bus;
});

export type { Capabilities };
