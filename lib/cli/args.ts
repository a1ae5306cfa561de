// Command line arguments against a table of options: node:util parseArgs plus strictness.
// Flow: argv -> [parseArguments] -> ParsedArguments -> a command's own option reader
// Owner: each command owns its table (CommandSpec); help and docs are printed from the same table.
// Invariants: an unknown, repeated or incomplete option is an error before anything is done.
// Not here: the meaning of values (stress/options.ts), help texts (help.ts).
import { parseArgs } from 'node:util';
import { usageError } from './cli_error.ts';
import { nearestName } from './nearest.ts';

/** One option of a command. */
export interface OptionSpec {
  /** Long name without dashes. */
  readonly name: string;
  /** `flag` takes nothing, `value` must have one, `optionalValue` may have one. */
  readonly kind: 'flag' | 'value' | 'optionalValue';
  /** One letter, for the few options that have a short form. */
  readonly short?: string;
  /** What the value stands for in help: `SIZE`, `FILE`, `node|fio`. */
  readonly placeholder?: string;
  /** May be given several times. */
  readonly isRepeatable?: boolean;
  /** A flag that `--no-NAME` switches off. */
  readonly isNegatable?: boolean;
  /** The default in words, for help. */
  readonly defaultText?: string;
  readonly summary: string;
}

/** One command: everything `--help` and docs/cli.md say about it. */
export interface CommandSpec {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly description: readonly string[];
  readonly options: readonly OptionSpec[];
  readonly examples: ReadonlyArray<readonly [commandLine: string, what: string]>;
  /** Further paragraphs for docs/cli.md, in Markdown. */
  readonly notes?: readonly string[];
  /** What the first argument can name, with options of its own: `stress tasks`. */
  readonly targets?: readonly CommandSpec[];
  /** Words that follow an option with an optional value and are never that value. */
  readonly reservedWords?: readonly string[];
}

/** Options as given, values not yet interpreted. */
export interface ParsedArguments {
  readonly positionals: readonly string[];
  /** Every occurrence of every given option; flags carry 'true' or 'false'. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** Every command has these. */
export const COMMON_OPTIONS: readonly OptionSpec[] = [
  { name: 'help', short: 'h', kind: 'flag', summary: 'show this help' },
];

/** Parses the arguments behind a command's name. Throws a usage error (exit code 2). */
export function parseArguments(command: CommandSpec, argv: readonly string[]): ParsedArguments {
  const specs = new Map([...command.options, ...COMMON_OPTIONS].map((spec) => [spec.name, spec]));
  const { tokens } = parseArgs({
    args: joinOptionalValues(specs, command.reservedWords ?? [], argv),
    options: Object.fromEntries(
      [...specs.values()].map((spec) => [
        spec.name,
        {
          type: spec.kind === 'flag' ? ('boolean' as const) : ('string' as const),
          ...(spec.short === undefined ? {} : { short: spec.short }),
        },
      ]),
    ),
    strict: false,
    tokens: true,
  });
  const positionals: string[] = [];
  const values = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const [spec, value] = readOption(command, specs, token.name, token.rawName, token.value);
    const given = values.get(spec.name) ?? [];
    if (given.length > 0 && spec.isRepeatable !== true) {
      throw usageError(`--${spec.name} was given twice`);
    }
    given.push(value);
    values.set(spec.name, given);
  }
  return { positionals, values };
}

function readOption(
  command: CommandSpec,
  specs: ReadonlyMap<string, OptionSpec>,
  name: string,
  rawName: string,
  value: string | undefined,
): [OptionSpec, string] {
  const spec = specs.get(name);
  if (spec === undefined) {
    const positive = name.startsWith('no-') ? specs.get(name.slice(3)) : undefined;
    if (positive?.isNegatable === true && value === undefined) return [positive, 'false'];
    throw unknownOption(command, specs, rawName);
  }
  if (spec.kind === 'flag') {
    if (value !== undefined) throw usageError(`--${name} takes no value, given '${value}'`);
    return [spec, 'true'];
  }
  const isMissing =
    value === undefined || (spec.kind === 'value' && (value === '' || value.startsWith('-')));
  if (isMissing) throw usageError(`--${name} needs a value: --${name} ${spec.placeholder ?? ''}`);
  return [spec, value];
}

/** `--json FILE` and a bare `--json` become `--json=FILE` and `--json=`, which parseArgs can read. */
function joinOptionalValues(
  specs: ReadonlyMap<string, OptionSpec>,
  reservedWords: readonly string[],
  argv: readonly string[],
): string[] {
  const joined: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '--') return [...joined, ...argv.slice(index)];
    const isOptional = word.startsWith('--') && specs.get(word.slice(2))?.kind === 'optionalValue';
    if (!isOptional) {
      joined.push(word);
      continue;
    }
    const next = argv[index + 1];
    const isValue = next !== undefined && !next.startsWith('-') && !reservedWords.includes(next);
    joined.push(isValue ? `${word}=${next}` : `${word}=`);
    if (isValue) index += 1;
  }
  return joined;
}

function unknownOption(
  command: CommandSpec,
  specs: ReadonlyMap<string, OptionSpec>,
  rawName: string,
): Error {
  const names: string[] = [];
  for (const spec of specs.values()) {
    names.push(spec.name);
    if (spec.isNegatable === true) names.push(`no-${spec.name}`);
  }
  const nearest = nearestName(rawName.replace(/^-+/, ''), names);
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`;
  return usageError(
    `unknown option ${rawName}${hint} (nephrite help ${command.name} lists them)`,
    'ERR_CLI_UNKNOWN_OPTION',
  );
}

/** The single value of an option, or undefined. */
export function textOf(parsed: ParsedArguments, name: string): string | undefined {
  return parsed.values.get(name)?.[0];
}

/** Whether a flag is on. */
export function flagOf(parsed: ParsedArguments, name: string, fallback = false): boolean {
  const value = textOf(parsed, name);
  return value === undefined ? fallback : value === 'true';
}
