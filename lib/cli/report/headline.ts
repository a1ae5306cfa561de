// The workload in one line, as the text report and the page show it.
// Owner: nobody. Invariants: names everything that changes a number; nothing is abbreviated away.
// Not here: results (text.ts, html.ts).
import { dataSetBytes, type StressOptions } from '../stress/options.ts';
import type { StressResult } from '../stress/result.ts';
import { formatBytes, formatCount, formatDuration } from '../units.ts';

/** What a report says before its figures. */
export interface Headline {
  /** The variant of the workload, for the title of the page. */
  readonly mode: string;
  /** The workload, where latency is measured from, and where it ran. */
  readonly facts: readonly string[];
}

/** The headline of `stress files`. */
export function filesHeadline(result: StressResult, options: StressOptions): Headline {
  const { fileSystem } = result.environment;
  const memoryNote = fileSystem.isMemory ? ' (this measures memory, not a disk)' : '';
  const free = `${formatBytes(fileSystem.freeBytes)} free`;
  return {
    mode: options.mode,
    facts: [
      describeWorkload(options),
      describeLatency(options),
      `${options.dir}: ${fileSystem.type}${memoryNote}, ${free}`,
    ],
  };
}

/** `random, 100 % reads, 4 KiB blocks, depth 32, 256 MiB in 4 files, 10 s, seed 7`. */
function describeWorkload(options: StressOptions): string {
  const files = options.blockFileCount + options.smallFileCount;
  const rate = options.ratePerSecond;
  return [
    options.mode,
    `${options.readPercent} % reads`,
    `${formatBytes(options.blockBytes)} ${options.mode === 'small' ? 'files' : 'blocks'}`,
    ...(options.zipfTheta === null ? [] : [`zipf ${options.zipfTheta}`]),
    ...(options.isDirect ? ['direct'] : []),
    rate === null
      ? `depth ${options.depth}`
      : `${formatCount(rate)}/s, depth up to ${options.depth}`,
    `${formatBytes(dataSetBytes(options))} in ${formatCount(files)} files`,
    `${formatDuration(options.durationMs)} after ${formatDuration(options.rampMs)} of warm-up`,
    options.isVerified ? 'verified' : 'not verified',
    `seed ${options.seed}`,
  ].join(', ');
}

/** What the latency of this run is measured from. */
function describeLatency(options: StressOptions): string {
  return options.ratePerSecond === null
    ? 'closed loop: latency is from the start of each operation to its result'
    : 'open loop: latency is from the intended start of each operation to its result';
}
