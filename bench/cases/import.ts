// What importing costs: the time of `import 'nephrite/fs'` in a fresh process, and the
// io_uring_setup calls made by it, counted by strace. Each round is a process of its own; the
// first is not counted (the page cache is cold). ops/s is imports per second.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type BenchCase,
  type CaseContext,
  type CaseResult,
  reasonOf,
} from '../harness/bench_case.ts';
import type { Row } from '../harness/report.ts';
import { spread } from '../harness/statistics.ts';

const TIMEOUT_MS = 30_000;

export const importCase: BenchCase = {
  name: 'import',
  subjects: ['nephrite'],
  async run(context) {
    const result: CaseResult = { rows: [], skips: [] };
    if (!context.selected('nephrite')) return result;
    context.progress(`${this.name}: ${context.sizes.importRounds} fresh processes`);
    try {
      result.rows.push(measure(this.name, context));
    } catch (error) {
      result.skips.push({
        case: this.name,
        subject: 'nephrite',
        reason: reasonOf(error),
        failed: true,
      });
    }
    return result;
  },
};

function measure(name: string, context: CaseContext): Row {
  const file = context.programs.nephriteEntry('nephrite/fs');
  const timesMs: number[] = [];
  for (let round = -1; round < context.sizes.importRounds; round++) {
    const timeMs = importOnce(file, [process.execPath]);
    if (round >= 0) timesMs.push(timeMs);
  }
  const times = spread(timesMs);
  const row: Row = {
    case: name,
    subject: 'nephrite',
    opsPerSecond: spread(timesMs.map((timeMs) => 1000 / timeMs)),
    p50Us: Math.round(times.median * 1000),
    values: { importMs: times.median, importMsMin: times.min, importMsMax: times.max },
  };
  const calls = countRingSetups(file, context.input.folder);
  if (typeof calls === 'number') Object.assign(row.values ?? {}, { ioUringSetupCalls: calls });
  else row.note = `io_uring_setup calls not counted: ${calls}`;
  return row;
}

/** Imports in a fresh process started by `command`; the milliseconds that the import took. */
function importOnce(file: string, command: readonly string[]): number {
  const script = `const began = performance.now();
    await import(${JSON.stringify(pathToFileURL(file).href)});
    process.stdout.write(String(performance.now() - began));`;
  const [program, ...args] = [...command, '--input-type=module', '--eval', script];
  const child = spawnSync(program, args, { encoding: 'utf8', timeout: TIMEOUT_MS });
  const timeMs = Number(child.stdout);
  if (child.status !== 0 || !(timeMs > 0)) {
    throw new Error(`import failed: ${child.error?.message ?? child.stderr.slice(0, 500)}`);
  }
  return timeMs;
}

function countRingSetups(file: string, folder: string): number | string {
  if (spawnSync('strace', ['-V']).status !== 0) return 'strace is not installed';
  const trace = join(folder, 'import.strace');
  const strace = ['strace', '-f', '-qq', '-e', 'trace=io_uring_setup', '-o', trace];
  try {
    importOnce(file, [...strace, process.execPath]);
  } catch (error) {
    return reasonOf(error);
  }
  return readFileSync(trace, 'utf8')
    .split('\n')
    .filter((line) => line.includes('io_uring_setup')).length;
}
