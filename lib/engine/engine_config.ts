// EngineRuntimeConfig: all that the scheduler knows of an engine (seed 1, 4.2 and S-14), and the
// check of what a user gives. Owner: none, immutable values.
// Invariants: a config that has passed parseEngineConfig() is frozen and whole; fields are read
// once. Not here: definitions with names and capabilities (EngineDefinition), wheels
// (engine_timers.ts).
import { invalidArgType, invalidArgValue, outOfRange } from '../base/errors.ts';

/** What happens to the runs of periodic work that could not start in time (seed 1, 4.4). */
export type OverrunPolicy = 'drift' | 'skip' | 'queue';

/** An engine with it has a timer wheel (S-15). */
export interface TimerWheelConfig {
  /** Length of a tick in milliseconds, 1 to 1000; default 1. Timers fire up to a tick late. */
  readonly tickMs: number;
}

export interface ResourceLimits {
  /** Tasks of the engine that have not ended, 1 up; default Infinity. */
  readonly tasksMax: number;
  /** Armed timers, 1 up; default 16,777,216. */
  readonly timersMax: number;
}

export interface MetricsConfig {
  /** Whether the durations of periodic runs are recorded; default true. */
  readonly handlerDuration: boolean;
}

/** Scheduler-relevant configuration of an engine (seed 1, 4.2). */
export interface EngineRuntimeConfig {
  readonly engineId: string;
  /** Reductions per slice, 1 to 1,000,000; default 4000. */
  readonly reductionLimit: number;
  readonly timerWheelConfig: TimerWheelConfig | undefined;
  readonly resourceLimits: ResourceLimits;
  /** For periodic work that names none; default 'drift'. */
  readonly overrunPolicy: OverrunPolicy;
  readonly metricsConfig: MetricsConfig;
}

/** What a user writes: everything but `engineId` may be left out. */
export interface EngineConfigInput {
  readonly engineId: string;
  readonly reductionLimit?: number | undefined;
  readonly timerWheelConfig?: Partial<TimerWheelConfig> | undefined;
  readonly resourceLimits?: Partial<ResourceLimits> | undefined;
  readonly overrunPolicy?: OverrunPolicy | undefined;
  readonly metricsConfig?: Partial<MetricsConfig> | undefined;
}

export const REDUCTION_LIMIT_DEFAULT = 4000;
const TIMERS_MAX_DEFAULT = 2 ** 24;
const POLICIES: readonly OverrunPolicy[] = ['drift', 'skip', 'queue'];

export const DEFAULT_ENGINE_CONFIG: EngineConfigInput = {
  engineId: 'default',
  timerWheelConfig: { tickMs: 1 },
};

function checkObject(name: string, value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw invalidArgType(name, 'of type object', value);
}

function integerIn(name: string, value: unknown, most: number, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value !== 'number') throw invalidArgType(name, 'of type number', value);
  const isAllowed = value >= 1 && value <= most && (Number.isInteger(value) || value === Infinity);
  if (!isAllowed) throw outOfRange(name, `an integer >= 1 and <= ${most}`, value);
  return value;
}

/** @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE */
export function parseEngineConfig(given: unknown): EngineRuntimeConfig {
  const {
    engineId,
    reductionLimit,
    timerWheelConfig,
    resourceLimits,
    overrunPolicy,
    metricsConfig,
  } = checkObject('config', given);
  if (typeof engineId !== 'string') {
    throw invalidArgType('config.engineId', 'of type string', engineId);
  }
  if (engineId === '') throw invalidArgValue('config.engineId', engineId, 'must not be empty');
  const policy = (overrunPolicy ?? 'drift') as OverrunPolicy;
  if (!POLICIES.includes(policy)) {
    const reason = `must be one of ${POLICIES.join(', ')}`;
    throw invalidArgValue('config.overrunPolicy', overrunPolicy, reason);
  }
  const limits = checkObject('config.resourceLimits', resourceLimits ?? {});
  const metrics = checkObject('config.metricsConfig', metricsConfig ?? {});
  const name = 'config.resourceLimits';
  return Object.freeze({
    engineId,
    reductionLimit: integerIn(
      'config.reductionLimit',
      reductionLimit,
      1_000_000,
      REDUCTION_LIMIT_DEFAULT,
    ),
    timerWheelConfig: parseWheel(timerWheelConfig),
    resourceLimits: Object.freeze({
      tasksMax: integerIn(`${name}.tasksMax`, limits.tasksMax, Infinity, Infinity),
      timersMax: integerIn(
        `${name}.timersMax`,
        limits.timersMax,
        TIMERS_MAX_DEFAULT,
        TIMERS_MAX_DEFAULT,
      ),
    }),
    overrunPolicy: policy,
    metricsConfig: Object.freeze({ handlerDuration: metrics.handlerDuration !== false }),
  });
}

function parseWheel(given: unknown): TimerWheelConfig | undefined {
  if (given === undefined || given === null) return undefined;
  const { tickMs } = checkObject('config.timerWheelConfig', given);
  const name = 'config.timerWheelConfig.tickMs';
  return Object.freeze({ tickMs: integerIn(name, tickMs, 1000, 1) });
}
