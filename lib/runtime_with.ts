// `rt.with({...})`: settings for the tasks that are spawned through it. Owner: whoever made it.
// Invariants: everything is checked when it is made, before any task exists; what it grants is
// narrowed for each spawner anew, since whoever holds it may have less than whoever made it.
// Not here: what settings do (task/settings.ts).
import { invalidArgType, outOfRange } from './base/errors.ts';
import { followAsyncAuthority } from './bus/async_authority.ts';
import {
  type Capabilities,
  type CapabilityOptions,
  copyWanted,
  narrow,
} from './bus/capabilities.ts';
import type { Parts } from './runtime_parts.ts';
import type { TaskRights, TaskSettings } from './task/command_sink.ts';
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

interface ParsedWith {
  readonly settings: TaskSettings;
  /** Both are applied, in order. */
  readonly narrowings: readonly CapabilityOptions[];
}

function parseWith(parts: Parts, options: WithOptions): ParsedWith {
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
  const ofEngine = engine === undefined ? undefined : engines.descriptorOf(engine)?.capabilities;
  const narrowings: CapabilityOptions[] = [];
  if (ofEngine !== undefined) narrowings.push(ofEngine);
  if (capabilities !== undefined) narrowings.push(copyWanted(capabilities));
  if (narrowings.length > 0) followAsyncAuthority();
  const settings = {
    name,
    engine: engine === undefined ? undefined : engines.get(engine),
    deadlineMs: deadline,
    signal,
  };
  return { settings, narrowings };
}

export class RuntimeWith {
  static readonly name: string = 'RuntimeWith';
  readonly #parts: Parts;
  readonly #settings: TaskSettings;
  readonly #narrowings: readonly CapabilityOptions[];
  /** By the rights of who spawns. */
  readonly #narrowed = new WeakMap<TaskRights, TaskSettings>();

  /** @internal */
  constructor(parts: Parts, options: WithOptions) {
    this.#parts = parts;
    const { settings, narrowings } = parseWith(parts, options);
    this.#settings = settings;
    this.#narrowings = narrowings;
    this.#settingsFor(currentTask());
  }

  /** @throws ERR_CAPABILITY_WIDER when the task has less than what is asked for */
  #settingsFor(issuer: Task | undefined): TaskSettings {
    if (this.#narrowings.length === 0) return this.#settings;
    const own = this.#parts.bus.rightsOf(issuer);
    let settings = this.#narrowed.get(own);
    if (settings === undefined) {
      let rights = own as Capabilities;
      for (const wanted of this.#narrowings) rights = narrow(rights, wanted);
      settings = { ...this.#settings, rights };
      this.#narrowed.set(own, settings);
    }
    return settings;
  }

  /** As Runtime.spawn, with these settings. @throws ERR_CAPABILITY_WIDER, too */
  spawn<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Task<T> {
    const issuer = currentTask();
    return this.#parts.bus.spawn(body, args, this.#settingsFor(issuer), issuer);
  }

  /** As Runtime.run, with these settings. */
  run<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Promise<T> {
    return Promise.resolve(this.spawn(body, ...args).join());
  }
}
