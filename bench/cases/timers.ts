// Timers by the million, armed and then all fired or all cancelled; see subjects/timers.ts.
// An operation is one timer from arming to its end; `armNs` and `endNs` are the halves, medians
// over rounds. AbortSignal.timeout does a share of them, since it holds an AbortSignal for each.
// Not here: sleeping tasks (tasks.ts).
import {
  type BenchCase,
  type CaseContext,
  type CaseResult,
  reasonOf,
} from '../harness/bench_case.ts';
import { numberField, type WorkRequest } from '../harness/protocol.ts';
import { spread } from '../harness/statistics.ts';
import { SubjectProcess } from '../harness/subject_process.ts';
import { SIGNAL_SUBJECT, subjectByName, TIMEOUT_SUBJECT } from '../harness/subjects.ts';
import { hex32, mix32, SEQUENCE_SEED } from '../harness/work.ts';
import { expectedTimersChecksum } from '../subjects/timers.ts';

type Ends = 'fire' | 'cancel';

const RUN_TIMEOUT_MS = 120_000;
const SIGNAL_SHARE = 1 / 64;

interface Runner {
  name: string;
  process: SubjectProcess;
  ops: number;
  rates: number[];
  armNs: number[];
  endNs: number[];
  early: number;
  peakRssKiB: number;
  hash: string;
}

export const timersFireCase = timersCase('timers-fire', 'fire', [
  'nephrite',
  TIMEOUT_SUBJECT,
  SIGNAL_SUBJECT,
]);

export const timersCancelCase = timersCase('timers-cancel', 'cancel', [
  'nephrite',
  TIMEOUT_SUBJECT,
]);

function timersCase(name: string, ends: Ends, subjects: readonly string[]): BenchCase {
  return {
    name,
    subjects,
    async run(context) {
      const result: CaseResult = { rows: [], skips: [] };
      const runners: Runner[] = [];
      const failed = new Set<string>();
      const attempt = async (subject: string, work: () => Promise<void>): Promise<void> => {
        if (failed.has(subject)) return;
        try {
          await work();
        } catch (error) {
          failed.add(subject);
          result.skips.push({ case: name, subject, reason: reasonOf(error), failed: true });
        }
      };
      try {
        for (const subject of subjects.filter((one) => context.selected(one))) {
          await attempt(subject, async () => {
            const runner = await startRunner(subject, context);
            runners.push(runner);
            context.progress(`${name}: ${subject}, verify and warm up`);
            await verifyOnce(runner, ends, context);
            await timedRun(runner, ends, 0, false);
          });
        }
        for (let round = 0; round < context.sizes.rounds; round++) {
          context.progress(`${name}: round ${round + 1} of ${context.sizes.rounds}`);
          for (let i = 0; i < runners.length; i++) {
            const runner = runners[(i + round) % runners.length];
            await attempt(runner.name, () => timedRun(runner, ends, round + 1, true));
          }
        }
      } finally {
        for (const { process } of runners) await process.stop();
      }
      for (const runner of runners) if (!failed.has(runner.name)) result.rows.push(rowOf(runner));
      return result;

      function rowOf(runner: Runner): CaseResult['rows'][number] {
        return {
          case: name,
          subject: runner.name,
          opsPerSecond: spread(runner.rates),
          peakRssMiB: Number((runner.peakRssKiB / 1024).toFixed(1)),
          values: {
            armNs: Number(spread(runner.armNs).median.toFixed(1)),
            [`${ends}Ns`]: Number(spread(runner.endNs).median.toFixed(1)),
            earlyInVerifiedRun: runner.early,
          },
          note: `${runner.ops} timers a round`,
          hash: runner.hash,
        };
      }
    },
  };
}

async function startRunner(name: string, context: CaseContext): Promise<Runner> {
  const timerCount = context.sizes.timerCount ?? 0;
  const ops = Math.ceil(name === SIGNAL_SUBJECT ? timerCount * SIGNAL_SHARE : timerCount);
  const command = await context.programs.command(subjectByName('fs.promises'));
  const process = await SubjectProcess.start(name, command);
  const lists = { rates: [], armNs: [], endNs: [] };
  return { name, process, ops, ...lists, early: 0, peakRssKiB: 0, hash: '' };
}

async function verifyOnce(runner: Runner, ends: Ends, context: CaseContext): Promise<void> {
  const { verifyOps } = context.sizes;
  const request = requestOf(runner.name, ends, verifyOps, SEQUENCE_SEED, true);
  const reply = await runner.process.run(request, RUN_TIMEOUT_MS);
  const checksum = numberField(reply, 'checksum');
  const expected = expectedTimersChecksum(verifyOps, ends === 'cancel');
  if (checksum !== expected) throw new Error(`lost or fired twice: ${hex32(checksum)}`);
  runner.early = numberField(reply, 'early');
  if (runner.name === 'nephrite' && runner.early > 0) throw new Error('a timer was early');
  runner.hash = hex32(checksum);
}

async function timedRun(runner: Runner, ends: Ends, run: number, counts: boolean): Promise<void> {
  const request = requestOf(runner.name, ends, runner.ops, mix32(run + 1), false);
  const reply = await runner.process.run(request, RUN_TIMEOUT_MS);
  runner.peakRssKiB = Math.max(runner.peakRssKiB, numberField(reply, 'peakRssKiB'));
  if (!counts) return;
  const armNs = numberField(reply, 'armNs');
  const endNs = numberField(reply, 'endNs');
  runner.rates.push(runner.ops / ((armNs + endNs) / 1e9));
  runner.armNs.push(armNs / runner.ops);
  runner.endNs.push(endNs / runner.ops);
}

function requestOf(
  timers: string,
  ends: Ends,
  ops: number,
  seed: number,
  verify: boolean,
): WorkRequest & { timers: string; ends: Ends } {
  return {
    workload: 'timers',
    timers,
    ends,
    path: '',
    ops,
    depth: 1,
    blockBytes: 8,
    blocks: 1,
    seed,
    runSeed: 1,
    stride: 1,
    sequential: false,
    direct: false,
    verify,
    durationMs: 0,
  };
}
