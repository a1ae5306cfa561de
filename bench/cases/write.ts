// Writes into the page cache of an existing file: random 4 KiB at depth 32, and 1 MiB in sequence,
// going round the file, one at a time. Every run stamps its blocks with its own seed; afterwards
// the file itself is read back and every block written by the run must carry that stamp at both
// ends (and, in the verified run, in every byte).
import { closeSync, openSync, readSync } from 'node:fs';
import type { BenchCase, CaseContext } from '../harness/bench_case.ts';
import type { WorkRequest } from '../harness/protocol.ts';
import { runRounds } from '../harness/rounds.ts';
import {
  BLOCK_BYTES,
  blockSequence,
  fillPattern,
  hashWords,
  MIB,
  writeStamp,
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

function writeCase(
  name: string,
  depth: number,
  blockBytes: number,
  sequential: boolean,
): BenchCase {
  const plan = {
    name,
    subjects: SUBJECTS,
    checksumInReply: false,
    request: (context: CaseContext) => ({
      workload: 'write' as const,
      path: context.input.dataFile('written', context.sizes.writeFileMiB * MIB),
      depth,
      blockBytes,
      blocks: (context.sizes.writeFileMiB * MIB) / blockBytes,
      sequential,
      direct: false,
    }),
    expected: checkWritten,
    hash: hashWritten,
  };
  return { name, subjects: SUBJECTS, run: (context) => runRounds(plan, context) };
}

export const write4kCase = writeCase('write4k-qd32', 32, BLOCK_BYTES, false);
export const write1mCase = writeCase('write1m-seq', 1, MIB, true);

/** Throws unless every block of this run is in the file. */
function checkWritten(request: WorkRequest): number {
  const { blockBytes, runSeed, verify } = request;
  const pattern = new Uint32Array(blockBytes / 4);
  fillPattern(pattern, runSeed);
  eachWrittenBlock(request, (block, words) => {
    const stamp = writeStamp(runSeed, block);
    const ends = words[0] === stamp && words[words.length - 1] === stamp;
    if (!ends) throw new Error(`block ${block} does not hold what this run wrote`);
    if (!verify) return;
    for (let w = 1; w < words.length - 1; w++) {
      if (words[w] !== pattern[w]) throw new Error(`block ${block} is wrong at byte ${w * 4}`);
    }
  });
  return 0;
}

function hashWritten(request: WorkRequest): number {
  let sum = 0;
  eachWrittenBlock(request, (_block, words) => {
    sum = (sum + hashWords(words)) >>> 0;
  });
  return sum;
}

function eachWrittenBlock(
  { path, seed, ops, blocks, blockBytes, sequential }: WorkRequest,
  visit: (block: number, words: Uint32Array) => void,
): void {
  const chunk = new Uint32Array(Math.max(MIB, blockBytes) / 4);
  const chunkBlocks = chunk.byteLength / blockBytes;
  const blockWords = blockBytes / 4;
  const written = new Uint8Array(blocks);
  for (const block of blockSequence(seed, ops, blocks, sequential)) written[block] = 1;
  const fd = openSync(path, 'r');
  try {
    for (let first = 0; first < blocks; first += chunkBlocks) {
      readSync(fd, chunk, 0, chunk.byteLength, first * blockBytes);
      for (let i = 0; i < chunkBlocks && first + i < blocks; i++) {
        if (written[first + i] === 0) continue;
        visit(first + i, chunk.subarray(i * blockWords, (i + 1) * blockWords));
      }
    }
  } finally {
    closeSync(fd);
  }
}
