// Native unit tests: `npm run test:native -- [plain] [asan] [tsan]` (all three without arguments).
// Builds with CMake through cmake-js against this machine's Node headers (nothing is downloaded),
// runs each executable, counts its TAP lines, and ends with `N passed, N failed, N skipped`.
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
import { addCounts, appendReport, readTap } from './report.js';

const root = fileURLToPath(new URL('..', import.meta.url));
/** @type {Record<string, string>} */
const SANITIZERS = { plain: '', asan: 'address,undefined', tsan: 'thread' };
const EXECUTABLE_TIMEOUT_MS = 300_000;

const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const variants = named.length > 0 ? named : Object.keys(SANITIZERS);
/** @param {string} flag */
const flagValue = (flag) => flags.find((f) => f.startsWith(`${flag}=`))?.slice(flag.length + 1);
const filter = flagValue('--filter');
const reportFile = flagValue('--report');

const unknown = variants.filter((variant) => !(variant in SANITIZERS));
if (unknown.length > 0) {
  console.error(`unknown variant: ${unknown.join(', ')}; there are plain, asan, tsan`);
  process.exit(2);
}

const total = { passed: 0, failed: 0, skipped: 0 };
if (spawnSync('cmake', ['--version']).error !== undefined) {
  const message = 'native unit tests skipped: cmake is not installed';
  console.log(message);
  if (process.env.NEPHRITE_CI) total.failed = 1;
  else total.skipped = 1;
  appendReport(reportFile, { suite: 'native', ...total, note: message });
} else {
  for (const variant of variants) {
    const counts = runVariant(variant);
    addCounts(total, counts);
    appendReport(reportFile, { suite: `native ${variant}`, ...counts });
  }
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** @param {string} variant */
function runVariant(variant) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const outDir = join(root, 'out', `native-${variant}`);
  if (!build(variant, outDir)) {
    console.log(`not ok - ${variant}: the native build failed`);
    return { ...counts, failed: 1 };
  }
  const testsDir = join(outDir, 'tests');
  for (const name of readdirSync(testsDir).sort()) {
    addCounts(counts, runExecutable(variant, join(testsDir, name), name));
  }
  return counts;
}

/**
 * @param {string} variant
 * @param {string} outDir
 */
function build(variant, outDir) {
  const cmakeJs = createRequire(import.meta.url).resolve('cmake-js/bin/cmake-js');
  const isPlain = variant === 'plain';
  const args = [cmakeJs, 'build', '--out', outDir, `--CDNEPHRITE_SANITIZE=${SANITIZERS[variant]}`];
  args.push('--config', isPlain ? 'Release' : 'RelWithDebInfo', '--log-level', 'warn');
  args.push('--parallel', String(cpus().length));
  const result = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    // cmake-js takes headers from here and has nothing to fetch then.
    env: { ...process.env, npm_config_nodedir: findNodeDir() },
  });
  if (result.status !== 0) console.log(`${result.stdout}\n${result.stderr}`);
  return result.status === 0 && existsSync(join(outDir, 'tests'));
}

/**
 * @param {string} variant
 * @param {string} path
 * @param {string} name
 */
function runExecutable(variant, path, name) {
  const result = spawnSync(path, filter === undefined ? [] : [filter], {
    encoding: 'utf8',
    timeout: EXECUTABLE_TIMEOUT_MS,
    maxBuffer: 64 << 20,
    env: {
      ...process.env,
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
    if (hasDied) console.log(`not ok - ${name} ended with ${result.signal ?? result.status}`);
  } else {
    console.log(`ok - ${variant} ${name}: ${tap.passed} passed, ${tap.skipped} skipped`);
    for (const reason of tap.skips) console.log(`#   skipped: ${reason}`);
  }
  return { passed: tap.passed, failed: tap.failed + (hasDied ? 1 : 0), skipped: tap.skipped };
}
