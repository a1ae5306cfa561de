// nephrite/engine: what engines are made of. Public names only. Owner: none.
// Not here: registering them (Runtime.start, rt.engines), engines at work (engine/engine.ts).
export type {
  EngineConfigInput,
  EngineRuntimeConfig,
  MetricsConfig,
  OverrunPolicy,
  ResourceLimits,
  TimerWheelConfig,
} from './engine/engine_config.ts';
export {
  defineEngine,
  type EngineDefinition,
  type EngineDescriptor,
} from './engine/engine_definition.ts';
