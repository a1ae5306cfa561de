// What all targets of `nephrite stress` share: signals, progress, report, files, exit code.
// Flow: OutputOptions + a run -> [runWithReport] -> report, JSON, page -> exit code
// Owner: one call. Invariants: the report goes to standard output, progress to standard error,
// unless the JSON needs the former; a failed check outweighs the signal that ended the run.
// Not here: options and runs (command.ts, tasks/, timers/).
import { writeFile } from 'node:fs/promises';
import { errorTextOf, troubleError } from '../cli_error.ts';
import { EXIT } from '../exit_codes.ts';
import { StopControl } from '../load/stop_control.ts';
import type { Headline } from '../report/headline.ts';
import { renderHtml } from '../report/html.ts';
import { Progress } from '../report/progress.ts';
import { renderText } from '../report/text.ts';
import { listenToSignals } from './interrupt.ts';
import type { OutputOptions } from './option_values.ts';
import type { LoadResult } from './result.ts';

export interface Finished {
  readonly result: LoadResult;
  readonly headline: Headline;
}

/** Runs `work`, delivers what it found and returns the exit code. */
export async function runWithReport(
  output: OutputOptions,
  work: (stop: StopControl, progress: Progress | null) => Promise<Finished>,
): Promise<number> {
  const stop = new StopControl();
  const progress = output.isQuiet ? null : new Progress(process.stderr);
  const stopListening = listenToSignals(stop, (signal) =>
    progress?.note(`${signal}: stopping, the report follows (again to end at once)`),
  );
  try {
    const finished = await work(stop, progress);
    progress?.finish();
    await deliver(finished, output);
    return exitCodeOf(finished.result);
  } finally {
    progress?.finish();
    stopListening();
  }
}

/** Scripts look at the code alone. */
function exitCodeOf(result: LoadResult): number {
  if (result.isFailed) return EXIT.failed;
  if (result.stopped === 'SIGINT') return EXIT.interrupted;
  return result.stopped === 'SIGTERM' ? EXIT.terminated : EXIT.ok;
}

async function deliver({ result, headline }: Finished, options: OutputOptions): Promise<void> {
  const json = `${JSON.stringify(result, null, 2)}\n`;
  const ownsOutput = options.jsonPath === '';
  if (!options.isQuiet || result.isFailed) {
    const output = ownsOutput ? process.stderr : process.stdout;
    output.write(renderText(result, headline));
  }
  if (ownsOutput) process.stdout.write(json);
  else if (options.jsonPath !== null) await writeOutput('json', options.jsonPath, json);
  if (options.htmlPath !== null) {
    await writeOutput('html', options.htmlPath, renderHtml(result, headline));
  }
}

async function writeOutput(option: string, path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw troubleError('ERR_CLI_SETUP', `--${option} ${path}: ${errorTextOf(error)}`, error);
  }
}
