// What goes wrong during a run: corrupted bytes, failed conditions, full disks, no descriptors,
// Ctrl-C, and stalls that an honest latency must show.
import { open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StressResult } from '../../lib/cli/stress/result.ts';
import { makeTestFolder, type RunningCli, runCli, startCli, tinyRun } from './run_cli.ts';

let folder: ReturnType<typeof makeTestFolder>;
beforeEach(() => {
  folder = makeTestFolder();
});
afterEach(() => folder.remove());

/** The run's own folder, once its data set is there and the load has begun. */
async function dataFolder(running: RunningCli): Promise<string> {
  const [, path] = await running.seen(/running in (.+)\n/);
  return path;
}

/** Flips one bit of a file from this process, behind the back of the one under test. */
async function flipBit(path: string, offsetBytes: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, offsetBytes);
    byte[0] ^= 0x10;
    await file.write(byte, 0, 1, offsetBytes);
  } finally {
    await file.close();
  }
}

describe('corruption', () => {
  test('a bit flipped on disk during the run is found by a read, with its place', async () => {
    const running = startCli(
      tinyRun(folder.path, '--size', '1m', '--files', '2', '--duration', '1s', '--json'),
    );
    const path = join(await dataFolder(running), 'data-0001');
    await flipBit(path, 3 * 4096 + 1234);
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(1);
    const result = JSON.parse(stdout) as StressResult;
    expect(result.isFailed).toBe(true);
    const [mismatch] = result.subjects[0].verified?.mismatches ?? [];
    expect(mismatch).toMatchObject({
      path,
      offsetBytes: 3 * 4096 + 1234,
      blockOffsetBytes: 3 * 4096,
      differingBytes: 1,
      reader: 'nephrite',
    });
    const [expected, got] = [mismatch.expectedHex, mismatch.gotHex].map((hex) =>
      Number.parseInt(hex.slice(0, 2), 16),
    );
    expect(expected ^ got).toBe(0x10);
    expect(stderr).toContain(`MISMATCH ${path} at byte ${3 * 4096 + 1234}`);
    expect(folder.leftovers()).toEqual([]);
  });

  test('a block that no read meets again is found by the final check', async () => {
    // Writes only, in order, 20 of 4096 blocks: the last one is neither read nor written again.
    const running = startCli(
      tinyRun(
        folder.path,
        ...['--size', '16m', '--files', '1', '--rwmix', '0', '--rate', '20', '--json'],
        ...['--mode', 'sequential', '--block', '4k', '--duration', '1s'],
      ),
    );
    const path = join(await dataFolder(running), 'data-0000');
    await flipBit(path, 16 * 1024 ** 2 - 1);
    const { code, stdout } = await running.ended;
    expect(code).toBe(1);
    const { finalCheck } = JSON.parse(stdout) as StressResult;
    expect(finalCheck?.mismatches).toMatchObject([
      { offsetBytes: 16 * 1024 ** 2 - 1, reader: 'final check' },
    ]);
  });

  test('a file cut short during the run is found', async () => {
    const running = startCli(
      tinyRun(folder.path, '--size', '1m', '--files', '1', '--duration', '1s', '--json'),
    );
    const path = join(await dataFolder(running), 'data-0000');
    const file = await open(path, 'r+');
    await file.truncate((await stat(path)).size - 2048);
    await file.close();
    const { code, stdout } = await running.ended;
    expect(code).toBe(1);
    const { subjects } = JSON.parse(stdout) as StressResult;
    expect(subjects[0].verified?.mismatches[0]).toMatchObject({
      offsetBytes: 1024 ** 2 - 2048,
      differingBytes: 2048,
    });
  });
});

