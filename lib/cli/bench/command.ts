// `nephrite bench`: starts the repository's own benchmark runner in a child process.
// Owner: one call. Invariants: arguments, output and exit code pass through unchanged.
// Not here: what is measured and how (bench/ of the repository).
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorTextOf, troubleError } from '../cli_error.ts';
import { EXIT } from '../exit_codes.ts';
import { packageFolder } from '../host/machine.ts';

const RUNNER = 'scripts/run_ts.js';
const ENTRY = 'bench/main.ts';

/** Runs `nephrite bench ...` and returns the exit code of the benchmark. */
export async function benchCommand(argv: readonly string[]): Promise<number> {
  const folder = packageFolder();
  const isCheckout =
    folder !== null && [RUNNER, ENTRY].every((path) => existsSync(join(folder, path)));
  if (folder === null || !isCheckout) {
    throw troubleError(
      'ERR_CLI_NO_CHECKOUT',
      'bench needs the source checkout, the npm package does not carry it: clone the repository, ' +
        'then `npm ci && npm run bench -- NAME`. For this machine: nephrite stress --against node',
    );
  }
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [RUNNER, ENTRY, ...argv], {
      cwd: folder,
      stdio: 'inherit',
    });
    // The terminal sends Ctrl-C to both; the benchmark cleans up, and we give its exit code.
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore);
    child.on('error', (error) =>
      reject(troubleError('ERR_CLI_SETUP', `bench: ${errorTextOf(error)}`, error)),
    );
    child.on('close', (code, signal) => {
      process.off('SIGINT', ignore);
      resolve(code ?? (signal === 'SIGINT' ? EXIT.interrupted : EXIT.failed));
    });
  });
}
