// The master clock's read against Node's clocks, each in a process of its own; see
// subjects/clock.ts. A reading that goes back is counted in the row (`backward`). Staleness is not
// measured here.
import {
  type BenchCase,
  type CaseContext,
  type CaseResult,
  reasonOf,
} from '../harness/bench_case.ts';
import { numberField, type WorkRequest } from '../harness/protocol.ts';
import { spread } from '../harness/statistics.ts';
import { SubjectProcess } from '../harness/subject_process.ts';
import { CLOCK_SUBJECTS, subjectByName } from '../harness/subjects.ts';

const TIMEOUT_MS = 60_000;

export const clockCase: BenchCase = {
  name: 'clock',
  subjects: ['nephrite', ...CLOCK_SUBJECTS],
  async run(context) {
    const result: CaseResult = { rows: [], skips: [] };
    const clocks = new Map<
      string,
      { process: SubjectProcess; rates: number[]; backward: number }
    >();
    const fail = (subject: string, error: unknown): void => {
      clocks.delete(subject);
      result.skips.push({ case: this.name, subject, reason: reasonOf(error), failed: true });
    };
    const processes: SubjectProcess[] = [];
    try {
      for (const name of this.subjects.filter((subject) => context.selected(subject))) {
        try {
          const process = await startClock(name, context);
          processes.push(process);
          clocks.set(name, { process, rates: [], backward: 0 });
        } catch (error) {
          fail(name, error);
        }
      }
      for (let round = -1; round < context.sizes.rounds; round++) {
        context.progress(`${this.name}: round ${round + 1} of ${context.sizes.rounds}`);
        for (const [name, clock] of [...clocks]) {
          try {
            const reply = await clock.process.run(requestOf(name, context), TIMEOUT_MS);
            clock.backward += numberField(reply, 'checksum');
            const rate = context.sizes.clockOps / (numberField(reply, 'elapsedNs') / 1e9);
            if (round >= 0) clock.rates.push(rate);
          } catch (error) {
            fail(name, error);
          }
        }
      }
    } finally {
      for (const process of processes) await process.stop();
    }
    for (const [subject, clock] of clocks) {
      const opsPerSecond = spread(clock.rates);
      const readNs = Number((1e9 / opsPerSecond.median).toFixed(1));
      const values = { readNs, backward: clock.backward };
      result.rows.push({ case: this.name, subject, opsPerSecond, values });
    }
    return result;
  },
};

async function startClock(name: string, context: CaseContext): Promise<SubjectProcess> {
  const host = subjectByName(name === 'nephrite' ? 'nephrite' : 'fs.promises');
  return SubjectProcess.start(name, await context.programs.command(host));
}

function requestOf(clock: string, context: CaseContext): WorkRequest & { clock: string } {
  return {
    workload: 'clock',
    clock,
    path: '',
    ops: context.sizes.clockOps,
    depth: 1,
    blockBytes: 8,
    blocks: 1,
    seed: 1,
    runSeed: 1,
    stride: 1,
    sequential: true,
    direct: false,
    verify: false,
    durationMs: 0,
  };
}
