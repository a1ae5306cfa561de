// Does anything starve? A 1 ms timer and a stat while 8 FIFO opens wait and 64 large reads run; see
// subjects/fairness.ts. ops/s is stats per second; a stat that never came back gives 0 and the time
// it had waited. p50 and p99 of the row are the worse of timer and stat.
import {
  type BenchCase,
  type CaseContext,
  type CaseResult,
  reasonOf,
  type StartedSubject,
  startSubjects,
} from '../harness/bench_case.ts';
import { type Message, numberField, textField, type WorkRequest } from '../harness/protocol.ts';
import type { Row } from '../harness/report.ts';
import { LatencyHistogram, spread } from '../harness/statistics.ts';
import { MIB, SEQUENCE_SEED } from '../harness/work.ts';

const FIFOS = 8;
const READS = 64;
const TIMEOUT_MS = 30_000;

export const fairnessCase: BenchCase = {
  name: 'fairness',
  subjects: ['nephrite', 'nephrite:epoll', 'nephrite:node', 'fs.promises'],
  async run(context) {
    const result: CaseResult = { rows: [], skips: [] };
    for (const name of this.subjects) {
      // One round and one process per subject: a peer whose pool is blocked does not recover.
      const only = { name: this.name, subjects: [name] };
      for (const started of await startSubjects(only, context, result.skips)) {
        context.progress(`${this.name}: ${name}`);
        try {
          result.rows.push(await runOnce(this.name, started, context));
        } catch (error) {
          result.skips.push({
            case: this.name,
            subject: name,
            reason: reasonOf(error),
            failed: true,
          });
        } finally {
          await started.process.stop();
        }
      }
    }
    return result;
  },
};

async function runOnce(
  name: string,
  { subject, process }: StartedSubject,
  context: CaseContext,
): Promise<Row> {
  const bytes = context.sizes.dataFileMiB * MIB;
  const request: WorkRequest & { fifos: string } = {
    workload: 'fairness',
    path: context.input.dataFile('data', bytes),
    fifos: context.input.fifos(FIFOS),
    ops: 1,
    depth: READS,
    blockBytes: MIB,
    blocks: bytes / MIB,
    seed: SEQUENCE_SEED,
    runSeed: SEQUENCE_SEED,
    stride: 1,
    sequential: true,
    direct: false,
    verify: false,
    durationMs: context.sizes.fairnessMs,
  };
  return rowOf(name, subject.name, await process.run(request, TIMEOUT_MS));
}

function rowOf(caseName: string, subject: string, reply: Message): Row {
  const timer = new LatencyHistogram();
  timer.addList(textField(reply, 'timerSamples'));
  const stat = new LatencyHistogram();
  stat.addList(textField(reply, 'statSamples'));
  const elapsedMs = numberField(reply, 'elapsedMs');
  const pendingUs = numberField(reply, 'statPendingMs') * 1000;
  const statP99Us = stat.count > 0 ? stat.percentileUs(99) : pendingUs;
  const row: Row = {
    case: caseName,
    subject,
    opsPerSecond: spread([(stat.count * 1000) / elapsedMs]),
    p50Us: Math.max(timer.percentileUs(50), stat.count > 0 ? stat.percentileUs(50) : pendingUs),
    p99Us: Math.max(timer.percentileUs(99), statP99Us),
    peakRssMiB: Number((numberField(reply, 'peakRssKiB') / 1024).toFixed(1)),
    values: {
      timerP99Us: timer.percentileUs(99),
      statP99Us,
      timers: timer.count,
      stats: stat.count,
      readsDone: numberField(reply, 'readsDone'),
    },
  };
  row.note = noteOf(reply, stat.count, elapsedMs);
  return row;
}

function noteOf(reply: Message, stats: number, elapsedMs: number): string {
  const parts = [
    `${FIFOS} FIFO opens waiting, ${READS} reads of 1 MiB, ${Math.round(elapsedMs)} ms`,
  ];
  if (stats === 0) {
    const pendingMs = Math.round(numberField(reply, 'statPendingMs'));
    parts.push(`the stat had not returned after ${pendingMs} ms`);
  }
  const opened = numberField(reply, 'fifosOpened');
  if (opened > 0) parts.push(`${opened} FIFOs opened without a writer`);
  const error = textField(reply, 'error');
  if (error !== '') parts.push(error);
  return parts.join('; ');
}
