// Typed options of `nephrite stress files`: defaults per mode, bounds, and what fits together.
// Flow: ParsedArguments -> [readStressOptions] -> StressOptions -> run.ts
// Owner: the command; read-only afterwards. Invariants: every number is within its bounds and the
// data set has at least two targets per lane, so that a free one can always be found.
// Not here: the option table (option_table.ts), free disk space (load/data_set.ts).
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { flagOf, type ParsedArguments, textOf } from '../args.ts';
import { usageError } from '../cli_error.ts';
import { badValue, formatBytes, parseDecimal, parseInteger, parseSize } from '../units.ts';
import { MODES, type Mode } from '../workload/workload.ts';
import { type Condition, parseCondition } from './fail_if.ts';
import {
  type BackendName,
  choice,
  duration,
  integer,
  type OutputOptions,
  readBackend,
  readOutput,
  readSeed,
} from './option_values.ts';

const BLOCK_BYTES_MAX = 16 * 1024 ** 2;
const BLOCKS_MAX = 2 ** 28;
const BUFFER_BYTES_MAX = 512 * 1024 ** 2;
const MIXED_SMALL_FILES_MIN = 256;
/** Alignment that O_DIRECT asks of offsets, lengths and memory on every common disk. */
export const DIRECT_ALIGN_BYTES = 4096;
const PEERS = ['node', 'fio'] as const;

export type PeerName = (typeof PEERS)[number];

/** Everything a stress run needs to know. */
export interface StressOptions extends OutputOptions {
  readonly mode: Mode;
  readonly depth: number;
  readonly blockBytes: number;
  /** Block files, and blocks in each of them. */
  readonly blockFileCount: number;
  readonly blocksPerFile: number;
  /** Small files of one block each. */
  readonly smallFileCount: number;
  readonly durationMs: number;
  readonly rampMs: number;
  /** Operations per second of the open loop; null is a closed loop. */
  readonly ratePerSecond: number | null;
  readonly readPercent: number;
  readonly zipfTheta: number | null;
  readonly seed: number;
  readonly isDirect: boolean;
  readonly isVerified: boolean;
  readonly dir: string;
  readonly backend: BackendName | null;
  readonly peer: PeerName | null;
  readonly conditions: readonly Condition[];
}

/** Bytes of the whole data set. */
export function dataSetBytes(options: StressOptions): number {
  const blocks = options.blockFileCount * options.blocksPerFile + options.smallFileCount;
  return blocks * options.blockBytes;
}

/** Reads, checks and completes the options of `stress files`. Throws usage errors. */
export function readStressOptions(parsed: ParsedArguments): StressOptions {
  const mode = choice(parsed, 'mode', MODES) ?? 'random';
  const isStreaming = mode === 'sequential';
  const isDirect = flagOf(parsed, 'direct');
  if (isDirect && mode === 'small') throw usageError('--direct has no meaning in small mode');
  const blockBytes = readBlockBytes(parsed, isStreaming, isDirect);
  const depthDefault = isStreaming || mode === 'fsync' ? 8 : 32;
  const depth = integer(parsed, 'depth', 1, 4096) ?? depthDefault;
  if (depth * blockBytes > BUFFER_BYTES_MAX) {
    throw usageError(
      `--depth ${depth} x --block ${formatBytes(blockBytes)} needs more than ` +
        `${formatBytes(BUFFER_BYTES_MAX)} of buffers`,
    );
  }
  readWorkers(parsed);
  const conditions = (parsed.values.get('fail-if') ?? []).map(parseCondition);
  const rate = textOf(parsed, 'rate');
  const zipf = textOf(parsed, 'zipf');
  if (zipf !== undefined && isStreaming)
    throw usageError('--zipf has no meaning in sequential mode');
  const options: StressOptions = {
    mode,
    depth,
    blockBytes,
    ...readDataSet(parsed, mode, depth, blockBytes),
    durationMs: duration(parsed, 'duration', 100) ?? 10_000,
    rampMs: duration(parsed, 'ramp', 0) ?? 500,
    ratePerSecond:
      rate === undefined ? null : parseInteger('rate', rate, { min: 1, max: 1e7 }, true),
    readPercent: integer(parsed, 'rwmix', 0, 100) ?? defaultReadPercent(mode),
    zipfTheta: zipf === undefined ? null : parseDecimal('zipf', zipf, { min: 0.1, max: 3 }),
    seed: readSeed(parsed),
    isDirect,
    isVerified: flagOf(parsed, 'verify', true),
    dir: resolve(textOf(parsed, 'dir') ?? tmpdir()),
    backend: readBackend(parsed),
    peer: choice(parsed, 'against', PEERS) ?? null,
    conditions,
    ...readOutput(parsed),
  };
  checkPeer(options);
  return options;
}

