// Values of options that more than one target of `nephrite stress` has.
// Owner: nobody; pure functions over what was given. Invariants: every error names the option, what
// was given and what is allowed, before anything is done.
// Not here: the targets' own options (options.ts, tasks/options.ts, timers/options.ts).
import { randomInt } from 'node:crypto';
import { flagOf, type ParsedArguments, textOf } from '../args.ts';
import { usageError } from '../cli_error.ts';
import { badValue, parseDurationMs, parseInteger } from '../units.ts';
import { type Condition, type Metric, parseCondition } from './fail_if.ts';

const BACKENDS = ['io_uring', 'epoll', 'node'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** --backend; null: the best that works. */
export function readBackend(parsed: ParsedArguments): BackendName | null {
  return choice(parsed, 'backend', BACKENDS) ?? null;
}

/** Where the result goes. */
export interface OutputOptions {
  /** null: no JSON; empty: standard output. */
  readonly jsonPath: string | null;
  readonly htmlPath: string | null;
  readonly isQuiet: boolean;
}

export function readOutput(parsed: ParsedArguments): OutputOptions {
  return {
    jsonPath: textOf(parsed, 'json') ?? null,
    htmlPath: textOf(parsed, 'html') ?? null,
    isQuiet: flagOf(parsed, 'quiet'),
  };
}

/** --fail-if of a target that does not measure `absent`. */
export function readConditions(parsed: ParsedArguments, absent: readonly Metric[]): Condition[] {
  return (parsed.values.get('fail-if') ?? []).map((text) => {
    const condition = parseCondition(text);
    if (!absent.includes(condition.metric)) return condition;
    const message = `--fail-if '${text}': this target does not measure ${condition.metric}`;
    throw usageError(message, 'ERR_CLI_BAD_VALUE');
  });
}

/** --seed, else NEPHRITE_SEED, else a random one. */
export function readSeed(parsed: ParsedArguments): number {
  const text = textOf(parsed, 'seed') ?? process.env.NEPHRITE_SEED;
  if (text === undefined || text === '') return randomInt(2 ** 32);
  return parseInteger('seed', text, { min: 0, max: 2 ** 32 - 1 });
}

/** A whole number within bounds; undefined when the option was not given. */
export function integer(
  parsed: ParsedArguments,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const text = textOf(parsed, name);
  return text === undefined ? undefined : parseInteger(name, text, { min, max });
}

/** Milliseconds, up to a week. */
export function duration(parsed: ParsedArguments, name: string, min: number): number | undefined {
  const text = textOf(parsed, name);
  const max = 7 * 24 * 3600e3;
  return text === undefined ? undefined : parseDurationMs(name, text, { min, max });
}

/** One of the allowed words. */
export function choice<Name extends string>(
  parsed: ParsedArguments,
  name: string,
  allowed: readonly Name[],
): Name | undefined {
  const text = textOf(parsed, name);
  if (text === undefined) return undefined;
  const found = allowed.find((candidate) => candidate === text);
  if (found === undefined) throw badValue(name, text, `one of ${allowed.join(', ')}`);
  return found;
}
