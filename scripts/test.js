// The whole test suite, the command of the README: `npm test`. Steps, in order: build what changed,
// types, lint, unit to integration tests (vitest), native unit tests (plain).
//   --backends   only vitest, once on each backend named (epoll and node without a name)
//   --vitest     only vitest, on what is built
//   --report=F   appends each step's counts to F as JSON lines (used by .ci/run)
//   other words  go to vitest as file filters, and only vitest runs
// Invariants: counts come from the runners' own reports; a step that fails without a count adds one
// failure; the last lines name what failed, then `N passed, N failed, N skipped` agrees with the
// exit code.
// Not here: sanitizers (scripts/test_native.js). NEPHRITE_BACKEND and NEPHRITE_SEED pass through.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { appendReport, onlyFailure, printResults, readReport, readVitest } from './report.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const reportsDir = join(root, 'out', 'reports');
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const filters = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const externalReport = flags.find((flag) => flag.startsWith('--report='))?.slice(9);

mkdirSync(reportsDir, { recursive: true });
const reportFile = join(reportsDir, `test-${process.pid}.jsonl`);

if (flags.includes('--backends')) {
  runBackends();
} else if (filters.length > 0 || flags.includes('--vitest')) {
  runVitest('vitest', filters);
} else {
  runStep('build of the addon', 'scripts/build_native.js');
  runStep('build of dist', 'scripts/build_dist.js');
  runStep('types', 'node_modules/typescript/bin/tsc', '--noEmit');
  runStep('lint', 'node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '.');
  runStep('native format', 'scripts/lint_native.js');
  runVitest('vitest', []);
  runNode('native unit tests', ['scripts/test_native.js', 'plain', `--report=${reportFile}`]);
}
finish();

/** Once per backend that NEPHRITE_BACKEND can name, without what no backend can change. */
function runBackends() {
  const same = ['test/tidy', 'test/unit/scripts', 'test/integration/install_from_source.test.ts'];
  const excluded = [...same, 'test/integration/tarball.test.ts'].map((path) =>
    path.endsWith('.ts') ? `--exclude=${path}` : `--exclude=${path}/**`,
  );
  const wanted = filters.length > 0 ? filters : ['epoll', 'node'];
  for (const backend of wanted) {
    runVitest(`vitest on ${backend}`, excluded, { NEPHRITE_BACKEND: backend });
  }
}

/**
 * @param {string} name
 * @param {string[]} names file filters and options
 * @param {Record<string, string>} [env]
 */
function runVitest(name, names, env = {}) {
  const output = join(reportsDir, `vitest-${process.pid}.json`);
  rmSync(output, { force: true });
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...names];
  const reporters = ['--reporter=default', '--reporter=./scripts/vitest_reporter.js'];
  reporters.push(`--outputFile.json=${output}`);
  const status = runNode(name, [...vitest, ...reporters], env);
  const results = readVitest(output);
  if (status !== 0 && results.failed === 0) {
    results.failed = 1;
    results.failures.push({ error: `vitest ended with ${status} though no test failed` });
  }
  appendReport(reportFile, { suite: name, ...results });
  rmSync(output, { force: true });
}

/**
 * A step that is not made of tests: silent in the counts unless it fails.
 * @param {string} name
 * @param {string} script
 * @param {string[]} args
 */
function runStep(name, script, ...args) {
  const status = runNode(name, [script, ...args]);
  if (status === 0) return;
  console.log(`not ok - ${name}`);
  appendReport(reportFile, { suite: name, ...onlyFailure(`the step ended with ${status}`) });
}

/**
 * @param {string} name
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
function runNode(name, args, env = {}) {
  console.log(`\n# ${name}`);
  const result = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return result.status ?? 1;
}

function finish() {
  const results = readReport(reportFile);
  const suite = flags.includes('--backends') ? 'npm run test:backends' : 'npm test';
  appendReport(externalReport, { suite, ...results });
  rmSync(reportFile, { force: true });
  printResults(results);
  process.exitCode = results.failed === 0 ? 0 : 1;
}
