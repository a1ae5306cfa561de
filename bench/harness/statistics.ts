// Numbers of a row: spread over rounds and latency percentiles over all samples of all rounds.
// Percentiles come from an HDR histogram in nanoseconds, three significant digits.
import * as hdr from 'hdr-histogram-js';
import type { Spread } from './report.ts';

const NS_MAX = 600e9;

export function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error('spread of no values');
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median =
    sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { min: sorted[0], median, max: sorted[sorted.length - 1] };
}

export class LatencyHistogram {
  readonly #histogram = hdr.build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: NS_MAX,
    numberOfSignificantValueDigits: 3,
  });

  /** Adds samples written as comma-separated nanoseconds. */
  addList(samples: string): void {
    if (samples === '') return;
    for (const sample of samples.split(',')) {
      this.#histogram.recordValue(Math.min(Math.max(1, Math.round(Number(sample))), NS_MAX));
    }
  }

  get count(): number {
    return this.#histogram.totalCount;
  }

  percentileUs(percentile: number): number {
    return Number((this.#histogram.getValueAtPercentile(percentile) / 1000).toFixed(2));
  }
}
