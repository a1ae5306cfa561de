// Child lab: programs of test/support/programs run as processes of their own, for what happens once
// per process: exits, crashes, limits, filters, users. Owner: one test file; it calls remove().
// Method: each program is bundled once, with the library inside, into a temporary folder beside a
// copy of the addon, so that a build that runs meanwhile changes nothing under a test.
// Invariants: a program that hangs is killed (by its own id) and reported with what it printed.
// Not here: what a program does; what it prints last is one line of JSON.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { loadNative } from '../../lib/addon/load.ts';
import { ROOT } from './root.ts';

export interface ChildOptions {
  readonly args?: readonly string[];
  /** Backend by name; empty: the package chooses. */
  readonly backend?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Flags of node itself. */
  readonly nodeFlags?: readonly string[];
  /** Command and arguments that start node (a launcher, setpriv, sh). */
  readonly launcher?: readonly string[];
  readonly timeoutMs?: number;
  /** Called when the process runs. */
  readonly onStart?: (child: ChildProcess) => void;
  /** Called with each complete line of standard output. */
  readonly onLine?: (line: string, child: ChildProcess) => void;
}

export interface ChildResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

const TIMEOUT_MS = 15_000;

export class ChildLab {
  /** A temporary folder that any user may enter and the tests may fill. */
  readonly folder: string;
  readonly addonPath: string;
  readonly #bundles = new Map<string, string>();

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `nephrite-${name}-`));
    chmodSync(this.folder, 0o777);
    const { path, attempts } = loadNative();
    if (path === undefined) throw new Error(`no addon here: ${JSON.stringify(attempts)}`);
    this.addonPath = join(this.folder, 'nephrite.node');
    copyFileSync(path, this.addonPath);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** A FIFO in the folder. */
  fifo(name: string): string {
    const path = this.path(name);
    execFileSync('mkfifo', ['-m', '666', path]);
    return path;
  }

  /** Bundles test/support/programs/`program`.ts; gives the bundle's path. */
  bundle(program: string, into = this.folder): string {
    const key = `${into}/${program}`;
    const known = this.#bundles.get(key);
    if (known !== undefined) return known;
    const outfile = join(into, `${program}.mjs`);
    buildSync({
      entryPoints: [join(ROOT, 'test', 'support', 'programs', `${program}.ts`)],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      logLevel: 'warning',
    });
    this.#bundles.set(key, outfile);
    return outfile;
  }

  /** Compiles a C source of test/support; gives the path of what comes out. */
  compile(source: string, ...flags: readonly string[]): string {
    const output = join(this.folder, source.replace(/\.c$/, ''));
    const input = join(ROOT, 'test', 'support', source);
    execFileSync('cc', ['-O1', '-Wall', '-Wextra', '-Werror', ...flags, '-o', output, input]);
    return output;
  }

  /** Runs a program to its end. */
  run(program: string, options: ChildOptions = {}): Promise<ChildResult> {
    const script = this.bundle(program);
    const [command, ...prefix] = [...(options.launcher ?? []), process.execPath];
    if (command === undefined) throw new Error('no command');
    const args = [...prefix, ...(options.nodeFlags ?? []), script, ...(options.args ?? [])];
    const env = {
      ...process.env,
      NODE_OPTIONS: '',
      NEPHRITE_BACKEND: options.backend ?? '',
      NEPHRITE_NATIVE_PATH: this.addonPath,
      ...options.env,
    };
    const startMs = performance.now();
    const child = spawn(command, args, {
      cwd: this.folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return collect(child, startMs, options);
  }

  /** As run(); the program must succeed. Gives the JSON of its last line. */
  async json(program: string, options: ChildOptions = {}): Promise<Record<string, unknown>> {
    const { code, signal, stdout, stderr } = await this.run(program, options);
    const last = stdout.trimEnd().split('\n').at(-1) ?? '';
    if (code !== 0 || !last.startsWith('{')) {
      const what = `${program} ${(options.args ?? []).join(' ')}`;
      throw new Error(`${what}: code ${code}, signal ${signal}\n${stdout}\n${stderr}`);
    }
    return JSON.parse(last) as Record<string, unknown>;
  }
}

function collect(
  child: ChildProcess,
  startMs: number,
  options: ChildOptions,
): Promise<ChildResult> {
  return new Promise((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    let lineStart = 0;
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    const timer = setTimeout(() => {
      stderr += `\nkilled: it ran longer than ${timeoutMs} ms`;
      child.kill('SIGKILL');
    }, timeoutMs);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      for (let end = stdout.indexOf('\n', lineStart); end >= 0; ) {
        options.onLine?.(stdout.slice(lineStart, end), child);
        lineStart = end + 1;
        end = stdout.indexOf('\n', lineStart);
      }
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('spawn', () => options.onStart?.(child));
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr, durationMs: performance.now() - startMs });
    });
  });
}
