// `stress files` as a user runs it: every workload with verification, its JSON, its page, peers.
// Not here: corruption, failures and signals (trouble.test.ts).
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StressResult } from '../../lib/cli/stress/result.ts';
import { MODES } from '../../lib/cli/workload/workload.ts';
import { makeTestFolder, runCli, tinyRun } from './run_cli.ts';

let folder: ReturnType<typeof makeTestFolder>;
beforeEach(() => {
  folder = makeTestFolder();
});
afterEach(() => folder.remove());

const HAS_FIO = spawnSync('fio', ['--version']).status === 0;

async function runJson(...more: string[]): Promise<StressResult> {
  const result = await runCli(tinyRun(folder.path, '--json', '--quiet', ...more));
  expect(result.stderr).toBe('');
  expect(result.code).toBe(0);
  return JSON.parse(result.stdout) as StressResult;
}

describe('workloads', () => {
  test.each(MODES)(
    '%s: runs, verifies every byte it reads, leaves nothing behind',
    async (mode) => {
      const size = mode === 'small' ? ['--files', '200'] : ['--size', '16m'];
      const { subjects, finalCheck, isFailed } = await runJson(
        ...['--mode', mode, '--rwmix', '60', '--depth', '8', ...size],
      );
      const [subject] = subjects;
      expect(isFailed).toBe(false);
      expect(subject.operations).toBeGreaterThan(20);
      expect(subject.errors.total).toBe(0);
      expect(subject.verified?.mismatchCount).toBe(0);
      const kinds = subject.operationsByKind;
      const reads = (kinds.read ?? 0) + (kinds.readFile ?? 0);
      const blockBytes = mode === 'sequential' ? 1024 ** 2 : 4096;
      expect(subject.verified?.bytes).toBe(reads * blockBytes);
      // In small mode 200 files of 4 KiB; mixed has 256 small files besides its blocks.
      const setBytes =
        mode === 'small' ? 200 * 4096 : 16 * 1024 ** 2 + (mode === 'mixed' ? 256 * 4096 : 0);
      expect(finalCheck).toMatchObject({
        verifiedBytes: setBytes,
        mismatchCount: 0,
        unknownBlocks: 0,
        isComplete: true,
      });
      expect(folder.leftovers()).toEqual([]);
    },
  );

  test('mixed does all kinds of operations', async () => {
    const { subjects } = await runJson('--mode', 'mixed', '--size', '16m', '--duration', '800ms');
    expect(Object.keys(subjects[0].operationsByKind).sort()).toEqual([
      'datasync',
      'read',
      'readFile',
      'stat',
      'unlink+create',
      'write',
      'writeFile',
    ]);
  });

  // The node backend's pool memory is not page aligned, as O_DIRECT demands.
  test.skipIf(process.env.NEPHRITE_BACKEND === 'node')('direct I/O is verified too', async () => {
    const { subjects } = await runJson('--direct', '--rwmix', '50', '--size', '16m');
    expect(subjects[0].operations).toBeGreaterThan(10);
  });

  test('thousands of operations in flight', async () => {
    const { subjects } = await runJson('--depth', '2048', '--block', '512', '--size', '4m');
    expect(subjects[0].operations).toBeGreaterThan(256);
    expect(subjects[0].errors.total).toBe(0);
  });

  test('without verification nothing is claimed to be verified', async () => {
    const result = await runJson('--no-verify', '--rwmix', '50', '--size', '16m');
    expect(result.subjects[0].verified).toBeNull();
    expect(result.finalCheck).toBeNull();
  });

  test('the node backend runs the same load', async () => {
    const { subjects } = await runJson('--backend', 'node', '--rwmix', '50', '--size', '16m');
    expect(subjects[0]).toMatchObject({ subject: 'nephrite', backend: 'node' });
  });
});

