// EngineRegistry: the engines of one scheduler, by id. Owner: the scheduler; changed by commands of
// the bus only. Invariants: ids are unique and for good; the default engine always exists.
// Not here: rights (bus/), validation of fields (engine_config.ts).
import { NephriteError } from '../base/errors.ts';
import { Engine } from './engine.ts';
import { DEFAULT_ENGINE_CONFIG, parseEngineConfig } from './engine_config.ts';
import type { TimerHost } from './engine_timers.ts';

export class EngineRegistry {
  readonly default: Engine;
  readonly #host: TimerHost;
  readonly #byId = new Map<string, Engine>();

  constructor(host: TimerHost) {
    this.#host = host;
    this.default = this.register(DEFAULT_ENGINE_CONFIG);
  }

  /** @throws ERR_ENGINE_EXISTS and the errors of parseEngineConfig() */
  register(given: unknown): Engine {
    const config = parseEngineConfig(given);
    if (this.#byId.has(config.engineId)) {
      const text = `engine "${config.engineId}" is registered already: update it instead`;
      throw new NephriteError('ERR_ENGINE_EXISTS', text);
    }
    const engine = new Engine(config, this.#host);
    this.#byId.set(config.engineId, engine);
    return engine;
  }

  /** Fields that `changes` does not have stay. @throws ERR_ENGINE_UNKNOWN */
  update(engineId: string, changes: unknown): Engine {
    const engine = this.get(engineId);
    const given = typeof changes === 'object' && changes !== null ? changes : {};
    engine.update(parseEngineConfig({ ...engine.config, ...given, engineId }));
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

  [Symbol.iterator](): Iterator<Engine> {
    return this.#byId.values();
  }
}
