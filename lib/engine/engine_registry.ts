// EngineRegistry: the engines of one scheduler, by id. Owner: the scheduler; changed by commands of
// the bus only. Invariants: ids are unique and for good; the default engine always exists.
// Not here: rights (bus/), validation of fields (engine_config.ts).
import { invalidArgType, NephriteError } from '../base/errors.ts';
import { Engine } from './engine.ts';
import { DEFAULT_ENGINE_CONFIG } from './engine_config.ts';
import {
  defineEngine,
  type EngineDefinition,
  type EngineDescriptor,
  isEngineDescriptor,
} from './engine_definition.ts';
import type { TimerHost } from './engine_timers.ts';

export class EngineRegistry {
  readonly default: Engine;
  readonly #host: TimerHost;
  readonly #byId = new Map<string, Engine>();
  // Of engines that were registered by one: names and capabilities, which schedulers do not know.
  readonly #descriptors = new Map<string, EngineDescriptor>();

  constructor(host: TimerHost) {
    this.#host = host;
    this.default = this.register(DEFAULT_ENGINE_CONFIG);
  }

  /**
   * Takes a definition or a descriptor.
   * @throws ERR_ENGINE_EXISTS and the errors of defineEngine()
   */
  register(given: unknown): Engine {
    // Whatever a definition may have counts here too, and nothing else may be there.
    const descriptor = isEngineDescriptor(given) ? given : defineEngine(given as EngineDefinition);
    const { config } = descriptor;
    if (this.#byId.has(config.engineId)) {
      const text = `engine "${config.engineId}" is registered already: update it instead`;
      throw new NephriteError('ERR_ENGINE_EXISTS', text);
    }
    const engine = new Engine(config, this.#host);
    this.#byId.set(config.engineId, engine);
    this.#descriptors.set(config.engineId, descriptor);
    return engine;
  }

  /**
   * Fields that `changes` does not have, or has as undefined, stay: also those of its groups
   * (`resourceLimits`). @throws ERR_ENGINE_UNKNOWN
   */
  update(engineId: string, changes: unknown): Engine {
    const engine = this.get(engineId);
    if (!isObject(changes)) throw invalidArgType('changes', 'of type object', changes);
    const { name, capabilities } = this.#descriptors.get(engineId) as EngineDescriptor;
    const before = { ...engine.config, name, capabilities };
    const descriptor = defineEngine({ ...merged(before, changes, true), engineId });
    this.#descriptors.set(engineId, descriptor);
    engine.update(descriptor.config);
    return engine;
  }

  /** @throws ERR_ENGINE_UNKNOWN */
  get(engineId: string): Engine {
    const engine = this.#byId.get(engineId);
    if (engine !== undefined) return engine;
    const known = [...this.#byId.keys()].join(', ');
    const text = `no engine "${engineId}" is registered (known: ${known})`;
    throw new NephriteError('ERR_ENGINE_UNKNOWN', text);
  }

  /** Undefined: no such engine. */
  descriptorOf(engineId: string): EngineDescriptor | undefined {
    return this.#descriptors.get(engineId);
  }

  [Symbol.iterator](): Iterator<Engine> {
    return this.#byId.values();
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** With `hasGroups`, fields that are objects on both sides are merged too. */
function merged(before: object, changes: object, hasGroups: boolean): Record<string, unknown> {
  const result: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    const old = result[name];
    const isGroup = hasGroups && isObject(old) && isObject(value);
    result[name] = isGroup ? merged(old, value, false) : value;
  }
  return result;
}
