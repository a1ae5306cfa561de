// Interleaved rounds of one workload over all subjects of a case.
//   1. verify: every subject does the same `verifyOps` operations and hashes every byte
//   2. warm-up: one run, whose rate sizes the rounds so that each takes about `runMs`
//   3. rounds: every subject once per round, the order rotated by one each round
// The sequence of blocks is the same for all; a faster subject gets further in it. The checksum of
// every run, also of the timed ones, is compared with the one computed here: a subject that fails
// once is out, with its reason, and gives no row.
import { type CaseContext, type CaseResult, reasonOf, startSubjects } from './bench_case.ts';
import { type Message, numberField, textField, type WorkRequest } from './protocol.ts';
import type { Row } from './report.ts';
import { LatencyHistogram, spread } from './statistics.ts';
import type { SubjectProcess } from './subject_process.ts';
import { hex32, mix32, SEQUENCE_SEED } from './work.ts';

const SAMPLES_PER_RUN_MAX = 2048;
const OPS_MAX = 2 ** 22;
const RUN_TIMEOUT_MS = 60_000;

export interface WorkloadPlan {
  name: string;
  subjects: readonly string[];
  note?: (subject: string) => string | undefined;
  /** The work of one run, its file or folder made at the first call. */
  request(context: CaseContext): Omit<WorkRequest, keyof RunKeys>;
  /** Gives the checksum the work must have; throws when written bytes are wrong. */
  expected(request: WorkRequest): number;
  /** Reads: true. Writes: false, the file itself was checked by `expected`. */
  checksumInReply: boolean;
  /** Gives a hash of the verified work, equal for all subjects. */
  hash?: (request: WorkRequest) => number;
  /** Operations of the warm-up and of every round, where a rate must not decide them. */
  fixedOps?: (context: CaseContext) => number;
  /** Measures of the case, from what the row has. */
  values?: (row: Row) => Record<string, number>;
}

type RunKeys = Pick<WorkRequest, 'ops' | 'seed' | 'runSeed' | 'stride' | 'verify' | 'durationMs'>;

interface Runner {
  name: string;
  process: SubjectProcess;
  ops: number;
  rates: number[];
  cpuUsPerOp: number[];
  latency: LatencyHistogram;
  peakRssKiB: number;
  hash: string;
  failure?: string;
}

export async function runRounds(plan: WorkloadPlan, context: CaseContext): Promise<CaseResult> {
  const result: CaseResult = { rows: [], skips: [] };
  const base = plan.request(context);
  const started = await startSubjects(plan, context, result.skips);
  const runners = started.map(({ subject, process }) => newRunner(subject.name, process));
  let runs = 0;
  const attempt = async (runner: Runner, work: (run: number) => Promise<void>): Promise<void> => {
    if (runner.failure !== undefined) return;
    try {
      await work(runs++);
    } catch (error) {
      runner.failure = reasonOf(error);
    }
  };
  try {
    context.progress(`${plan.name}: verify`);
    for (const runner of runners) {
      await attempt(runner, () => verifyOnce(plan, base, context, runner));
      if (context.sizes.warmUpMs === 0) continue;
      await attempt(runner, (run) => warmUp(plan, base, context, runner, run));
    }
    for (let round = 0; round < context.sizes.rounds; round++) {
      context.progress(`${plan.name}: round ${round + 1} of ${context.sizes.rounds}`);
      for (let i = 0; i < runners.length; i++) {
        const runner = runners[(i + round) % runners.length];
        await attempt(runner, (run) => timedRound(plan, base, runner, run));
      }
    }
  } finally {
    for (const { process } of started) await process.stop();
  }
  for (const runner of runners) {
    if (runner.failure === undefined) result.rows.push(rowOf(plan, runner));
    else
      result.skips.push({
        case: plan.name,
        subject: runner.name,
        reason: runner.failure,
        failed: true,
      });
  }
  return result;
}

