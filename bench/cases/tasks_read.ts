// Tasks that read files with `yield*` against async functions that read them with `await`: random
// 4 KiB reads of one cached file, both through `nephrite/fs`, at one depth.
// Not here: files against peers (read4k.ts).
import type { BenchCase } from '../harness/bench_case.ts';
import { runRounds, type WorkloadPlan } from '../harness/rounds.ts';
import { BLOCK_BYTES, MIB } from '../harness/work.ts';
import { expectedReadChecksum } from './read4k.ts';

const DEPTH = 32;
const SUBJECTS = ['nephrite', 'nephrite:await', 'fs.promises'];

const PLAN: WorkloadPlan = {
  name: 'tasks-read4k',
  subjects: SUBJECTS,
  checksumInReply: true,
  request: ({ input, sizes }) => ({
    workload: 'tasksRead',
    path: input.dataFile('data', sizes.dataFileMiB * MIB),
    depth: DEPTH,
    blockBytes: BLOCK_BYTES,
    blocks: (sizes.dataFileMiB * MIB) / BLOCK_BYTES,
    sequential: false,
    direct: false,
  }),
  expected: expectedReadChecksum,
};

export const tasksReadCase: BenchCase = {
  name: PLAN.name,
  subjects: SUBJECTS,
  run: (context) => runRounds(PLAN, context),
};
