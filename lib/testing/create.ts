// createTestRuntime: what users call. Owner: none, stateless.
// Invariants: options are checked before anything is opened or installed.
// Not here: how the runtimes are put together (test_runtime.ts).
import { randomInt } from 'node:crypto';
import { invalidArgType } from '../base/errors.ts';
import { parseRecording } from '../bus/recording.ts';
import { makeReplayRuntime } from './replay_runtime.ts';
import {
  checkSeed,
  makeSeededRuntime,
  type TestOptions,
  type TestRuntime,
} from './test_runtime.ts';

const SEED_MAX = 2 ** 31;

/**
 * A runtime for tests: tasks in an order drawn from the seed, a virtual clock, preemption by
 * reductions only, and I/O that really happens, but when and how the seed says. While it is open,
 * all I/O of the thread is simulated; close it (`await using`).
 * With `replay`, completions, expiries, preemptions and the order come from a recording; where the
 * program does something else, run(), spawn() and close() give ERR_REPLAY_DIVERGED.
 * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE, ERR_ENGINE_EXISTS,
 * ERR_BACKEND_UNAVAILABLE
 */
export function createTestRuntime(options: TestOptions = {}): TestRuntime {
  if (typeof options !== 'object' || options === null) {
    throw invalidArgType('options', 'of type object', options);
  }
  if (options.replay !== undefined) {
    return makeReplayRuntime(options, parseRecording('options.replay', options.replay));
  }
  return makeSeededRuntime(options, checkSeed(options.seed ?? randomInt(SEED_MAX)));
}
