// Errors of the command line: a message for the person at the terminal and an exit code.
// Owner: whoever throws it; main.ts prints it, without a stack, and takes the exit code.
// Invariants: thrown before anything was changed on disk, or after it was cleaned up.
// Not here: errors of operations under load, which are counted (stress/recorder.ts).
import { EXIT } from './exit_codes.ts';

export type CliErrorCode =
  | 'ERR_CLI_USAGE'
  | 'ERR_CLI_UNKNOWN_COMMAND'
  | 'ERR_CLI_UNKNOWN_OPTION'
  | 'ERR_CLI_BAD_VALUE'
  | 'ERR_CLI_NOT_IN_THIS_VERSION'
  | 'ERR_CLI_NO_SPACE'
  | 'ERR_CLI_NO_FIO'
  | 'ERR_CLI_FIO_FAILED'
  | 'ERR_CLI_SETUP'
  | 'ERR_CLI_NO_CHECKOUT';

/** A command could not be carried out; `message` says what to do about it. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly exitCode: number;

  constructor(code: CliErrorCode, message: string, exitCode: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** A wrong command line: exit code 2. */
export function usageError(message: string, code: CliErrorCode = 'ERR_CLI_USAGE'): CliError {
  return new CliError(code, message, EXIT.usage);
}

/** Trouble with the machine (disk full, no permission, no fio): exit code 1. */
export function troubleError(code: CliErrorCode, message: string, cause?: unknown): CliError {
  return new CliError(code, message, EXIT.failed, cause);
}

/** The `code` of a system or library error, or its class name: the key errors are counted by. */
export function errorCodeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) {
    const { code } = error;
    if (typeof code === 'string' && code !== '') return code;
  }
  return error instanceof Error ? error.name : typeof error;
}

/** The text of anything that was thrown. */
export function errorTextOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