function readBlockBytes(parsed: ParsedArguments, isStreaming: boolean, isDirect: boolean): number {
  const text = textOf(parsed, 'block') ?? (isStreaming ? '1m' : '4k');
  const blockBytes = parseSize('block', text, { min: 512, max: BLOCK_BYTES_MAX });
  const multiple = isDirect ? DIRECT_ALIGN_BYTES : 512;
  if (blockBytes % multiple !== 0) {
    const allowed = `a multiple of ${multiple}${isDirect ? ' with --direct' : ''}`;
    throw badValue('block', text, allowed);
  }
  return blockBytes;
}

function readDataSet(
  parsed: ParsedArguments,
  mode: Mode,
  depth: number,
  blockBytes: number,
): Pick<StressOptions, 'blockFileCount' | 'blocksPerFile' | 'smallFileCount'> {
  const files = integer(parsed, 'files', 1, 1_000_000);
  const sizeText = textOf(parsed, 'size');
  if (mode === 'small') {
    if (sizeText !== undefined) {
      throw usageError('--size: in small mode the size is --files x --block; give those');
    }
    const smallFileCount = files ?? Math.max(10_000, 2 * depth);
    checkTargets(smallFileCount, depth, `--files ${smallFileCount} is`);
    return { blockFileCount: 0, blocksPerFile: 0, smallFileCount };
  }
  const text = sizeText ?? '256m';
  const sizeBytes = parseSize('size', text, { min: blockBytes, max: 2 ** 50 });
  const blockFileCount = files ?? 4;
  const blocksPerFile = Math.floor(sizeBytes / blockFileCount / blockBytes);
  const blockCount = blocksPerFile * blockFileCount;
  if (blockCount > BLOCKS_MAX) {
    throw usageError(`--size ${text}: more than ${BLOCKS_MAX} blocks; give a larger --block`);
  }
  if (blocksPerFile === 0) {
    throw usageError(`--size ${text}: less than one block for each of ${blockFileCount} files`);
  }
  checkTargets(blockCount, depth, `--size ${text} holds`);
  const smallFileCount = mode === 'mixed' ? Math.max(MIXED_SMALL_FILES_MIN, 2 * depth) : 0;
  return { blockFileCount, blocksPerFile, smallFileCount };
}

function checkTargets(count: number, depth: number, subject: string): void {
  if (count >= 2 * depth) return;
  throw usageError(`${subject} ${count} targets; --depth ${depth} needs at least ${2 * depth}`);
}

/** What has no meaning without a peer, or what fio cannot do as the others do it. */
function checkPeer(options: StressOptions): void {
  const { peer, mode, zipfTheta, readPercent, ratePerSecond, conditions } = options;
  const ratio = conditions.find((condition) => condition.metric === 'ratio');
  if (peer === null && ratio !== undefined) {
    throw usageError(`--fail-if '${ratio.text}': ratio needs --against node or --against fio`);
  }
  if (peer !== 'fio') return;
  if (mode === 'small' || mode === 'mixed') {
    throw usageError(
      `--against fio: fio has no workload equal to --mode ${mode}; use --against node`,
    );
  }
  if (ratePerSecond !== null && readPercent > 0 && readPercent < 100) {
    throw usageError(
      '--against fio: fio limits reads and writes apart; --rate needs --rwmix 0 or 100',
    );
  }
  if (zipfTheta === 1) {
    throw usageError('--against fio: fio has no zipf distribution with exactly 1; try 0.99');
  }
}

function readWorkers(parsed: ParsedArguments): void {
  const workers = integer(parsed, 'workers', 1, 1024) ?? 1;
  if (workers === 1) return;
  throw usageError(
    `--workers ${workers}: this version drives the load from one thread; only --workers 1`,
    'ERR_CLI_NOT_IN_THIS_VERSION',
  );
}

function defaultReadPercent(mode: Mode): number {
  if (mode === 'fsync') return 0;
  return mode === 'small' || mode === 'mixed' ? 70 : 100;
}
