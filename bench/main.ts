// Entry of `npm run bench -- NAME [options]`. Prints the report, writes it as JSON if asked to.
// Exit code: 0 when everything selected was measured, whatever the verdicts; 1 when a subject
// failed or could not run; 2 for a wrong command line. Progress goes to stderr, the report to
// stdout.
import { filesSuite } from './files.ts';
import { type BenchOptions, parseOptions, USAGE, UsageError } from './harness/options.ts';
import { writeReport } from './harness/report.ts';
import { runSuite } from './harness/run_suite.ts';
import { SUBJECT_NAMES } from './harness/subjects.ts';
import { renderReport } from './harness/table.ts';
import { tasksSuite } from './tasks.ts';
import { timersSuite } from './timers.ts';

const SUITES = [filesSuite, tasksSuite, timersSuite];

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  if (typeof options === 'number') return options;
  const suite = SUITES.find((candidate) => candidate.name === options.name);
  if (suite === undefined) throw new Error(`no suite '${options.name}'`);
  const sizes = suite.sizes(options.quick, options.rounds);
  const report = await runSuite(suite, options, sizes, progressLine);
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  process.stdout.write(renderReport(report, suite.ratioPeers));
  if (options.json !== undefined) writeReport(options.json, report);
  return report.skips.some((skip) => skip.failed) ? 1 : 0;
}

function readOptions(argv: readonly string[]): BenchOptions | number {
  try {
    const options = parseOptions(argv, {
      suites: SUITES.map((suite) => suite.name),
      cases: SUITES.flatMap((suite) => suite.cases.map((benchCase) => benchCase.name)),
      subjects: SUBJECT_NAMES,
    });
    if (options !== 'help') return options;
    process.stdout.write(`${USAGE}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}\n`);
    return 2;
  }
}

function progressLine(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