describe('exit codes', () => {
  test.each([
    ['p99>1us', 1],
    ['p99>100s', 0],
    ['ops<1000m', 1],
    ['ops<1', 0],
    ['errors>0', 0],
  ])('--fail-if %s exits with %d', async (condition, expected) => {
    const { code, stdout } = await runCli(
      tinyRun(folder.path, '--size', '16m', '--duration', '100ms', '--fail-if', condition),
    );
    expect(code).toBe(expected);
    expect(stdout.includes(`FAILED ${condition}`)).toBe(expected === 1);
  });

  test('--quiet says nothing when all is well, and reports when it is not', async () => {
    const args = tinyRun(folder.path, '--size', '16m', '--duration', '100ms', '--quiet');
    expect(await runCli(args)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const failed = await runCli([...args, '--fail-if', 'p50>0us']);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain('FAILED p50>0us');
  });

  test('an operation that fails makes the run fail, unless errors are allowed by name', async () => {
    const run = async (...more: string[]): Promise<number | null> => {
      const running = startCli(
        tinyRun(
          folder.path,
          ...['--mode', 'small', '--files', '100', '--rwmix', '100', '--rate', '200'],
          ...['--duration', '1s', ...more],
        ),
      );
      const small = join(await dataFolder(running), 'small-0000');
      // Half of all files: that none of 200 reads meets one of them does not happen.
      const names = (await readdir(small)).slice(0, 50);
      for (const name of names) await unlink(join(small, name));
      const { code, stdout } = await running.ended;
      expect(stdout).toContain('ENOENT');
      return code;
    };
    expect(await run()).toBe(1);
    expect(await run('--fail-if', 'errors>100000')).toBe(0);
  });
});

describe('the machine', () => {
  test('a data set that does not fit the disk is refused before anything is written', async () => {
    const { code, stderr } = await runCli(
      tinyRun(folder.path, '--size', '1024t', '--block', '16m'),
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/has .* free, the run needs 1 PiB/);
    expect(folder.leftovers()).toEqual([]);
  });

  test('a folder that does not exist is named', async () => {
    const { code, stderr } = await runCli(tinyRun(join(folder.path, 'missing')));
    expect(code).toBe(1);
    expect(stderr).toContain('missing: no such folder');
  });

  test('running out of descriptors is reported with a remedy', async () => {
    const { code, stderr } = await runCli(
      tinyRun(folder.path, '--files', '400', '--size', '8m', '--depth', '2'),
      { shellSetup: 'ulimit -n 128' },
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/opening file \d+ of 400: EMFILE.*ulimit -n/);
    expect(folder.leftovers()).toEqual([]);
  });

  test('a reader that closes the pipe ends the run quietly', async () => {
    const running = startCli(tinyRun(folder.path, '--size', '16m'));
    running.child.stdout?.destroy();
    const { code, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stderr).not.toContain('EPIPE');
    expect(folder.leftovers()).toEqual([]);
  });
});

describe('Ctrl-C', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s stops the run, prints the report, exits with %d, leaves no file',
    async (signal, code) => {
      const running = startCli(
        tinyRun(folder.path, '--size', '16m', '--rwmix', '50', '--duration', '1m'),
      );
      await dataFolder(running);
      running.child.kill(signal);
      const result = await running.ended;
      expect(result.code).toBe(code);
      expect(result.stdout).toContain('operations');
      expect(result.stdout).toContain(`stopped early by ${signal}`);
      expect(folder.leftovers()).toEqual([]);
    },
  );

  test('during layout it stops there', async () => {
    const running = startCli(tinyRun(folder.path, '--size', '2g', '--duration', '1m'));
    await running.seen(/laying out/);
    running.child.kill('SIGINT');
    const result = await running.ended;
    expect(result.code).toBe(130);
    expect(folder.leftovers()).toEqual([]);
  });

  test('in an open loop that waits for its next start it stops at once', async () => {
    const running = startCli(
      tinyRun(folder.path, '--size', '16m', '--rate', '1', '--duration', '1h'),
    );
    await dataFolder(running);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
  });
});

describe('open loop', () => {
  const PAUSE_MS = 600;

  /** Runs for four seconds and stops the whole process in between. */
  async function runWithPause(...more: string[]): Promise<StressResult> {
    const running = startCli(
      tinyRun(folder.path, '--size', '4m', '--depth', '2', '--duration', '4s', '--json', ...more),
    );
    // The first progress line: the load is running, and three seconds of it are left; a busy
    // machine may take two of them before this process reads the line.
    await running.seen(/\d\/s/);
    const pid = running.child.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    process.kill(pid, 'SIGCONT');
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    return JSON.parse(stdout) as StressResult;
  }

  test('latency counts from the intended start: a stall is charged to all who waited', async () => {
    const { subjects } = await runWithPause('--rate', '500');
    const [{ operations, notStarted, latencyUs }] = subjects;
    // None of the 2,000 is lost by the stall; 300 of them were due during it and waited 300 ms on
    // average: far more than one in a hundred.
    expect(operations + (notStarted ?? 0)).toBe(2000);
    expect(latencyUs?.p99).toBeGreaterThan(200_000);
    expect(latencyUs?.max).toBeGreaterThan(400_000);
  });

  test('a closed loop cannot see that: only what was in flight waited', async () => {
    const { subjects } = await runWithPause();
    expect(subjects[0].latencyUs?.p99).toBeLessThan(200_000);
    expect(subjects[0].latencyUs?.max).toBeGreaterThan(400_000);
  });

  test('a rate that cannot be reached is told, not hidden', async () => {
    const result = await runCli(
      tinyRun(folder.path, '--size', '16m', '--rate', '10m', '--depth', '1', '--json', '--quiet'),
    );
    const { subjects } = JSON.parse(result.stdout) as StressResult;
    expect(subjects[0].notStarted).toBeGreaterThan(100_000);
  });
});
