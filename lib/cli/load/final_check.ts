// After a run that wrote: reads everything once more and compares, through node:fs.
// Owner: the run. Invariants: the reader is not the library under test, so a library that returns
// what it remembers instead of what is stored would be caught; stops early when asked to.
// Not here: checks of reads during the run (executor.ts).
import { open } from 'node:fs/promises';
import { errorCodeOf } from '../cli_error.ts';
import type { BlockTable } from '../workload/block_table.ts';
import type { BlockPattern } from '../workload/pattern.ts';
import type { DataSet } from './data_set.ts';
import type { Mismatch } from './recorder.ts';
import type { StopControl } from './stop_control.ts';

const CHUNK_BYTES = 1024 ** 2;
const MISMATCHES_KEPT_MAX = 16;

/** What the final check found. */
export interface FinalCheck {
  readonly verifiedBytes: number;
  /** Blocks whose last write failed: their content cannot be known. */
  readonly unknownBlocks: number;
  readonly mismatchCount: number;
  readonly mismatches: readonly Mismatch[];
  /** False when it was cut short. */
  readonly isComplete: boolean;
}

interface Findings {
  verifiedBytes: number;
  unknownBlocks: number;
  mismatchCount: number;
  readonly mismatches: Mismatch[];
}

/** Reads the whole data set with Node's own fs. */
export async function checkEverything(
  dataSet: DataSet,
  table: BlockTable,
  pattern: BlockPattern,
  stop: StopControl,
): Promise<FinalCheck> {
  const findings: Findings = {
    verifiedBytes: 0,
    unknownBlocks: 0,
    mismatchCount: 0,
    mismatches: [],
  };
  const { blockBytes, blocksPerFile } = dataSet.shape;
  const chunkBlocks = Math.max(1, Math.floor(CHUNK_BYTES / blockBytes));
  const buffer = Buffer.allocUnsafeSlow(chunkBlocks * blockBytes);
  const paths = [...dataSet.blockPaths, ...dataSet.smallPaths];
  let target = 0;
  for (const [index, path] of paths.entries()) {
    const blocks = index < dataSet.blockPaths.length ? blocksPerFile : 1;
    const handle = await openOrNull(path);
    for (let block = 0; block < blocks && !stop.isStopped; block += chunkBlocks) {
      const count = Math.min(chunkBlocks, blocks - block);
      buffer.fill(0, 0, count * blockBytes);
      await handle?.read(buffer, 0, count * blockBytes, block * blockBytes);
      for (let at = 0; at < count; at++) {
        checkBlock({ dataSet, table, pattern, findings }, target + block + at, buffer, at);
      }
    }
    await handle?.close();
    target += blocks;
  }
  return { ...findings, isComplete: !stop.isStopped };
}

interface CheckParts {
  readonly dataSet: DataSet;
  readonly table: BlockTable;
  readonly pattern: BlockPattern;
  readonly findings: Findings;
}

function checkBlock(parts: CheckParts, target: number, buffer: Buffer, at: number): void {
  const { dataSet, table, pattern, findings } = parts;
  const { blockBytes } = dataSet.shape;
  const generation = table.expectedGeneration(target);
  if (generation === 0) {
    findings.unknownBlocks += 1;
    return;
  }
  const identity = dataSet.identityOf(target, generation);
  if (pattern.matches(buffer, at * blockBytes, identity)) {
    findings.verifiedBytes += blockBytes;
    return;
  }
  findings.mismatchCount += 1;
  if (findings.mismatches.length >= MISMATCHES_KEPT_MAX) return;
  const difference = pattern.difference(buffer, at * blockBytes, identity);
  findings.mismatches.push({
    ...difference,
    path: dataSet.pathOf(target),
    offsetBytes: identity.offsetBytes + difference.atBytes,
    blockOffsetBytes: identity.offsetBytes,
    expectedHeader: `file ${identity.file} offset ${identity.offsetBytes} generation ${generation}`,
    reader: 'final check',
  });
}

/** A missing file is content that is not there, which the check reports block by block. */
async function openOrNull(path: string): Promise<Awaited<ReturnType<typeof open>> | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
