// `nephrite doctor`: arguments to exit code.
// Flow: argv -> examine -> text or JSON -> exit code; with --seccomp also a profile
// Owner: one call. Invariants: with --seccomp to standard output nothing else goes there.
// Not here: the examination (examine.ts), the profile (seccomp.ts).
import { writeFile } from 'node:fs/promises';
import { flagOf, parseArguments, textOf } from '../args.ts';
import { errorTextOf, troubleError, usageError } from '../cli_error.ts';
import { EXIT } from '../exit_codes.ts';
import { examine, type Findings } from './examine.ts';
import { renderFindings } from './report.ts';
import { makeSeccompProfile } from './seccomp.ts';
import { DOCTOR_COMMAND } from './spec.ts';

/** Runs `nephrite doctor ...` and returns the exit code. */
export async function doctorCommand(argv: readonly string[]): Promise<number> {
  const parsed = parseArguments(DOCTOR_COMMAND, argv);
  const [extra] = parsed.positionals;
  if (extra !== undefined) throw usageError(`doctor takes no argument, given '${extra}'`);
  const seccompPath = textOf(parsed, 'seccomp');
  const seccompBase = textOf(parsed, 'seccomp-base');
  if (seccompBase !== undefined && seccompPath === undefined) {
    throw usageError('--seccomp-base says what --seccomp starts from; give --seccomp too');
  }
  const jsonPath = textOf(parsed, 'json');
  if (seccompPath === '' && jsonPath === '') {
    throw usageError('--seccomp and --json cannot both go to standard output; give one a FILE');
  }
  if (seccompPath !== undefined) {
    await writeSeccomp(seccompPath, seccompBase);
    if (jsonPath === undefined) return EXIT.ok;
  }
  const findings = examine();
  await deliver(findings, jsonPath);
  const isBad = findings.library.backend === null;
  return isBad || (findings.isDegraded && flagOf(parsed, 'strict')) ? EXIT.failed : EXIT.ok;
}

async function deliver(findings: Findings, jsonPath: string | undefined): Promise<void> {
  const json = `${JSON.stringify(findings, null, 2)}\n`;
  if (jsonPath === '') {
    process.stdout.write(json);
    return;
  }
  if (jsonPath !== undefined) await writeOutput('json', jsonPath, json);
  process.stdout.write(renderFindings(findings));
}

async function writeSeccomp(path: string, base: string | undefined): Promise<void> {
  const profile = makeSeccompProfile(base);
  if (path === '') process.stdout.write(profile.json);
  else await writeOutput('seccomp', path, profile.json);
  process.stderr.write(`${profile.usage.join('\n').replaceAll('FILE', path || 'FILE')}\n`);
}

async function writeOutput(option: string, path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw troubleError('ERR_CLI_SETUP', `--${option} ${path}: ${errorTextOf(error)}`, error);
  }
}