describe('output', () => {
  test('JSON has the documented shape, and says nothing that was not measured', async () => {
    const result = await runJson('--size', '16m', '--seed', '7', '--fail-if', 'p99>10s');
    expect(result).toMatchObject({
      name: 'stress files',
      options: { mode: 'random', seed: 7, sizeBytes: 16 * 1024 ** 2, blockBytes: 4096 },
      ratio: null,
      finalCheck: null,
      stopped: null,
      isFailed: false,
    });
    expect(result.conditions.map(({ condition }) => condition)).toEqual(['p99>10s', 'errors>0']);
    expect(result.environment.fileSystem.freeBytes).toBeGreaterThan(0);
    const [subject] = result.subjects;
    const { p50, p99, max } = subject.latencyUs ?? { p50: 0, p99: 0, max: 0 };
    expect(p50).toBeGreaterThan(0);
    expect(p99).toBeGreaterThanOrEqual(p50);
    expect(max).toBeGreaterThanOrEqual(p99);
    expect(subject.cpuUsPerOperation).toBeGreaterThan(0);
    expect(subject.latencyDistribution.at(-1)).toEqual({ percentile: 100, us: max });
    const sampled = subject.samples.reduce(
      (sum, { opsPerSecond, intervalMs }) => sum + (opsPerSecond * intervalMs) / 1e3,
      0,
    );
    expect(Math.round(sampled)).toBe(subject.operations);
  });

  test('the report is plain text on standard output, progress is on standard error', async () => {
    const { code, stdout, stderr } = await runCli(tinyRun(folder.path, '--size', '16m'));
    expect(code).toBe(0);
    for (const label of ['operations', 'rate', 'latency p99.99', 'CPU time per operation']) {
      expect(stdout).toContain(label);
    }
    expect(stdout).toMatch(/verified +[\d.]+ [KMG]iB, 0 mismatches/);
    expect(stdout).toMatch(/seed \d+/);
    expect(stderr).toContain('running in');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape is what is sought.
    expect(stdout + stderr).not.toMatch(/[\u001b\r]/);
  });

  test('the page is self-contained and escapes what comes from outside', async () => {
    const page = join(folder.path, 'report <b>.html');
    const dir = folder.path;
    const { code } = await runCli(tinyRun(dir, '--size', '16m', '--quiet', '--html', page));
    expect(code).toBe(0);
    const html = readFileSync(page, 'utf8');
    expect(html.match(/<svg /g)).toHaveLength(3);
    expect(html).toContain('Latency distribution');
    expect(html).toContain('Throughput over time');
    expect(html).not.toMatch(/<script|<link|src=|url\(|https?:\/\//);
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('a file that cannot be written is an error, and the run leaves nothing behind', async () => {
    const path = join(folder.path, 'no', 'such', 'folder.json');
    const { code, stderr } = await runCli(tinyRun(folder.path, '--size', '16m', '--json', path));
    expect(code).toBe(1);
    expect(stderr).toContain(`--json ${path}: ENOENT`);
    expect(folder.leftovers()).toEqual([]);
  });
});

describe('peers', () => {
  test('node: alternating rounds on the same files, each reads what the other wrote', async () => {
    const result = await runJson(
      ...['--against', 'node', '--rwmix', '50', '--size', '16m', '--duration', '500ms'],
      ...['--fail-if', 'ratio<0.01'],
    );
    expect(result.subjects.map(({ subject }) => subject)).toEqual(['nephrite', 'fs.promises']);
    for (const { roundsOpsPerSecond, verified, operations } of result.subjects) {
      expect(roundsOpsPerSecond).toHaveLength(5);
      expect(operations).toBeGreaterThan(20);
      expect(verified?.mismatchCount).toBe(0);
    }
    expect(result.ratio).toBeGreaterThan(0);
    expect(result.finalCheck?.mismatchCount).toBe(0);
  });

  test.skipIf(!HAS_FIO)('fio: its figures stand beside ours (needs fio installed)', async () => {
    const result = await runJson(
      ...['--against', 'fio', '--rwmix', '50', '--size', '16m', '--duration', '500ms'],
    );
    const [, fio] = result.subjects;
    expect(fio).toMatchObject({ subject: 'fio', verified: null, systemCallsPerOperation: null });
    expect(fio.operations).toBeGreaterThan(20);
    expect(fio.latencyUs?.p50).toBeGreaterThan(0);
    expect(fio.cpuUsPerOperation).toBeGreaterThan(0);
    expect(folder.leftovers()).toEqual([]);
  });

  test('fio that is not installed is an error that says what to install', async () => {
    const { code, stderr } = await runCli(
      tinyRun(folder.path, '--against', 'fio', '--size', '16m'),
      { env: { PATH: folder.path } },
    );
    expect(code).toBe(1);
    expect(stderr).toContain('apt-get install fio');
    expect(folder.leftovers()).toEqual([]);
  });
});
