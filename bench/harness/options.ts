// Command line of `npm run bench`: `NAME [--quick] [--json FILE] [--case NAME] [--subject NAME]
// [--rounds N]`. Every wrong name is refused before anything runs, with what is allowed.
import { parseArgs } from 'node:util';

export interface BenchOptions {
  name: string;
  quick: boolean;
  json?: string;
  /** Empty: all. */
  cases: readonly string[];
  /** Empty: all. */
  subjects: readonly string[];
  rounds: number;
}

export class UsageError extends Error {
  readonly code = 'ERR_BENCH_USAGE';
}

export const ROUNDS_MIN = 5;
const ROUNDS_QUICK = 5;
const ROUNDS_FULL = 9;
const ROUNDS_MAX = 1000;

export const USAGE = `usage: npm run bench -- NAME [options]

  --quick          ends within a minute; shorter runs, fewer files (said in the rows)
  --json FILE      also writes the report as JSON
  --case NAME      only this case (repeatable)
  --subject NAME   only this subject (repeatable); ratios need their peer in the same run
  --rounds N       interleaved rounds after the warm-up, at least ${ROUNDS_MIN};
                   default ${ROUNDS_FULL}, with --quick ${ROUNDS_QUICK}
  --help           this text`;

export interface Names {
  suites: readonly string[];
  cases: readonly string[];
  subjects: readonly string[];
}

export function parseOptions(argv: readonly string[], names: Names): BenchOptions | 'help' {
  const { values, positionals } = parseArguments(argv);
  if (values.help) return 'help';
  if (positionals.length !== 1) {
    throw new UsageError(`one benchmark name expected, one of: ${names.suites.join(', ')}`);
  }
  const quick = values.quick ?? false;
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (
    rounds !== undefined &&
    !(Number.isInteger(rounds) && rounds >= ROUNDS_MIN && rounds <= ROUNDS_MAX)
  ) {
    throw new UsageError(
      `--rounds ${values.rounds}: an integer from ${ROUNDS_MIN} to ${ROUNDS_MAX} expected`,
    );
  }
  return {
    name: known('benchmark', positionals[0], names.suites),
    quick,
    json: values.json,
    cases: (values.case ?? []).map((name) => known('case', name, names.cases)),
    subjects: (values.subject ?? []).map((name) => known('subject', name, names.subjects)),
    rounds: rounds ?? (quick ? ROUNDS_QUICK : ROUNDS_FULL),
  };
}

function parseArguments(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        json: { type: 'string' },
        case: { type: 'string', multiple: true },
        subject: { type: 'string', multiple: true },
        rounds: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function known(what: string, name: string, allowed: readonly string[]): string {
  if (!allowed.includes(name)) {
    throw new UsageError(`unknown ${what} '${name}', one of: ${allowed.join(', ')}`);
  }
  return name;
}
