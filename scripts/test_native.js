// Native unit tests: `npm run test:native -- [plain] [asan] [tsan] [windows]`; the first three
// without arguments. Builds with CMake through cmake-js against this machine's Node headers (no
// download), runs each executable, counts its TAP lines, and ends with the names of what failed and
// `N passed, N failed, N skipped`. `windows` cross-compiles with mingw-w64 and runs under wine.
// Options: --filter=TEXT runs the titles containing it; --report=FILE appends the counts as JSON.
// Invariants: an executable that dies counts as a failure, whatever it printed before. Machines
// without CMake skip with that reason, unless NEPHRITE_CI is set: there it is an error.
// Not here: what is built (CMakeLists.txt), the assertions (test/native/harness.h).
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNodeDir } from './node_headers.js';
import {
  addCounts,
  appendReport,
  firstLine,
  onlyFailure,
  printResults,
  readTap,
} from './report.js';

const root = fileURLToPath(new URL('..', import.meta.url));
/** @type {Record<string, string>} */
const SANITIZERS = { plain: '', asan: 'address,undefined', tsan: 'thread' };
const MINGW = 'x86_64-w64-mingw32-g++-posix';
// Debian's wine64 package puts it there and nothing on PATH.
const WINE = ['wine64', '/usr/lib/wine/wine64'].find((path) => isInstalled(path));
const EXECUTABLE_TIMEOUT_MS = 300_000;
const WINE_ENV = { ...process.env, WINEPREFIX: join(root, 'out', 'wine'), WINEDEBUG: '-all' };

const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const VARIANTS = [...Object.keys(SANITIZERS), 'windows'];
const variants = named.length > 0 ? named : Object.keys(SANITIZERS);
/** @param {string} flag */
const flagValue = (flag) => flags.find((f) => f.startsWith(`${flag}=`))?.slice(flag.length + 1);
const filter = flagValue('--filter');
const reportFile = flagValue('--report');

const unknown = variants.filter((variant) => !VARIANTS.includes(variant));
if (unknown.length > 0) {
  console.error(`unknown variant: ${unknown.join(', ')}; there are ${VARIANTS.join(', ')}`);
  process.exit(2);
}

/** @type {import('./report.js').Results} */
const total = { passed: 0, failed: 0, skipped: 0, failures: [] };
for (const variant of variants) {
  const missing = missingTool(variant);
  const results = missing === undefined ? runVariant(variant) : skip(variant, missing);
  const suite = `native ${variant}`;
  addCounts(total, results);
  total.failures.push(...results.failures.map((failure) => ({ suite, ...failure })));
  appendReport(reportFile, { suite, ...results });
}
printResults(total);
process.exitCode = total.failed === 0 ? 0 : 1;

/**
 * What the variant needs and this machine lacks.
 * @param {string} variant
 */
function missingTool(variant) {
  if (!isInstalled('cmake')) return 'cmake';
  if (variant !== 'windows') return undefined;
  return isInstalled(MINGW) ? (WINE === undefined ? 'wine' : undefined) : MINGW;
}

