// Does memory stay flat? See subjects/memory_growth.ts for the mix. Growth is the largest
// resident set in the last fifth of the run against the largest in its first half: one byte per
// operation is 5 MiB in a full run.
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
import { spread } from '../harness/statistics.ts';
import { BLOCK_BYTES, blockEnds, MIB, SEQUENCE_SEED } from '../harness/work.ts';
import { expectedMemoryChecksum } from '../subjects/memory_growth.ts';

const DEPTH = 32;
// V8 doubles its young generation when it likes, up to 32 MiB: fixed at that, so that what grows is
// a leak.
const NODE_FLAGS = ['--expose-gc', '--min-semi-space-size=16', '--max-semi-space-size=16'];
const TIMEOUT_MS = 1_800_000;
export const FULL_OPS = 10_000_000;

export const memoryCase: BenchCase = {
  name: 'memory',
  subjects: ['nephrite', 'nephrite:pool', 'nephrite:epoll'],
  async run(context) {
    const result: CaseResult = { rows: [], skips: [] };
    for (const name of this.subjects) {
      const only = { name: this.name, subjects: [name] };
      for (const started of await startSubjects(only, context, result.skips, NODE_FLAGS)) {
        context.progress(`${this.name}: ${name}, ${context.sizes.memoryOps} operations`);
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
  const request: WorkRequest = {
    workload: 'memory',
    path: context.input.dataFile('data', bytes),
    ops: context.sizes.memoryOps,
    depth: DEPTH,
    blockBytes: BLOCK_BYTES,
    blocks: bytes / BLOCK_BYTES,
    seed: SEQUENCE_SEED,
    runSeed: SEQUENCE_SEED,
    stride: 1,
    sequential: false,
    direct: false,
    verify: false,
    durationMs: 0,
  };
  const reply = await process.run(request, TIMEOUT_MS);
  const expected = expectedMemoryChecksum(request, (block) => blockEnds(block, BLOCK_BYTES / 4));
  if (numberField(reply, 'checksum') !== expected) throw new Error('wrong bytes were read');
  return rowOf(name, subject.name, reply);
}

function rowOf(caseName: string, subject: string, reply: Message): Row {
  const rssMiB = textField(reply, 'rssKiB')
    .split(',')
    .map((kib) => Number(kib) / 1024);
  const startMiB = Math.max(...rssMiB.slice(0, rssMiB.length / 2));
  const endMiB = Math.max(...rssMiB.slice(-rssMiB.length / 5));
  const ops = numberField(reply, 'ops');
  const row: Row = {
    case: caseName,
    subject,
    opsPerSecond: spread([ops / (numberField(reply, 'elapsedNs') / 1e9)]),
    peakRssMiB: Number((numberField(reply, 'peakRssKiB') / 1024).toFixed(1)),
    values: {
      growthMiB: Number((endMiB - startMiB).toFixed(2)),
      startMiB: Number(startMiB.toFixed(1)),
      endMiB: Number(endMiB.toFixed(1)),
    },
  };
  const fewer = ops < FULL_OPS ? ', fewer than the 10 million of a full run' : '';
  row.note = `${ops} operations${fewer}`;
  return row;
}
