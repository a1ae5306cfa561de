// Typed options of `nephrite stress timers`, and its distributions of delays.
// Owner: the command; read-only afterwards. Invariants: every number is within its bounds.
// Not here: the option table (option_table.ts).
import type { Prng } from '../../../base/prng.ts';
import { type ParsedArguments, textOf } from '../../args.ts';
import { parseInteger } from '../../units.ts';
import type { Condition } from '../fail_if.ts';
import {
  type BackendName,
  choice,
  duration,
  integer,
  type OutputOptions,
  readBackend,
  readConditions,
  readOutput,
  readSeed,
} from '../option_values.ts';

const DAY_MS = 24 * 3600e3;
const DELAY_NAMES = ['short', 'mixed', 'long'] as const;

export type DelayName = (typeof DELAY_NAMES)[number];

export interface TimersOptions extends OutputOptions {
  readonly delays: DelayName;
  readonly depth: number;
  readonly cancelPercent: number;
  /** Timers armed per second; null: as many as fit. */
  readonly ratePerSecond: number | null;
  readonly durationMs: number;
  /** Load before that, checked but not measured. */
  readonly rampMs: number;
  readonly seed: number;
  readonly backend: BackendName | null;
  readonly conditions: readonly Condition[];
}

/** Reads, checks and completes the options. Throws usage errors. */
export function readTimersOptions(parsed: ParsedArguments): TimersOptions {
  const depth = textOf(parsed, 'depth') ?? '10k';
  const rate = textOf(parsed, 'rate');
  return {
    delays: choice(parsed, 'delays', DELAY_NAMES) ?? 'mixed',
    depth: parseInteger('depth', depth, { min: 1, max: 1e6 }, true),
    cancelPercent: integer(parsed, 'cancel', 0, 100) ?? 50,
    ratePerSecond:
      rate === undefined ? null : parseInteger('rate', rate, { min: 1, max: 1e7 }, true),
    durationMs: duration(parsed, 'duration', 100) ?? 10_000,
    rampMs: duration(parsed, 'ramp', 0) ?? 500,
    seed: readSeed(parsed),
    backend: readBackend(parsed),
    conditions: readConditions(parsed, ['mib', 'syscalls', 'ratio']),
    ...readOutput(parsed),
  };
}

/** The next delay in milliseconds, fractions included. */
export function drawDelayMs(delays: DelayName, prng: Prng): number {
  if (delays === 'short') return prng.nextFraction() * 20;
  if (delays === 'long') return logUniform(prng, 1000, 800 * DAY_MS);
  const part = prng.nextBelow(10);
  if (part === 0) return 0;
  if (part < 5) return prng.nextFraction() * 20;
  return part < 8 ? logUniform(prng, 1, 1000) : logUniform(prng, 1000, 30 * DAY_MS);
}

/** Every decade equally often. */
function logUniform(prng: Prng, least: number, most: number): number {
  return least * (most / least) ** prng.nextFraction();
}
