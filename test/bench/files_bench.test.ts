// The files benchmark at a tiny size: every case and every subject through the code that measures,
// so that benchmarks never rot. Asserts that rows exist, that subjects which did the same work
// prove it with the same hash, and the shape of the report. Asserts nothing about speed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectedReadChecksum } from '../../bench/cases/read4k.ts';
import { filesSuite } from '../../bench/files.ts';
import type { Sizes } from '../../bench/harness/bench_case.ts';
import { BenchInput } from '../../bench/harness/input.ts';
import { parseOptions, UsageError } from '../../bench/harness/options.ts';
import { Programs } from '../../bench/harness/programs.ts';
import { encodeWork, type WorkRequest } from '../../bench/harness/protocol.ts';
import type { Report } from '../../bench/harness/report.ts';
import { runSuite } from '../../bench/harness/run_suite.ts';
import { SubjectProcess } from '../../bench/harness/subject_process.ts';
import { SUBJECT_NAMES, subjectByName } from '../../bench/harness/subjects.ts';
import { renderReport } from '../../bench/harness/table.ts';

const TINY: Sizes = {
  budgetMs: 60_000,
  leftOut: [],
  rounds: 2,
  runMs: 2,
  warmUpMs: 2,
  verifyOps: 64,
  dataFileMiB: 2,
  writeFileMiB: 2,
  smallFiles: 150,
  fairnessMs: 60,
  memoryOps: 2_000,
  importRounds: 1,
  clockOps: 1_000,
};

const names = {
  suites: [filesSuite.name],
  cases: filesSuite.cases.map((benchCase) => benchCase.name),
  subjects: SUBJECT_NAMES,
};

describe('files benchmark', () => {
  let report: Report;

  beforeAll(async () => {
    const options = parseOptions(['files', '--quick'], names);
    if (options === 'help') throw new Error('unreachable');
    report = await runSuite(filesSuite, options, TINY, () => undefined);
  }, 120_000);

  test('every subject of every case gives a row, or cannot on this machine', () => {
    expect(report.skips.filter((skip) => skip.failed)).toEqual([]);
    for (const { name, subjects } of filesSuite.cases) {
      for (const subject of subjects) {
        const has = (entry: { case: string; subject: string }): boolean =>
          entry.case === name && entry.subject === subject;
        const found = report.rows.some(has) || report.skips.some(has);
        expect(found, `${name} ${subject}`).toBe(true);
      }
    }
  });

  test('subjects that did the same work have the same hash', () => {
    const hashed = filesSuite.cases.filter(({ name }) => /^(read|write|small|stat)/.test(name));
    for (const { name } of hashed) {
      const rows = report.rows.filter((row) => row.case === name);
      const hashes = new Set(rows.map((row) => row.hash));
      if (rows.length === 0) continue; // O_DIRECT refused by the temporary folder's filesystem
      expect(hashes.size, `${name}: ${[...hashes]}`).toBe(1);
      expect([...hashes][0]).toMatch(/^[0-9a-f]{8}$/);
    }
  });

  test('rows have the shape that readers of the JSON rely on', () => {
    const parsed = JSON.parse(JSON.stringify(report)) as Report;
    expect(parsed).toMatchObject({ name: 'files', rounds: TINY.rounds });
    expect(parsed.hash).toMatch(/^[0-9a-f]{8}$/);
    for (const key of ['commit', 'node', 'cpuModel', 'cpuQuota', 'kernel', 'memlock', 'backends']) {
      expect(parsed.environment).toHaveProperty(key);
    }
    for (const { opsPerSecond, ...row } of parsed.rows) {
      expect(opsPerSecond.median, `${row.case} ${row.subject}`).toBeGreaterThanOrEqual(0);
      expect(opsPerSecond.min).toBeLessThanOrEqual(opsPerSecond.median);
      expect(opsPerSecond.median).toBeLessThanOrEqual(opsPerSecond.max);
    }
    expect(parsed.verdicts.length).toBe(filesSuite.goals.length);
  });

  test('the text names every row and every verdict', () => {
    const text = renderReport(report, filesSuite.ratioPeers);
    for (const row of report.rows) expect(text).toContain(row.case);
    expect(text).toContain('required values');
    expect(text).toContain('x fs.promises');
  });

  test("Node's own stat does not return behind blocked FIFO opens", () => {
    const node = report.rows.find(
      (row) => row.case === 'fairness' && row.subject === 'fs.promises',
    );
    expect(node?.values?.stats).toBe(0);
    expect(node?.note).toContain('had not returned');
  });
});

