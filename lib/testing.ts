// nephrite/testing: runtimes for tests. Public names only. Owner: none.
// Not here: the library itself, which never loads this (index.ts).
export type { SimulatedFaults } from './backend/simulated/fault_plan.ts';
export type { RecordedEvent, Recording } from './bus/recording.ts';
export { createTestRuntime } from './testing/create.ts';
export type { Duration } from './testing/duration.ts';
export { type RunRecorder, recordRun } from './testing/record_run.ts';
export type { TestClock } from './testing/test_clock.ts';
export type { TestOptions, TestRuntime } from './testing/test_runtime.ts';
