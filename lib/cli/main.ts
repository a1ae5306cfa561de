// Entry of the command line: finds the command, runs it, turns errors into messages and exit codes.
// Flow: process.argv -> [main] -> a command -> process.exitCode
// Owner: the process. Invariants: a CliError is one line without a stack; anything else is a defect
// and shows its stack; a closed output pipe (`| head`) ends quietly.
// Not here: what commands do; each is loaded only when it is asked for.
import type { CommandSpec } from './args.ts';
import { CliError, usageError } from './cli_error.ts';
import { COMMANDS, runCommand } from './commands.ts';
import { EXIT } from './exit_codes.ts';
import { renderHelp, renderOverview } from './help.ts';
import { packageVersion } from './host/machine.ts';
import { nearestName } from './nearest.ts';

process.stdout.on('error', onOutputError);
process.stderr.on('error', onOutputError);
process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  try {
    return await dispatch(argv);
  } catch (error) {
    if (error instanceof CliError) {
      process.stderr.write(`nephrite: ${error.message}\n`);
      return error.exitCode;
    }
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`nephrite: unexpected error\n${stack}\n`);
    return EXIT.failed;
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined) {
    process.stderr.write(renderOverview(COMMANDS));
    return EXIT.usage;
  }
  if (name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
    process.stdout.write(renderOverview(COMMANDS));
    return EXIT.ok;
  }
  if (name === '--version') {
    process.stdout.write(`${packageVersion()}\n`);
    return EXIT.ok;
  }
  if (name === 'help') return showHelp(findTarget(findCommand(rest[0] ?? ''), rest[1]));
  if (name.startsWith('-')) throw unknownFirstOption(name);
  const command = findCommand(name);
  const beforeDashes = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (beforeDashes.includes('--help') || beforeDashes.includes('-h'))
    return showHelp(findTarget(command, rest[0]));
  return runCommand(command.name, rest);
}

function showHelp(command: CommandSpec): number {
  process.stdout.write(renderHelp(command));
  return EXIT.ok;
}

/** `stress tasks` has options of its own; any other word leaves the command's. */
function findTarget(command: CommandSpec, word: string | undefined): CommandSpec {
  return command.targets?.find(({ name }) => name === `${command.name} ${word}`) ?? command;
}

function findCommand(name: string): CommandSpec {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const nearest = nearestName(name, [...COMMANDS.map((known) => known.name), 'help']);
  const hint = nearest === undefined ? '' : `; did you mean '${nearest}'?`;
  throw usageError(
    `unknown command '${name}'${hint} (nephrite --help lists them)`,
    'ERR_CLI_UNKNOWN_COMMAND',
  );
}

function unknownFirstOption(name: string): Error {
  const nearest = nearestName(name.replace(/^-+/, ''), ['help', 'version']);
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`;
  return usageError(
    `unknown option ${name}${hint} (options of a command come after its name)`,
    'ERR_CLI_UNKNOWN_OPTION',
  );
}

function onOutputError(error: NodeJS.ErrnoException): void {
  // The reader has seen enough. Exit handlers still run and remove temporary files.
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
}
