// What importing costs: the time of `import 'nephrite/fs'` in a fresh process, and the
// io_uring_setup calls made by it, counted by strace. Each round is a process of its own; the
// first is not counted (the page cache is cold). ops/s is imports per second.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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
import { EMPTY_MODULE_SUBJECT } from '../harness/subjects.ts';

const TIMEOUT_MS = 30_000;
const SUBJECTS = ['nephrite', EMPTY_MODULE_SUBJECT];

interface ImportCost {
  timeMs: number;
  cpuMs: number;
}

export const importCase: BenchCase = {
  name: 'import',
  subjects: SUBJECTS,
  async run(context) {
    const result: CaseResult = { rows: [], skips: [] };
    const costs = new Map<string, ImportCost[]>();
    const selected = SUBJECTS.filter((subject) => context.selected(subject));
    for (let round = -1; round < context.sizes.importRounds; round++) {
      context.progress(`${this.name}: fresh process ${round + 1} of ${context.sizes.importRounds}`);
      for (const subject of [...selected]) {
        try {
          const cost = importOnce(moduleOf(subject, context), [process.execPath]);
          if (round >= 0) costs.set(subject, [...(costs.get(subject) ?? []), cost]);
        } catch (error) {
          selected.splice(selected.indexOf(subject), 1);
          costs.delete(subject);
          result.skips.push({ case: this.name, subject, reason: reasonOf(error), failed: true });
        }
      }
    }
    for (const [subject, list] of costs) result.rows.push(rowOf(this.name, subject, list, context));
    return result;
  },
};

/** The empty module shows what the module loader itself costs in a fresh process. */
function moduleOf(subject: string, context: CaseContext): string {
  if (subject === 'nephrite') return context.programs.nephriteEntry('nephrite/fs');
  const file = join(context.input.folder, 'empty.mjs');
  writeFileSync(file, 'export const nothing = 0;\n');
  return file;
}

function rowOf(
  name: string,
  subject: string,
  costs: readonly ImportCost[],
  context: CaseContext,
): Row {
  const times = spread(costs.map((cost) => cost.timeMs));
  const row: Row = {
    case: name,
    subject,
    opsPerSecond: spread(costs.map((cost) => 1000 / cost.timeMs)),
    p50Us: Math.round(times.median * 1000),
    cpuUsPerOp: Math.round(spread(costs.map((cost) => cost.cpuMs)).median * 1000),
    values: { importMs: times.median, importMsMin: times.min, importMsMax: times.max },
  };
  if (subject !== 'nephrite') return row;
  const calls = countRingSetups(moduleOf(subject, context), context.input.folder);
  if (typeof calls === 'number') Object.assign(row.values ?? {}, { ioUringSetupCalls: calls });
  else row.note = `io_uring_setup calls not counted: ${calls}`;
  return row;
}

/** Imports in a fresh process started by `command`; what the import itself took there. */
function importOnce(file: string, command: readonly string[]): ImportCost {
  const script = `const cpu = process.cpuUsage();
    const began = performance.now();
    await import(${JSON.stringify(pathToFileURL(file).href)});
    const timeMs = performance.now() - began;
    const { user, system } = process.cpuUsage(cpu);
    process.stdout.write(JSON.stringify({ timeMs, cpuMs: (user + system) / 1000 }));`;
  const [program, ...args] = [...command, '--input-type=module', '--eval', script];
  const child = spawnSync(program, args, { encoding: 'utf8', timeout: TIMEOUT_MS });
  if (child.status !== 0) {
    throw new Error(`import failed: ${child.error?.message ?? child.stderr.slice(0, 500)}`);
  }
  return JSON.parse(child.stdout) as ImportCost;
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
