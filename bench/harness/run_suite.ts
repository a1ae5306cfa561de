// Runs a suite's selected cases one after the other and makes the report. Owns the input folder. A
// case that fails as a whole (no compiler, no space) becomes skips with the reason; the others
// run.
import { loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';
import {
  type CaseContext,
  type CaseResult,
  reasonOf,
  type Sizes,
  type Suite,
} from './bench_case.ts';
import { describeEnvironment } from './environment.ts';
import { judge } from './goals.ts';
import { BenchInput } from './input.ts';
import type { BenchOptions } from './options.ts';
import { Programs } from './programs.ts';
import type { Report, Row } from './report.ts';
import { hashText, hex32 } from './work.ts';

/** The most that runs are shortened on a machine too busy for the budget. */
const FACTOR_MIN = 0.5;

export async function runSuite(
  suite: Suite,
  options: BenchOptions,
  sizes: Sizes,
  progress: (text: string) => void,
): Promise<Report> {
  const beganMs = performance.now();
  const [loadBefore] = loadavg();
  const input = new BenchInput();
  const result: CaseResult = { rows: [], skips: [] };
  const backends = new Map<string, string>();
  let shortest = 1;
  try {
    const context: CaseContext = {
      sizes,
      input,
      programs: new Programs(input.folder),
      selected: (name) =>
        options.subjects.length === 0
          ? !sizes.leftOut.includes(name)
          : options.subjects.includes(name),
      progress,
      backends,
    };
    const cases = suite.cases.filter((benchCase) => isSelected(benchCase.name, options));
    for (const [index, benchCase] of cases.entries()) {
      const leftMs = sizes.budgetMs - (performance.now() - beganMs);
      const factor = paceFactor(sizes.budgetMs, leftMs, index / cases.length);
      shortest = Math.min(shortest, factor);
      try {
        const { rows, skips } = await benchCase.run({
          ...context,
          sizes: shortened(sizes, factor),
        });
        result.rows.push(...rows);
        result.skips.push(...skips);
      } catch (error) {
        result.skips.push({
          case: benchCase.name,
          subject: 'all',
          reason: reasonOf(error),
          failed: true,
        });
      }
    }
  } finally {
    input.remove();
  }
  const tookSeconds = Math.round((performance.now() - beganMs) / 1000);
  const environment = describeEnvironment(options, {
    ...suite.environment(sizes),
    leftOut: sizes.leftOut.join(' ') || 'nothing',
    backends: [...backends].map(([subject, backend]) => `${subject}=${backend}`).join(' '),
    loadAverage: `${loadBefore.toFixed(1)} before, ${loadavg()[0].toFixed(1)} after`,
    shortenedTo: Number(shortest.toFixed(2)),
    tookSeconds,
  });
  const verdicts = judge(
    suite.goals.filter((goal) => isSelected(goal.case, options)),
    result.rows,
  );
  const hash = workHash(result.rows);
  return { name: suite.name, environment, rounds: sizes.rounds, ...result, verdicts, hash };
}

/** 1 while the budget lasts for the cases that are left, less when it would not. */
function paceFactor(budgetMs: number, leftMs: number, doneShare: number): number {
  if (!Number.isFinite(budgetMs)) return 1;
  return Math.max(FACTOR_MIN, Math.min(1, leftMs / (budgetMs * (1 - doneShare))));
}

/** Fewer operations per run, never fewer rounds nor a shorter warm-up: cold code tells nothing. */
function shortened(sizes: Sizes, factor: number): Sizes {
  return {
    ...sizes,
    runMs: sizes.runMs * factor,
    memoryOps: Math.ceil(sizes.memoryOps * factor),
  };
}

function isSelected(caseName: string, options: BenchOptions): boolean {
  return options.cases.length === 0 || options.cases.includes(caseName);
}

function workHash(rows: readonly Row[]): string {
  const hashes = rows.filter((row) => row.hash !== undefined);
  return hex32(hashText(hashes.map((row) => `${row.case} ${row.subject} ${row.hash}`).join('\n')));
}
