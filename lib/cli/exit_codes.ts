// Exit codes of the command line: what a script may rely on.
// Owner: this table; `--help` and docs/cli.md are printed from it, so they cannot disagree.
// Invariants: a code never changes its meaning between releases.
// Not here: which error gives which code (cli_error.ts), the signals (stress/interrupt.ts).

/** Exit codes of every `nephrite` command. */
export const EXIT = {
  /** Everything asked for was done and every check held. */
  ok: 0,
  /** A verification or a --fail-if condition failed, or the run could not be carried out. */
  failed: 1,
  /** The command line was wrong; nothing was done. */
  usage: 2,
  /** Stopped by Ctrl-C (SIGINT) after a report. */
  interrupted: 130,
  /** Stopped by SIGTERM after a report. */
  terminated: 143,
} as const;

/** One row per code, in the words of `--help`. */
export const EXIT_CODE_ROWS: ReadonlyArray<readonly [code: number, meaning: string]> = [
  [EXIT.ok, 'done, and every check held'],
  [
    EXIT.failed,
    'a verification or --fail-if check failed, operations failed, or the run was impossible',
  ],
  [EXIT.usage, 'the command line was wrong; nothing was done'],
  [EXIT.interrupted, 'stopped by Ctrl-C after a report (1 wins if a check had failed)'],
  [EXIT.terminated, 'stopped by SIGTERM after a report (1 wins if a check had failed)'],
];
