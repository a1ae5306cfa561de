// `nephrite stress`: arguments to exit code; the first argument names the target.
// Flow: argv -> target -> options -> run -> report (deliver.ts) -> exit code
// Owner: one call. Invariants: nothing is written before all options are known to be right; a
// target's code is loaded only when it runs.
// Not here: the run of files (run.ts), what the options mean (options.ts), tasks/ and timers/.
import { parseArguments } from '../args.ts';
import { usageError } from '../cli_error.ts';
import { createNephriteSubject } from '../load/subject_nephrite.ts';
import { nearestName } from '../nearest.ts';
import { filesHeadline } from '../report/headline.ts';
import { SILENT_OBSERVER } from '../report/progress.ts';
import { runWithReport } from './deliver.ts';
import { PLANNED_TARGETS, STRESS_COMMAND, STRESS_TARGETS } from './option_table.ts';
import { readStressOptions } from './options.ts';
import { runStress } from './run.ts';

/** Runs `nephrite stress ...` and returns the exit code. */
export async function stressCommand(argv: readonly string[]): Promise<number> {
  const [target, ...rest] = argv;
  if (target === 'tasks') return (await import('./tasks/command.ts')).stressTasks(rest);
  if (target === 'timers') return (await import('./timers/command.ts')).stressTimers(rest);
  return stressFiles(argv);
}

function stressFiles(argv: readonly string[]): Promise<number> {
  const parsed = parseArguments(STRESS_COMMAND, argv);
  checkTarget(parsed.positionals);
  const options = readStressOptions(parsed);
  const subject = createNephriteSubject(options.backend, options.depth);
  return runWithReport(options, async (stop, progress) => {
    const result = await runStress(options, subject, stop, progress ?? SILENT_OBSERVER);
    return { result, headline: filesHeadline(result, options) };
  });
}

function checkTarget(positionals: readonly string[]): void {
  const [target = 'files', extra] = positionals;
  if (extra !== undefined) throw usageError(`unexpected '${extra}' after 'stress ${target}'`);
  if (target === 'files') return;
  if (STRESS_TARGETS.some((name) => name === target)) {
    throw usageError(`the target comes first: nephrite stress ${target} [options]`);
  }
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
