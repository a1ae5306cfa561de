// Many small files, 100 at a time: open, read and close of 4 KiB each, and stat alone.
// readMany and statMany are given the paths in one call and the same concurrency.
import type { BenchCase, CaseContext } from '../harness/bench_case.ts';
import type { WorkRequest } from '../harness/protocol.ts';
import { runRounds } from '../harness/rounds.ts';
import { BLOCK_BYTES, blockSequence, smallFileMtimeSeconds } from '../harness/work.ts';
import { expectedReadChecksum } from './read4k.ts';

const CONCURRENCY = 100;

const PEERS = [
  'nephrite:epoll',
  'nephrite:node',
  'fs.promises',
  'fs.callback',
  'c:io_uring',
  'c:pread',
];

function request(workload: 'smallFiles' | 'stat') {
  return (context: CaseContext) => ({
    workload,
    path: context.input.smallFiles(context.sizes.smallFiles),
    depth: CONCURRENCY,
    blockBytes: BLOCK_BYTES,
    blocks: context.sizes.smallFiles,
    sequential: true,
    direct: false,
  });
}

export const smallFilesCase: BenchCase = {
  name: 'small-files-100',
  subjects: ['nephrite', 'nephrite:readMany', ...PEERS],
  run(context) {
    return runRounds(
      {
        name: this.name,
        subjects: this.subjects,
        checksumInReply: true,
        request: request('smallFiles'),
        expected: expectedReadChecksum,
        note: (subject) => (subject === 'c:pread' ? 'one thread, one file at a time' : undefined),
      },
      context,
    );
  },
};

export const statCase: BenchCase = {
  name: 'stat',
  subjects: ['nephrite', 'nephrite:statMany', ...PEERS],
  run(context) {
    return runRounds(
      {
        name: this.name,
        subjects: this.subjects,
        checksumInReply: true,
        request: request('stat'),
        expected: expectedStatChecksum,
        note: (subject) => (subject === 'c:pread' ? 'stat(2) in one thread' : undefined),
      },
      context,
    );
  },
};

function expectedStatChecksum({ seed, ops, blocks, sequential }: WorkRequest): number {
  let sum = 0;
  for (const index of blockSequence(seed, ops, blocks, sequential)) {
    sum = (sum + BLOCK_BYTES + smallFileMtimeSeconds(index)) >>> 0;
  }
  return sum;
}
