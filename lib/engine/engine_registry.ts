// EngineRegistry: the engines of one scheduler, by id. Owner: the scheduler; changed by commands of
// the bus only. Invariants: ids are unique and for good; the default engine always exists.
// Not here: rights (bus/), validation of fields (engine_config.ts).
import { NephriteError } from '../base/errors.ts';
import { Engine } from './engine.ts';
import { DEFAULT_ENGINE_CONFIG, parseEngineConfig } from './engine_config.ts';
import { type EngineDescriptor, isEngineDescriptor } from './engine_definition.ts';
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
   * Takes a config or a descriptor.
   * @throws ERR_ENGINE_EXISTS and the errors of parseEngineConfig()
   */
  register(given: unknown): Engine {
    const descriptor = isEngineDescriptor(given) ? given : undefined;
    const config = descriptor?.config ?? parseEngineConfig(given);
    if (this.#byId.has(config.engineId)) {
      const text = `engine "${config.engineId}" is registered already: update it instead`;
      throw new NephriteError('ERR_ENGINE_EXISTS', text);
    }
    const engine = new Engine(config, this.#host);
    this.#byId.set(config.engineId, engine);
    if (descriptor !== undefined) this.#descriptors.set(config.engineId, descriptor);
    return engine;
  }

  /**
   * Fields that `changes` does not have, or has as undefined, stay: also those of its groups
   * (`resourceLimits`). @throws ERR_ENGINE_UNKNOWN
   */
  update(engineId: string, changes: unknown): Engine {
    const engine = this.get(engineId);
    const given = typeof changes === 'object' && changes !== null ? changes : {};
    engine.update(parseEngineConfig({ ...merged(engine.config, given, true), engineId }));
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

  /** Undefined: it was registered by a config. */
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
