// Random 4 KiB reads of one file, from the page cache at several depths and with O_DIRECT.
// Where the temporary folder cannot do O_DIRECT the case is left out and says so.
import { closeSync, constants, openSync } from 'node:fs';
import type { BenchCase, CaseContext } from '../harness/bench_case.ts';
import type { WorkRequest } from '../harness/protocol.ts';
import { runRounds } from '../harness/rounds.ts';
import {
  BLOCK_BYTES,
  blockEnds,
  blockSequence,
  fillBlock,
  hashWords,
  MIB,
} from '../harness/work.ts';

const SUBJECTS = [
  'nephrite',
  'nephrite:pool',
  'nephrite:epoll',
  'nephrite:node',
  'fs.promises',
  'fs.callback',
  'c:io_uring',
  'c:pread',
];

// The node backend's memory is JavaScript's, which cannot be aligned on purpose.
const DIRECT_SUBJECTS = SUBJECTS.filter((subject) => subject !== 'nephrite:node');

export function readCase(depth: number, direct: boolean): BenchCase {
  const subjects = direct ? DIRECT_SUBJECTS : SUBJECTS;
  const name = `read4k-${direct ? 'direct' : 'cached'}-qd${depth}`;
  const plan = {
    name,
    subjects,
    checksumInReply: true,
    note: (subject: string) => noteOf(subject, depth, direct),
    request: (context: CaseContext) => ({
      workload: 'read' as const,
      path: context.input.dataFile('data', context.sizes.dataFileMiB * MIB),
      depth,
      blockBytes: BLOCK_BYTES,
      blocks: (context.sizes.dataFileMiB * MIB) / BLOCK_BYTES,
      sequential: false,
      direct,
    }),
    expected: expectedReadChecksum,
  };
  return {
    name,
    subjects,
    run: async (context) => {
      const refused = direct ? directRefusal(plan.request(context).path) : undefined;
      if (refused === undefined) return runRounds(plan, context);
      const selected = subjects.filter((subject) => context.selected(subject));
      return {
        rows: [],
        skips: selected.map((subject) => ({ case: name, subject, reason: refused, failed: false })),
      };
    },
  };
}

function noteOf(subject: string, depth: number, direct: boolean): string | undefined {
  if (subject === 'c:pread') return depth > 1 ? 'one thread, one call at a time' : undefined;
  if (subject === 'nephrite:epoll' && direct) return 'heap buffers, as the subject has everywhere';
  return undefined;
}

/** Why the temporary folder's filesystem cannot do O_DIRECT, if it cannot. */
function directRefusal(path: string): string | undefined {
  if (constants.O_DIRECT === undefined) return 'this system has no O_DIRECT';
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_DIRECT));
    return undefined;
  } catch (error) {
    return `the temporary folder's filesystem refuses O_DIRECT: ${String(error)}`;
  }
}

/** What a run that reads the first `ops` blocks of the sequence must have summed up. */
export function expectedReadChecksum(request: WorkRequest): number {
  const { seed, ops, blocks, blockBytes, sequential, verify } = request;
  const words = new Uint32Array(blockBytes / 4);
  const known = new Map<number, number>();
  let sum = 0;
  for (const block of blockSequence(seed, ops, blocks, sequential)) {
    let value = known.get(block);
    if (value === undefined) {
      if (verify) fillBlock(words, block);
      value = verify ? hashWords(words) : blockEnds(block, words.length);
      known.set(block, value);
    }
    sum = (sum + value) >>> 0;
  }
  return sum;
}