describe('the harness', () => {
  const input = new BenchInput();
  afterAll(() => input.remove());

  test('refuses unknown names and too few rounds before anything runs', () => {
    expect(() => parseOptions([], names)).toThrow(UsageError);
    expect(() => parseOptions(['nets'], names)).toThrow(/one of: files/);
    expect(() => parseOptions(['files', '--case', 'x'], names)).toThrow(/read4k-cached-qd1/);
    expect(() => parseOptions(['files', '--subject', 'x'], names)).toThrow(/fs\.promises/);
    expect(() => parseOptions(['files', '--rounds', '2'], names)).toThrow(/from 5/);
    expect(() => parseOptions(['files', '--quik'], names)).toThrow(UsageError);
  });

  test.each(['c:pread', 'c:io_uring', 'fs.promises', 'fs.callback'])(
    '%s reads what the harness expects, and a changed byte changes the checksum',
    async (name) => {
      const request = readRequest(input);
      const command = await new Programs(input.folder).command(subjectByName(name));
      const subject = await SubjectProcess.start(name, command);
      try {
        const right = await subject.run(request, 10_000);
        expect(Number(right.get('checksum'))).toBe(expectedReadChecksum(request));
        const other = await subject.run({ ...request, seed: request.seed + 1 }, 10_000);
        expect(Number(other.get('checksum'))).not.toBe(expectedReadChecksum(request));
        const missing = subject.run({ ...request, path: `${request.path}-missing` }, 10_000);
        await expect(missing).rejects.toThrow(/ENOENT|No such file/);
        const after = await subject.run(request, 10_000);
        expect(after.get('checksum')).toBe(right.get('checksum'));
      } finally {
        await subject.stop();
      }
    },
  );

  test('a subject that ends or hangs is an error with its reason, not a wait', async () => {
    const script =
      'process.stdin.once("data", () => { console.error("told so"); process.exit(3); })';
    const ends = { file: process.execPath, args: ['-e', script], env: {} };
    await expect(SubjectProcess.start('ends', ends)).rejects.toThrow(/\(3\).*told so/);
    const answers = 'process.stdin.once("data", () => console.log("ok"));';
    const hangs = { file: process.execPath, args: ['-e', answers], env: {} };
    const subject = await SubjectProcess.start('hangs', hangs);
    await expect(subject.run(readRequest(input), 100)).rejects.toThrow(/within 100 ms/);
    await subject.stop();
  });

  test('C programs refuse a malformed request and go on', async () => {
    const command = await new Programs(input.folder).command(subjectByName('c:pread'));
    const bad = encodeWork({ ...readRequest(input), blockBytes: 0 });
    const good = encodeWork(readRequest(input));
    const output = spawnSync(command.file, {
      input: `run\n${bad}${good}`,
      encoding: 'utf8',
    }).stdout;
    expect(output.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'error',
      'error',
      'ok',
      '',
    ]);
  });

  test('removes its input', () => {
    const own = new BenchInput();
    own.smallFiles(3);
    expect(existsSync(own.folder)).toBe(true);
    own.remove();
    expect(existsSync(own.folder)).toBe(false);
  });
});

function readRequest(input: BenchInput): WorkRequest {
  return {
    workload: 'read',
    path: input.dataFile('data', 1024 * 1024),
    ops: 100,
    depth: 8,
    blockBytes: 4096,
    blocks: 256,
    seed: 77,
    runSeed: 1,
    stride: 10,
    sequential: false,
    direct: false,
    verify: true,
    durationMs: 0,
  };
}
