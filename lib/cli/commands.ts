// All commands of this version, and how each is started.
// Owner: this table; help and docs list exactly these. Invariants: a command's code is loaded only
// when it runs, so that `--version` costs nothing.
// Not here: what a command does.
import type { CommandSpec } from './args.ts';
import { BENCH_COMMAND } from './bench/spec.ts';
import { DOCTOR_COMMAND } from './doctor/spec.ts';
import { STRESS_COMMAND } from './stress/option_table.ts';

export const COMMANDS: readonly CommandSpec[] = [STRESS_COMMAND, DOCTOR_COMMAND, BENCH_COMMAND];

/** Runs a command of COMMANDS by name; returns its exit code. */
export async function runCommand(name: string, argv: readonly string[]): Promise<number> {
  switch (name) {
    case 'stress':
      return (await import('./stress/command.ts')).stressCommand(argv);
    case 'doctor':
      return (await import('./doctor/command.ts')).doctorCommand(argv);
    case 'bench':
      return (await import('./bench/command.ts')).benchCommand(argv);
    default:
      throw new RangeError(`no command ${name}`);
  }
}
