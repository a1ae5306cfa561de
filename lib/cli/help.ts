// Help texts and docs/cli.md, both printed from the command tables.
// Flow: CommandSpec -> [renderHelp, renderDocs] -> terminal, docs/cli.md
// Owner: nobody; pure functions. Invariants: nothing is said here that is not in a table, so help,
// documentation and parser cannot disagree.
// Not here: the tables (commands.ts and each command's own).
import type { CommandSpec, OptionSpec } from './args.ts';
import { COMMON_OPTIONS } from './args.ts';
import { EXIT_CODE_ROWS } from './exit_codes.ts';
import { wrapText } from './wrap_text.ts';

const WIDTH = 96;
const OPTION_COLUMN = 24;

/** `nephrite --help`. */
export function renderOverview(commands: readonly CommandSpec[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'nephrite: files at io_uring speed for Node.js; this command puts it, and your disk, to the test',
    '',
    'usage: nephrite COMMAND [options]',
    '',
    'commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}`),
    `  ${'help'.padEnd(width)}   help COMMAND shows all options of a command`,
    '',
    'options:',
    '  -h, --help       show this help',
    '  --version        show the version',
    '',
    ...exitCodeLines(),
    '',
  ].join('\n');
}

/** `nephrite COMMAND --help`. */
export function renderHelp(command: CommandSpec): string {
  const options = [...command.options, ...COMMON_OPTIONS];
  return [
    `usage: ${command.usage}`,
    '',
    ...command.description,
    '',
    'options:',
    ...options.flatMap(optionLines),
    '',
    'examples:',
    ...command.examples.flatMap(([line, what]) => [`  ${line}`, `      ${what}`]),
    '',
    ...targetLines(command),
    ...exitCodeLines(),
    '',
  ].join('\n');
}

function targetLines({ targets = [] }: CommandSpec): string[] {
  if (targets.length === 0) return [];
  const width = Math.max(...targets.map(({ name }) => name.length));
  return [
    'other targets, with options of their own (nephrite help TARGET lists them):',
    ...targets.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}`),
    '',
  ];
}

/** docs/cli.md. */
export function renderDocs(commands: readonly CommandSpec[]): string {
  return [
    '# Command line',
    '',
    '<!-- Generated from the tables in lib/cli; `npx vitest run test/cli/commands.test.ts -u` -->',
    '<!-- writes it anew. -->',
    '',
    '`npx nephrite COMMAND [options]`; `nephrite help COMMAND` prints the same as this page.',
    '',
    ...commands.flatMap(commandSection),
    '## Exit codes',
    '',
    '| code | meaning |',
    '| --- | --- |',
    ...EXIT_CODE_ROWS.map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`),
    '',
  ].join('\n');
}

function commandSection(command: CommandSpec): string[] {
  return [...ownSection(command), ...(command.targets ?? []).flatMap(ownSection)];
}

function ownSection(command: CommandSpec): string[] {
  return [
    `## nephrite ${command.name}`,
    '',
    `    ${command.usage}`,
    '',
    ...command.description,
    '',
    '| option | default | meaning |',
    '| --- | --- | --- |',
    ...[...command.options, ...COMMON_OPTIONS].map(
      (option) =>
        `| \`${cell(optionTitle(option))}\` | ${cell(option.defaultText ?? '')} | ` +
        `${cell(option.summary)}${option.isRepeatable === true ? ' (repeatable)' : ''} |`,
    ),
    '',
    ...command.examples.flatMap(([line, what]) => [`    # ${what}`, `    ${line}`, '']),
    ...(command.notes ?? []).flatMap((note) => [note, '']),
  ];
}

function optionLines(option: OptionSpec): string[] {
  const title = `  ${optionTitle(option)}`;
  const repeat = option.isRepeatable === true ? ' (repeatable)' : '';
  const fallback = option.defaultText === undefined ? '' : ` [${option.defaultText}]`;
  const body = wrapText(`${option.summary}${repeat}${fallback}`, WIDTH - OPTION_COLUMN);
  const indented = body.map((line) => `${' '.repeat(OPTION_COLUMN)}${line}`);
  if (title.length >= OPTION_COLUMN - 1) return [title, ...indented];
  return [title.padEnd(OPTION_COLUMN) + (body[0] ?? ''), ...indented.slice(1)];
}

function optionTitle(option: OptionSpec): string {
  const short = option.short === undefined ? '' : `-${option.short}, `;
  const negative = option.isNegatable === true ? '[no-]' : '';
  const value =
    option.kind === 'flag'
      ? ''
      : option.kind === 'value'
        ? ` ${option.placeholder ?? 'VALUE'}`
        : ` [${option.placeholder ?? 'VALUE'}]`;
  return `${short}--${negative}${option.name}${value}`;
}

function exitCodeLines(): string[] {
  return [
    'exit codes:',
    ...EXIT_CODE_ROWS.map(([code, text]) => `  ${String(code).padEnd(5)}${text}`),
  ];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
