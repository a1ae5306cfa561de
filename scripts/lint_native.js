// Lints C and C++: clang-format (layout) and clang-tidy (defects), where they are installed.
//   node scripts/lint_native.js            checks only
//   node scripts/lint_native.js --write    formats in place, no clang-tidy
//   node scripts/lint_native.js --tidy     clang-tidy instead: slow, needs the build of test:native
// Invariants: a missing tool is said, and is an error where NEPHRITE_CI is set.
// Not here: layering and sizes (test/tidy), TypeScript (biome).
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const isWriting = process.argv.includes('--write');

const files = [...sources('native'), ...sources('test/native'), ...sources('bench/native')];
const formatArgs = isWriting ? ['-i'] : ['--dry-run', '--Werror'];
if (process.argv.includes('--tidy')) lintWithClangTidy();
else runTool('clang-format', [...formatArgs, ...files]);

function lintWithClangTidy() {
  const nativeDir = join(root, 'native');
  const database = join(root, 'out', 'native-plain');
  if (!existsSync(join(database, 'compile_commands.json'))) {
    console.error('clang-tidy needs out/native-plain: npm run test:native -- plain');
    process.exitCode = 1;
    return;
  }
  // What this platform does not compile, clang cannot judge. Tests are left to the sanitizers: half
  // of the time of the whole run went there and found nothing.
  /** @type {{ file: string }[]} */
  const commands = JSON.parse(readFileSync(join(database, 'compile_commands.json'), 'utf8'));
  const shipped = commands.map(({ file }) => file).filter((file) => file.startsWith(nativeDir));
  const queue = [...new Set(shipped)].join('\0');
  // xargs spreads the files over the cores; it exits non-zero when one of them has findings.
  const result = spawnSync(
    'xargs',
    ['-0', '-n', '1', '-P', String(cpus().length), 'clang-tidy', '--quiet', '-p', database],
    { cwd: root, input: queue, encoding: 'utf8' },
  );
  report('clang-tidy', result, shipped.length);
}

/**
 * @param {string} tool
 * @param {string[]} args
 */
function runTool(tool, args) {
  report(tool, spawnSync(tool, args, { cwd: root, encoding: 'utf8' }), files.length);
}

/**
 * @param {string} tool
 * @param {import('node:child_process').SpawnSyncReturns<string>} result
 * @param {number} count
 */
function report(tool, result, count) {
  if (result.error !== undefined || /not found|No such file/.test(result.stderr.slice(0, 200))) {
    console.log(`${tool} is not installed: ${count} native files not checked by it`);
    if (process.env.NEPHRITE_CI) process.exitCode = 1;
    return;
  }
  if (result.status !== 0) {
    process.stdout.write(result.stdout);
    process.stderr.write(result.stderr);
    process.exitCode = 1;
  } else {
    console.log(`${tool}: ${count} native files ok`);
  }
}

/** @param {string} folder */
function sources(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(cc|h|c)$/.test(name))
    .map((name) => `${folder}/${name}`)
    .sort();
}
