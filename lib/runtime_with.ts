// `rt.with({...})`: settings for the tasks that are spawned through it. Owner: whoever made it.
// Invariants: everything is checked when it is made, before any task exists.
// Not here: what settings do (task/settings.ts).
import { invalidArgType, outOfRange } from './base/errors.ts';
import { type Capabilities, type CapabilityOptions, narrow } from './bus/capabilities.ts';
import { followAsyncAuthority, type Parts } from './runtime_parts.ts';
import type { TaskSettings } from './task/command_sink.ts';
import { currentTask } from './task/current.ts';
import type { Task } from './task/task.ts';
import type { TaskBody } from './task/task_body.ts';

export interface WithOptions {
  /** Shown in dumps, traces and errors. */
  readonly name?: string | undefined;
  /** Id of a registered engine; its capabilities are applied before the ones given here. */
  readonly engine?: string | undefined;
  /** Narrower than one's own. */
  readonly capabilities?: CapabilityOptions | undefined;
  /** Time of `rt.clock.now()` at which the task is cancelled; children inherit the minimum. */
  readonly deadline?: number | undefined;
  /** Aborting it cancels the task. */
  readonly signal?: AbortSignal | undefined;
}

function parseWith(parts: Parts, options: WithOptions): TaskSettings {
  if (typeof options !== 'object' || options === null) {
    throw invalidArgType('options', 'of type object', options);
  }
  const { name, engine, capabilities, deadline, signal } = options;
  if (name !== undefined && typeof name !== 'string') {
    throw invalidArgType('options.name', 'of type string', name);
  }
  if (engine !== undefined && typeof engine !== 'string') {
    throw invalidArgType('options.engine', 'of type string', engine);
  }
  if (deadline !== undefined && typeof deadline !== 'number') {
    throw invalidArgType('options.deadline', 'of type number', deadline);
  }
  if (Number.isNaN(deadline)) throw outOfRange('options.deadline', 'a number', deadline);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidArgType('options.signal', 'an instance of AbortSignal', signal);
  }
  const { engines } = parts.scheduler;
  const own = (currentTask()?.rights ?? parts.bus.rights) as Capabilities;
  const ofEngine = engine === undefined ? undefined : engines.descriptorOf(engine)?.capabilities;
  const isNarrowed = capabilities !== undefined || ofEngine !== undefined;
  if (isNarrowed) followAsyncAuthority();
  return {
    name,
    engine: engine === undefined ? undefined : engines.get(engine),
    rights: isNarrowed ? narrow(narrow(own, ofEngine), capabilities) : undefined,
    deadlineMs: deadline,
    signal,
  };
}

export class RuntimeWith {
  static readonly name: string = 'RuntimeWith';
  readonly #parts: Parts;
  readonly #settings: TaskSettings;

  /** @internal */
  constructor(parts: Parts, options: WithOptions) {
    this.#parts = parts;
    this.#settings = parseWith(parts, options);
  }

  /** As Runtime.spawn, with these settings. */
  spawn<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Task<T> {
    const parent = currentTask();
    const { bus } = this.#parts;
    return bus.spawn(body, args, this.#settings, parent?.sink === bus ? parent : undefined);
  }

  /** As Runtime.run, with these settings. */
  run<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Promise<T> {
    return Promise.resolve(this.spawn(body, ...args).join());
  }
}