/** @param {string} tool */
function isInstalled(tool) {
  return spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/**
 * @param {string} variant
 * @param {string} tool
 */
function skip(variant, tool) {
  console.log(`native unit tests (${variant}) skipped: ${tool} is not installed`);
  if (process.env.NEPHRITE_CI) return onlyFailure(`${tool} is not installed`);
  return { passed: 0, failed: 0, skipped: 1, failures: [] };
}

/** @param {string} variant */
function runVariant(variant) {
  /** @type {import('./report.js').Results} */
  const results = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const outDir = join(root, 'out', `native-${variant}`);
  if (!build(variant, outDir)) {
    console.log(`not ok - ${variant}: the native build failed`);
    return onlyFailure('the native build failed');
  }
  const testsDir = join(outDir, 'tests');
  for (const name of readdirSync(testsDir).sort()) {
    const ofExecutable = runExecutable(variant, join(testsDir, name), name);
    addCounts(results, ofExecutable);
    results.failures.push(...ofExecutable.failures.map((failure) => ({ file: name, ...failure })));
  }
  return results;
}

/**
 * @param {string} variant
 * @param {string} outDir
 */
function build(variant, outDir) {
  const result = variant === 'windows' ? crossBuild(outDir) : cmakeJsBuild(variant, outDir);
  if (result.status !== 0) console.log(`${result.stdout}\n${result.stderr}`);
  return result.status === 0 && existsSync(join(outDir, 'tests'));
}

/**
 * @param {string} variant
 * @param {string} outDir
 */
function cmakeJsBuild(variant, outDir) {
  const cmakeJs = createRequire(import.meta.url).resolve('cmake-js/bin/cmake-js');
  const args = [cmakeJs, 'build', '--out', outDir, `--CDNEPHRITE_SANITIZE=${SANITIZERS[variant]}`];
  args.push('--config', variant === 'plain' ? 'Release' : 'RelWithDebInfo');
  args.push('--log-level', 'warn', '--parallel', String(cpus().length));
  return spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    // cmake-js takes headers from here and has nothing to fetch then.
    env: { ...process.env, npm_config_nodedir: findNodeDir() },
  });
}

/** @param {string} outDir */
function crossBuild(outDir) {
  const toolchain = join(root, 'scripts', 'mingw.cmake');
  const configure = ['-S', root, '-B', outDir, `-DCMAKE_TOOLCHAIN_FILE=${toolchain}`];
  const configured = spawnSync('cmake', configure, { encoding: 'utf8' });
  if (configured.status !== 0) return configured;
  // Creates the prefix now: a first test that did it would carry wine's own start in its output.
  spawnSync(WINE ?? '', ['wineboot', '--init'], { env: WINE_ENV, timeout: EXECUTABLE_TIMEOUT_MS });
  return spawnSync('cmake', ['--build', outDir], { encoding: 'utf8' });
}

/**
 * @param {string} variant
 * @param {string} path
 * @param {string} name
 */
function runExecutable(variant, path, name) {
  const words = filter === undefined ? [] : [filter];
  const isWindows = variant === 'windows';
  const [command, args] = isWindows ? [WINE ?? '', [path, ...words]] : [path, words];
  const result = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: EXECUTABLE_TIMEOUT_MS,
    maxBuffer: 64 << 20,
    env: {
      ...WINE_ENV,
      ASAN_OPTIONS: 'detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1',
      UBSAN_OPTIONS: 'print_stacktrace=1',
      TSAN_OPTIONS: 'halt_on_error=0:second_deadlock_stack=1',
    },
  });
  const tap = readTap(result.stdout);
  // A filter that matches nothing in this executable is not a failure of it.
  const isEmptyFilter = filter !== undefined && tap.plan === 0;
  const isIncomplete = tap.plan === -1 || (result.status !== 0 && tap.failed === 0);
  const hasDied = isIncomplete && !isEmptyFilter;
  if (tap.failed > 0 || hasDied) {
    console.log(`# ${variant} ${name}\n${result.stdout}${result.stderr}`);
    if (hasDied) {
      const end = `ended with ${result.signal ?? result.status}`;
      console.log(`not ok - ${name} ${end}`);
      tap.failures.push({ error: `${end}: ${firstLine(firstComplaint(result.stderr))}` });
    }
  } else {
    console.log(`ok - ${variant} ${name}: ${tap.passed} passed, ${tap.skipped} skipped`);
    for (const reason of tap.skips) console.log(`#   skipped: ${reason}`);
  }
  const failed = tap.failed + (hasDied ? 1 : 0);
  return { passed: tap.passed, failed, skipped: tap.skipped, failures: tap.failures };
}

/**
 * What a sanitizer or CHECK said first; anything on stderr where none of them did.
 * @param {string | null} text
 */
function firstComplaint(text) {
  const lines = (text ?? '').split('\n');
  return lines.find((line) => /Sanitizer|runtime error:|CHECK|panic/.test(line)) ?? text ?? '';
}
