// Durations as tests write them: milliseconds as a number, or '250ms', '5s', '3h', '13d'.
// Owner: none, stateless. Invariants: what is no duration is refused, never read as something near.
// Not here: who waits (test_clock.ts).
import { invalidArgType, invalidArgValue, outOfRange } from '../base/errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const SHAPE = /^(\d+(?:\.\d+)?)(us|ms|s|m|h|d)$/;
const DURATION_MS_MAX = 1000 * 365 * 86_400_000;

/** Milliseconds >= 0 as a number, or a number with a unit: us, ms, s, m (minutes), h, d. */
export type Duration = number | string;

/** In milliseconds. @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE */
export function parseDuration(name: string, value: unknown): number {
  let durationMs: number;
  if (typeof value === 'string') {
    const parts = SHAPE.exec(value);
    if (parts === null) {
      throw invalidArgValue(name, value, "must be like '250ms', '5s', '10m', '3h' or '13d'");
    }
    durationMs = Number(parts[1]) * UNIT_MS[parts[2]];
  } else if (typeof value === 'number') {
    durationMs = value;
  } else {
    throw invalidArgType(name, 'a number of milliseconds or a string', value);
  }
  if (durationMs >= 0 && durationMs <= DURATION_MS_MAX) return durationMs;
  throw outOfRange(name, '>= 0 and at most 1000 years', value);
}
