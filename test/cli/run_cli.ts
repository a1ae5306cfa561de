// Runs the real command, bin/nephrite.js on dist/, as a child process.
// Owner: one test, which ends it. Invariants: the child's environment is the test's,
// with NEPHRITE_SEED cleared unless given, so that a replayed suite does not change what is tested.
// Not here: building dist (npm test does it first).
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ROOT } from '../support/root.ts';

const BIN = join(ROOT, 'bin', 'nephrite.js');

/** How a child ended. */
export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running child: its pid, what it has written so far, its end. */
export interface RunningCli {
  readonly child: ChildProcess;
  readonly ended: Promise<CliResult>;
  /** Resolves when standard error holds a match; rejects when the child ends without one. */
  seen(pattern: RegExp): Promise<RegExpMatchArray>;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Shell words before `exec node ...`, such as `ulimit -n 64`. */
  readonly shellSetup?: string;
}

export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  if (!existsSync(join(ROOT, 'dist', 'cli.js'))) {
    throw new Error('dist/cli.js is missing: npm run build:dist');
  }
  const env = { ...process.env, NEPHRITE_SEED: '', ...options.env };
  const child =
    options.shellSetup === undefined
      ? spawn(process.execPath, [BIN, ...args], { env })
      : spawn(
          'sh',
          ['-c', `${options.shellSetup}; exec "$@"`, 'sh', process.execPath, BIN, ...args],
          { env },
        );
  // A test that fails early must not leave its run behind.
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const seen = (pattern: RegExp): Promise<RegExpMatchArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = stderr.match(pattern);
        if (match !== null) resolve(match);
      };
      child.stderr.on('data', look);
      look();
      child.on('close', () => reject(new Error(`ended without ${pattern}: ${stderr}`)));
    });
  return { child, ended, seen };
}

export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).ended;
}

/** A folder for one test; `remove` asserts nothing, `leftovers` lists what a run left in it. */
export function makeTestFolder(): { path: string; leftovers(): string[]; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'nephrite-cli-test-'));
  return {
    path,
    leftovers: () => readdirSync(path).filter((name) => name.startsWith('nephrite-stress-')),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Arguments of a run that is over in a moment, unless `more` says otherwise. */
export function tinyRun(dir: string, ...more: readonly string[]): string[] {
  const duration = more.includes('--duration') ? [] : ['--duration', '300ms'];
  return ['stress', 'files', '--dir', dir, '--ramp', '0', ...duration, ...more];
}
