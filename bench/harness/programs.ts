// Builds what the subjects run: the JavaScript subject program (bundled with esbuild, since Node 20
// cannot load TypeScript), the C programs (cc -O2) and, where lib/ is newer, dist/, which is what
// the nephrite subjects import: the benchmark measures the files that a user gets.
// Everything but dist/ goes to the run's temporary folder. Nothing is cached between runs: both
// builds take well under a second.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { NativeSubject, Subject } from './subjects.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const requireFromHere = createRequire(import.meta.url);

export interface Command {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

export class Programs {
  readonly #folder: string;
  readonly #native = new Map<string, string>();
  #script: string | undefined;
  #distFailure: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** How to start a subject's process; builds what it needs at first use. */
  async command(subject: Subject, nodeFlags: readonly string[] = []): Promise<Command> {
    if (subject.kind === 'native') return { file: this.#compile(subject), args: [], env: {} };
    const script = await this.#bundle();
    const env: Record<string, string> = {};
    const args = [...nodeFlags, script, subject.name, subject.driver, subject.memory];
    if (subject.library === 'nephrite') {
      args.push(this.nephriteEntry('nephrite/fs'), this.nephriteEntry('nephrite'));
      if (subject.backend !== undefined) env.NEPHRITE_BACKEND = subject.backend;
    }
    return { file: process.execPath, args, env };
  }

  /** The file that `import 'nephrite/fs'` loads, built from the sources as they are now. */
  nephriteEntry(specifier: 'nephrite' | 'nephrite/fs'): string {
    this.#distFailure ??= buildDistIfStale();
    if (this.#distFailure !== '') throw new Error(this.#distFailure);
    const file = requireFromHere.resolve(specifier);
    if (!existsSync(file)) throw new Error(`${specifier}: ${file} is not built`);
    return file;
  }

  async #bundle(): Promise<string> {
    if (this.#script !== undefined) return this.#script;
    const outfile = join(this.#folder, 'subject_main.mjs');
    await build({
      absWorkingDir: root,
      entryPoints: [join(root, 'bench', 'subjects', 'subject_main.ts')],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      packages: 'external',
      logLevel: 'warning',
    });
    this.#script = outfile;
    return outfile;
  }

  #compile(subject: NativeSubject): string {
    const known = this.#native.get(subject.program);
    if (known !== undefined) return known;
    const source = join(root, 'bench', 'native');
    const program = join(this.#folder, `c_${subject.program}`);
    const args = [
      '-O2',
      '-o',
      program,
      join(source, `${subject.program}.c`),
      join(source, 'peer.c'),
    ];
    const compiled = spawnSync('cc', args, { encoding: 'utf8' });
    if (compiled.status !== 0) {
      throw new Error(`cc ${args.join(' ')}: ${compiled.error?.message ?? compiled.stderr}`);
    }
    this.#native.set(subject.program, program);
    return program;
  }
}

/** Gives what went wrong, or an empty string. */
function buildDistIfStale(): string {
  const dist = join(root, 'dist', 'fs.js');
  const built = existsSync(dist) ? statSync(dist).mtimeMs : 0;
  if (built > newestMtimeMs(join(root, 'lib'))) return '';
  const script = join(root, 'scripts', 'build_dist.js');
  const result = spawnSync(process.execPath, [script], { cwd: root, encoding: 'utf8' });
  return existsSync(dist) ? '' : `dist/fs.js was not built: ${result.stderr}`;
}

function newestMtimeMs(folder: string): number {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  }
  return newest;
}