function newRunner(name: string, process: SubjectProcess): Runner {
  const latency = new LatencyHistogram();
  return { name, process, ops: 0, rates: [], cpuUsPerOp: [], latency, peakRssKiB: 0, hash: '' };
}

type BaseRequest = Omit<WorkRequest, keyof RunKeys>;

function requestOf(base: BaseRequest, ops: number, run: number, verify: boolean): WorkRequest {
  return {
    ...base,
    ops,
    seed: SEQUENCE_SEED,
    runSeed: verify ? SEQUENCE_SEED : mix32(run + 1),
    stride: Math.max(1, Math.ceil(ops / SAMPLES_PER_RUN_MAX)),
    verify,
    durationMs: 0,
  };
}

/** The run that proves the work: every byte is hashed, and the hash is what the row carries. */
async function verifyOnce(
  plan: WorkloadPlan,
  base: BaseRequest,
  context: CaseContext,
  runner: Runner,
): Promise<void> {
  const request = requestOf(base, context.sizes.verifyOps, 0, true);
  const reply = await runChecked(plan, request, runner);
  const hash = plan.hash?.(request) ?? numberField(reply, 'checksum');
  runner.hash = hex32(hash);
  runner.ops = plan.fixedOps?.(context) ?? sizedOps(reply, context.sizes.warmUpMs, base.depth);
}

async function warmUp(
  plan: WorkloadPlan,
  base: BaseRequest,
  context: CaseContext,
  runner: Runner,
  run: number,
): Promise<void> {
  const reply = await runChecked(plan, requestOf(base, runner.ops, run, false), runner);
  runner.ops = plan.fixedOps?.(context) ?? sizedOps(reply, context.sizes.runMs, base.depth);
}

async function timedRound(
  plan: WorkloadPlan,
  base: BaseRequest,
  runner: Runner,
  run: number,
): Promise<void> {
  const reply = await runChecked(plan, requestOf(base, runner.ops, run, false), runner);
  runner.rates.push(rateOf(reply));
  runner.cpuUsPerOp.push(numberField(reply, 'cpuNs') / 1000 / numberField(reply, 'ops'));
  runner.latency.addList(textField(reply, 'samples'));
}

async function runChecked(
  plan: WorkloadPlan,
  request: WorkRequest,
  runner: Runner,
): Promise<Message> {
  const reply = await runner.process.run(request, RUN_TIMEOUT_MS);
  const expected = plan.expected(request);
  if (plan.checksumInReply && numberField(reply, 'checksum') !== expected) {
    const got = hex32(numberField(reply, 'checksum'));
    throw new Error(`checksum ${got} after ${request.ops} operations, ${hex32(expected)} expected`);
  }
  runner.peakRssKiB = Math.max(runner.peakRssKiB, numberField(reply, 'peakRssKiB'));
  return reply;
}

function rateOf(reply: Message): number {
  return numberField(reply, 'ops') / (Math.max(1, numberField(reply, 'elapsedNs')) / 1e9);
}

function sizedOps(reply: Message, runMs: number, depth: number): number {
  const ops = Math.round((rateOf(reply) * runMs) / 1000);
  return Math.min(OPS_MAX, Math.max(ops, depth * 2));
}

function rowOf(plan: WorkloadPlan, runner: Runner): Row {
  const row: Row = {
    case: plan.name,
    subject: runner.name,
    opsPerSecond: spread(runner.rates),
    peakRssMiB: Number((runner.peakRssKiB / 1024).toFixed(1)),
    cpuUsPerOp: Number(spread(runner.cpuUsPerOp).median.toFixed(3)),
    hash: runner.hash,
  };
  if (runner.latency.count > 0) {
    row.p50Us = runner.latency.percentileUs(50);
    row.p99Us = runner.latency.percentileUs(99);
  }
  const note = plan.note?.(runner.name);
  if (note !== undefined) row.note = note;
  if (plan.values !== undefined) row.values = plan.values(row);
  return row;
}
