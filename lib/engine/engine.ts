// Engine: an EngineRuntimeConfig at work on one worker: what its tasks ask of it, and its counts.
// Owner: the registry of one scheduler. Invariants: without timerWheelConfig there is no wheel
// (S-15). Not here: what an engine means (S-14: the scheduler does not know).
import { NephriteError } from '../base/errors.ts';
import type { PeriodicCounters, TaskEngine } from '../task/command_sink.ts';
import type { TimerPort } from '../time/timer_port.ts';
import type { EngineRuntimeConfig, OverrunPolicy } from './engine_config.ts';
import { EngineTimers, type TimerHost } from './engine_timers.ts';

export class Engine implements TaskEngine {
  readonly engineId: string;
  reductionLimit: number;
  /** Tasks that have not ended. */
  liveCount = 0;
  tasksMax: number;
  readonly periodic: PeriodicCounters = {
    targetRate: 0,
    runCount: 0,
    overrunCount: 0,
    handlerDurationMs: 0,
    isTimed: true,
  };
  readonly #host: TimerHost;
  #config: EngineRuntimeConfig;
  #timers: EngineTimers | undefined;

  constructor(config: EngineRuntimeConfig, host: TimerHost) {
    this.engineId = config.engineId;
    this.#host = host;
    this.#config = config;
    this.reductionLimit = config.reductionLimit;
    this.tasksMax = config.resourceLimits.tasksMax;
    this.periodic.isTimed = config.metricsConfig.handlerDuration;
  }

  get config(): EngineRuntimeConfig {
    return this.#config;
  }

  /**
   * Takes effect with the next slice, spawn and timer. Timers that are armed stay, and a wheel that
   * is in use keeps its tick.
   */
  update(config: EngineRuntimeConfig): void {
    this.#config = config;
    this.reductionLimit = config.reductionLimit;
    this.tasksMax = config.resourceLimits.tasksMax;
    this.periodic.isTimed = config.metricsConfig.handlerDuration;
    if (this.#timers !== undefined) this.#timers.timersMax = config.resourceLimits.timersMax;
  }

  get overrunPolicy(): OverrunPolicy {
    return this.#config.overrunPolicy;
  }

  timers(): TimerPort {
    const { timerWheelConfig, resourceLimits } = this.#config;
    if (timerWheelConfig === undefined) {
      throw new NephriteError(
        'ERR_ENGINE_NO_TIMER_WHEEL',
        `engine "${this.engineId}" has no timer wheel: give it a timerWheelConfig`,
      );
    }
    const { tickMs } = timerWheelConfig;
    this.#timers ??= new EngineTimers(this.#host, this.engineId, tickMs, resourceLimits.timersMax);
    return this.#timers;
  }

  /** Its wheel, if it was ever used. */
  get activeTimers(): EngineTimers | undefined {
    return this.#timers;
  }
}
