// An application with this package installed from its tarball, in a temporary folder, offline.
// Method: `npm pack` of the checkout; its runtime dependencies are packed from node_modules, so
// that npm resolves all without a network. Owner: the test that made it; it calls remove().
// Invariants: nothing is written into the repository.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './root.ts';

const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

/** What an install brings besides the package itself. */
export const RUNTIME_DEPENDENCIES: readonly string[] = Object.keys(
  (
    JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    }
  ).dependencies,
);

export interface InstallOptions {
  /** Adds a prebuild of this machine to the tarball, as the release does. */
  readonly hasPrebuild: boolean;
  /** Runs the package's install script, as npm does by default. */
  readonly runsScripts: boolean;
  /** Replaces variables for npm and the install script. */
  readonly env?: Readonly<Record<string, string>>;
}

export class InstalledApp {
  /** The application's folder. */
  readonly path: string;
  /** The package inside it. */
  readonly packagePath: string;
  /** What npm wrote while it installed. */
  readonly installOutput: string;
  readonly #folder: string;

  constructor(options: InstallOptions) {
    if (!existsSync(join(ROOT, 'dist', 'fs.js'))) {
      throw new Error('dist/fs.js is missing: npm run build:dist');
    }
    this.#folder = mkdtempSync(join(tmpdir(), 'nephrite-app-'));
    this.path = join(this.#folder, 'app');
    this.packagePath = join(this.path, 'node_modules', 'nephrite');
    mkdirSync(this.path);
    const manifest = { name: 'an-app', private: true, type: 'module' };
    writeFileSync(join(this.path, 'package.json'), JSON.stringify(manifest));
    const tarballs = [
      options.hasPrebuild ? this.#packWithPrebuild() : this.#pack(ROOT),
      ...RUNTIME_DEPENDENCIES.map((name) => this.#pack(join(ROOT, 'node_modules', name))),
    ];
    const scripts = options.runsScripts ? '--foreground-scripts' : '--ignore-scripts';
    const args = ['install', '--offline', scripts, ...QUIET, ...tarballs];
    this.installOutput = npm(this.path, args, options.env);
  }

  /** Runs ESM source as the application's main file; gives its standard output. */
  run(source: string, env: Readonly<Record<string, string>> = {}): string {
    const script = join(this.path, 'main.js');
    writeFileSync(script, source);
    return execFileSync(process.execPath, [script], {
      cwd: this.path,
      encoding: 'utf8',
      env: { ...process.env, NEPHRITE_BACKEND: '', NEPHRITE_NATIVE_PATH: '', ...env },
    });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #packWithPrebuild(): string {
    execFileSync('tar', ['-xzf', this.#pack(ROOT), '-C', this.#folder]);
    const unpacked = join(this.#folder, 'package');
    const script = join(ROOT, 'scripts', 'prebuild.js');
    execFileSync(process.execPath, [script, `--out=${unpacked}`], { stdio: 'pipe' });
    return this.#pack(unpacked);
  }

  /** A folder per tarball: the first file in it is the one. */
  #pack(source: string): string {
    const into = mkdtempSync(join(this.#folder, 'pack-'));
    npm(source, ['pack', '--ignore-scripts', '--pack-destination', into, ...QUIET]);
    const [file] = readdirSync(into);
    if (file === undefined) throw new Error(`npm pack of ${source} made no file`);
    return join(into, file);
  }
}

function npm(cwd: string, args: string[], env: Readonly<Record<string, string>> = {}): string {
  const result = spawnSync(NPM, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env } });
  const output = `${result.stdout}${result.stderr}`;
  if (result.status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${output}`);
  return output;
}
