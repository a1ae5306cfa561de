// EngineDefinition -> EngineDescriptor -> EngineRuntimeConfig: what a user writes, the same checked
// and frozen, and the part of it that the scheduler gets to see (S-14).
// Owner: none, immutable values. Invariants: only defineEngine() makes descriptors; fields are read
// once; a field that is none is an error, since a misspelt limit limits nothing.
// Not here: engines at work (engine.ts), who grants capabilities (runtime_with.ts).
import { invalidArgType, invalidArgValue } from '../base/errors.ts';
import { ALL_CAPABILITIES, type CapabilityOptions, narrow } from '../bus/capabilities.ts';
import {
  type EngineConfigInput,
  type EngineRuntimeConfig,
  parseEngineConfig,
} from './engine_config.ts';

/** What a user writes; everything but `engineId` may be left out. */
export interface EngineDefinition extends EngineConfigInput {
  /** For people; default: the id. */
  readonly name?: string | undefined;
  /**
   * What the engine's tasks may do; absent fields are as with whoever spawns them. A task whose own
   * capabilities are fewer cannot spawn on it (ERR_CAPABILITY_WIDER).
   */
  readonly capabilities?: CapabilityOptions | undefined;
}

/** A checked definition with all defaults filled in; immutable. */
export interface EngineDescriptor {
  readonly engineId: string;
  readonly name: string;
  readonly capabilities: CapabilityOptions | undefined;
  /** All that the scheduler knows of the engine. */
  readonly config: EngineRuntimeConfig;
}

const CONFIG_FIELDS = [
  'engineId',
  'reductionLimit',
  'timerWheelConfig',
  'resourceLimits',
  'overrunPolicy',
  'metricsConfig',
];
const FIELDS = new Set<unknown>([...CONFIG_FIELDS, 'name', 'capabilities']);
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  timerWheelConfig: ['tickMs'],
  resourceLimits: ['tasksMax', 'timersMax'],
  metricsConfig: ['handlerDuration'],
};

const genuine = new WeakSet<object>();

export function isEngineDescriptor(value: unknown): value is EngineDescriptor {
  return typeof value === 'object' && value !== null && genuine.has(value);
}

/** Own fields, each read once. @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE */
function readFields(name: string, value: unknown, fields: ReadonlySet<unknown>) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidArgType(name, 'of type object', value);
  }
  const copy: Record<string, unknown> = { ...value };
  for (const field of Reflect.ownKeys(copy)) {
    if (fields.has(field)) continue;
    const reason = `is none of ${[...fields].join(', ')}`;
    throw invalidArgValue(`${name}.${String(field)}`, copy[field as string], reason);
  }
  return copy;
}

function readGroup(name: string, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  return readFields(`definition.${name}`, value, new Set<unknown>(GROUPS[name]));
}

/**
 * Checks a definition and fills in its defaults. Give the result to Runtime.start({ engines }) or
 * `rt.engines.register()`, any number of times.
 * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE
 */
export function defineEngine(definition: EngineDefinition): EngineDescriptor {
  const given = readFields('definition', definition, FIELDS);
  for (const group of Object.keys(GROUPS)) given[group] = readGroup(group, given[group]);
  const config = parseEngineConfig(given);
  const name = given.name ?? config.engineId;
  if (typeof name !== 'string') {
    throw invalidArgType('definition.name', 'of type string', name);
  }
  const capabilities = checkedCapabilities(given.capabilities as CapabilityOptions | undefined);
  const descriptor = Object.freeze({ engineId: config.engineId, name, capabilities, config });
  genuine.add(descriptor);
  return descriptor;
}

/** A copy, one level and its lists deep, that was looked at by those who will apply it. */
function checkedCapabilities(given: CapabilityOptions | undefined): CapabilityOptions | undefined {
  if (given === undefined) return undefined;
  const narrowed = narrow(ALL_CAPABILITIES, given, 'definition.capabilities');
  const copy: Record<string, unknown> = {};
  for (const field of Object.keys(given)) copy[field] = narrowed[field as keyof typeof narrowed];
  return Object.freeze(copy);
}
