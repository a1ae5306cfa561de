// Finds and loads the native addon of this package, once per thread, at first use.
// Order: a path the user named (setNativePath, then NEPHRITE_NATIVE_PATH) and nothing else; without
// one, what node-gyp-build resolves (build/Release of an install from source, then prebuilds/),
// then every other place it can be. A named path is never silently replaced by another file.
// Owner: the calling thread; workers inherit a named path through environment data.
// Invariants: importing this file touches no file; loading never throws: the caller gets either an
// addon or the list of what was tried, and can go on with the `node` backend and say why.
// Not here: what the addon exports and whether its layout fits (the caller's `verify`).
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { isAbsolute } from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { invalidArgType, invalidArgValue } from '../base/errors.ts';
import { candidatePaths, findPackageRoot } from './candidate_paths.ts';
import { detectLibc } from './libc.ts';

/** One file (or rule) that was looked at, and why it was not taken. */
export interface NativeLoadAttempt {
  readonly path: string;
  readonly reason: string;
}

/** What loading came to. `addon` and `path` are set together, on success only. */
export interface NativeLoad {
  readonly addon?: unknown;
  readonly path?: string;
  readonly attempts: readonly NativeLoadAttempt[];
  readonly platform: string;
  readonly arch: string;
  /** `glibc 2.36`, `musl`, or `none` off Linux. */
  readonly libc: string;
  /** One or two sentences on what to do; empty on success. */
  readonly remedy: string;
}

export interface NativeLoadOptions {
  /** Loads exactly this file; absolute. Not cached: the next call without it looks again. */
  readonly path?: string;
  /** Refuses an addon that loads but does not fit: returns the reason, or undefined to accept. */
  readonly verify?: (addon: unknown) => string | undefined;
}

const MODULE_URL = currentModuleUrl();
// Two copies of the package in one process must not see each other's path.
const PATH_KEY = `nephrite:native-path:${MODULE_URL}`;
let cached: NativeLoad | undefined;

/**
 * Names the addon's file, for bundlers and single executables, where it lies nowhere near this
 * code. Call it before the first operation, on any thread; workers started later inherit it.
 * Returns false when the addon was already loaded on this thread: then it has no effect here.
 * Whether the file exists is looked at when it is loaded.
 * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE (a relative path: workers and later calls
 *   would resolve it against another folder)
 */
export function setNativePath(path: string): boolean {
  if (typeof path !== 'string') throw invalidArgType('path', 'a string', path);
  if (!isAbsolute(path)) throw invalidArgValue('path', path, 'must be an absolute path');
  setEnvironmentData(PATH_KEY, path);
  if (cached?.addon !== undefined) return false;
  cached = undefined;
  return true;
}

/** Loads the addon, or says why there is none. Cached per thread, except with `options.path`. */
export function loadNative(options: NativeLoadOptions = {}): NativeLoad {
  if (options.path !== undefined) return loadNamed(options.path, 'given path', options.verify);
  // A failure is kept too: each candidate backend asks again.
  cached ??= loadFirst(options.verify);
  return cached;
}

function loadFirst(verify: NativeLoadOptions['verify']): NativeLoad {
  const configured = getEnvironmentData(PATH_KEY);
  if (typeof configured === 'string') return loadNamed(configured, 'setNativePath', verify);
  const fromEnvironment = process.env.NEPHRITE_NATIVE_PATH;
  if (fromEnvironment) return loadNamed(fromEnvironment, 'NEPHRITE_NATIVE_PATH', verify);

  const attempts: NativeLoadAttempt[] = [];
  const root = findPackageRoot(MODULE_URL, attempts);
  for (const path of candidatePaths(root, createRequire(MODULE_URL), attempts)) {
    const addon = open(path, path, attempts, verify);
    if (addon !== undefined) return outcome(attempts, addon, path);
  }
  return outcome(attempts);
}

function loadNamed(path: string, origin: string, verify: NativeLoadOptions['verify']): NativeLoad {
  const attempts: NativeLoadAttempt[] = [];
  const addon = open(path, `${path} (${origin})`, attempts, verify);
  if (addon !== undefined) return outcome(attempts, addon, path);
  return outcome(attempts);
}

function open(
  path: string,
  label: string,
  attempts: NativeLoadAttempt[],
  verify: NativeLoadOptions['verify'],
): unknown {
  if (!existsSync(path)) {
    attempts.push({ path: label, reason: 'no such file' });
    return undefined;
  }
  try {
    const target: { exports: unknown } = { exports: {} };
    // Not require(): bundlers rewrite it. RTLD_NOW: a missing symbol must fail here, where there is
    // a fallback, instead of in the middle of an operation. Windows has no such flags.
    process.dlopen(target, path, constants.dlopen.RTLD_NOW);
    const refusal = verify?.(target.exports);
    if (refusal === undefined) return target.exports;
    attempts.push({ path: label, reason: refusal });
  } catch (error) {
    attempts.push({ path: label, reason: error instanceof Error ? error.message : String(error) });
  }
  return undefined;
}

function outcome(attempts: NativeLoadAttempt[], addon?: unknown, path?: string): NativeLoad {
  const { platform, arch } = process;
  if (addon === undefined || path === undefined) {
    return { attempts, platform, arch, libc: detectLibc(), remedy: remedyFor(attempts) };
  }
  return {
    addon,
    path,
    attempts,
    platform,
    arch,
    // Asking costs 7 ms; a program that works does not need to know.
    get libc() {
      return detectLibc();
    },
    remedy: '',
  };
}

function remedyFor(attempts: readonly NativeLoadAttempt[]): string {
  if (attempts.some(({ reason }) => reason.includes('addons') && reason.includes('disabled'))) {
    return 'Node was started without native addons; drop --no-addons or allow them (--allow-addons).';
  }
  if (attempts.some(({ reason }) => reason.includes('GLIBC_'))) {
    return 'The C library is older than the prebuilt addon needs: run `npm rebuild nephrite --build-from-source`.';
  }
  return (
    'Run `npm rebuild nephrite` (needs a C++20 compiler, make and python3). In a bundle or a single ' +
    'executable, ship the .node file and name it with setNativePath or NEPHRITE_NATIVE_PATH.'
  );
}

/** Bundled as CommonJS, import.meta is empty: fall back to the bundle's own file name. */
function currentModuleUrl(): string {
  const url: string | undefined = import.meta.url;
  if (url !== undefined) return url;
  return `file://${typeof __filename === 'string' ? __filename : process.execPath}`;
}
