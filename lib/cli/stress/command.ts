// `nephrite stress`: arguments to exit code.
// Flow: argv -> options -> subject -> runStress -> report, JSON, page -> exit code
// Owner: one call. Invariants: nothing is written before all options are known to be right; the
// report goes to standard output, progress to standard error, unless the JSON needs the former.
// Not here: the run (run.ts), what the options mean (options.ts).
import { writeFile } from 'node:fs/promises';
import { parseArguments } from '../args.ts';
import { errorTextOf, troubleError, usageError } from '../cli_error.ts';
import { EXIT } from '../exit_codes.ts';
import { StopControl } from '../load/stop_control.ts';
import { createNephriteSubject } from '../load/subject_nephrite.ts';
import { nearestName } from '../nearest.ts';
import { renderHtml } from '../report/html.ts';
import { Progress, SILENT_OBSERVER } from '../report/progress.ts';
import { renderText } from '../report/text.ts';
import { listenToSignals } from './interrupt.ts';
import { PLANNED_TARGETS, STRESS_COMMAND, STRESS_TARGETS } from './option_table.ts';
import { readStressOptions, type StressOptions } from './options.ts';
import type { StressResult } from './result.ts';
import { runStress } from './run.ts';

/** Runs `nephrite stress ...` and returns the exit code. */
export async function stressCommand(argv: readonly string[]): Promise<number> {
  const parsed = parseArguments(STRESS_COMMAND, argv);
  checkTarget(parsed.positionals);
  const options = readStressOptions(parsed);
  const subject = createNephriteSubject(options.backend, options.depth);
  const stop = new StopControl();
  const progress = options.isQuiet ? null : new Progress(process.stderr);
  const stopListening = listenToSignals(stop, (signal) =>
    progress?.note(`${signal}: stopping, the report follows (again to end at once)`),
  );
  try {
    const result = await runStress(options, subject, stop, progress ?? SILENT_OBSERVER);
    progress?.finish();
    await deliver(result, options);
    return exitCodeOf(result);
  } finally {
    progress?.finish();
    stopListening();
  }
}

/** A failed check outweighs the signal that ended the run: scripts look at the code alone. */
function exitCodeOf(result: StressResult): number {
  if (result.isFailed) return EXIT.failed;
  if (result.stopped === 'SIGINT') return EXIT.interrupted;
  return result.stopped === 'SIGTERM' ? EXIT.terminated : EXIT.ok;
}

async function deliver(result: StressResult, options: StressOptions): Promise<void> {
  const json = `${JSON.stringify(result, null, 2)}\n`;
  const ownsOutput = options.jsonPath === '';
  if (!options.isQuiet || result.isFailed) {
    const output = ownsOutput ? process.stderr : process.stdout;
    output.write(renderText(result, options));
  }
  if (ownsOutput) process.stdout.write(json);
  else if (options.jsonPath !== null) await writeOutput('json', options.jsonPath, json);
  if (options.htmlPath !== null) {
    await writeOutput('html', options.htmlPath, renderHtml(result, options));
  }
}

async function writeOutput(option: string, path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw troubleError('ERR_CLI_SETUP', `--${option} ${path}: ${errorTextOf(error)}`, error);
  }
}

function checkTarget(positionals: readonly string[]): void {
  const [target = 'files', extra] = positionals;
  if (extra !== undefined) throw usageError(`unexpected '${extra}' after 'stress ${target}'`);
  if (STRESS_TARGETS.some((name) => name === target)) return;
  if (PLANNED_TARGETS.includes(target)) {
    throw usageError(
      `stress ${target} is not in this version; it has: stress ${STRESS_TARGETS.join(', ')}`,
      'ERR_CLI_NOT_IN_THIS_VERSION',
    );
  }
  const nearest = nearestName(target, STRESS_TARGETS);
  const hint = nearest === undefined ? '' : `; did you mean '${nearest}'?`;
  throw usageError(`stress has no target '${target}'${hint}`, 'ERR_CLI_UNKNOWN_COMMAND');
}
