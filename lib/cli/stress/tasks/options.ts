// Typed options of `nephrite stress tasks`. Owner: the command; read-only afterwards.
// Invariants: every number is within its bounds; a tree has at most a million tasks or so.
// Not here: the option table (option_table.ts), the mix (mix.ts).
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { flagOf, type ParsedArguments, textOf } from '../../args.ts';
import { usageError } from '../../cli_error.ts';
import type { Condition } from '../fail_if.ts';
import {
  type BackendName,
  duration,
  integer,
  type OutputOptions,
  readBackend,
  readConditions,
  readOutput,
  readSeed,
} from '../option_values.ts';
import { DEFAULT_MIX, type Mix, parseMix } from './mix.ts';

const LEAVES_MAX = 1e6;

export interface TasksOptions extends OutputOptions {
  readonly mix: Mix;
  readonly depth: number;
  readonly levels: number;
  readonly fanout: number;
  readonly durationMs: number;
  /** Load before that, checked but not measured. */
  readonly rampMs: number;
  readonly isVerified: boolean;
  readonly seed: number;
  readonly dir: string;
  readonly backend: BackendName | null;
  readonly conditions: readonly Condition[];
}

/** Reads, checks and completes the options. Throws usage errors. */
export function readTasksOptions(parsed: ParsedArguments): TasksOptions {
  const mix = textOf(parsed, 'mix');
  const options: TasksOptions = {
    mix: mix === undefined ? DEFAULT_MIX : parseMix(mix),
    depth: integer(parsed, 'depth', 1, 10_000) ?? 16,
    levels: integer(parsed, 'levels', 0, 8) ?? 3,
    fanout: integer(parsed, 'fanout', 1, 64) ?? 5,
    durationMs: duration(parsed, 'duration', 100) ?? 10_000,
    rampMs: duration(parsed, 'ramp', 0) ?? 500,
    isVerified: flagOf(parsed, 'verify', true),
    seed: readSeed(parsed),
    dir: resolve(textOf(parsed, 'dir') ?? tmpdir()),
    backend: readBackend(parsed),
    conditions: readConditions(parsed, ['ratio']),
    ...readOutput(parsed),
  };
  const { levels, fanout, depth } = options;
  if (fanout ** levels * depth > LEAVES_MAX) {
    throw usageError(
      `--fanout ${fanout} and --levels ${levels} make trees of up to ${fanout ** levels} leaves; ` +
        `times --depth ${depth} that is more than ${LEAVES_MAX}`,
    );
  }
  return options;
}
