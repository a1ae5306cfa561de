// Latency histogram: hdr-histogram-js with our units and bounds.
// Owner: the recorder. Invariants: values are nanoseconds, three significant digits, 1 ns to one
// hour; longer ones count as one hour. Percentiles come out in microseconds.
// Not here: what is a latency (lanes.ts: from the intended start in an open loop).
import { build, type Histogram } from 'hdr-histogram-js';

const LATENCY_NS_MAX = 3.6e12;

export type LatencyHistogram = Histogram;

/** Percentiles in microseconds. */
export interface LatencyUs {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly 'p99.9': number;
  readonly 'p99.99': number;
  readonly max: number;
  readonly mean: number;
}

export function createHistogram(): LatencyHistogram {
  return build({
    bitBucketSize: 32,
    autoResize: false,
    lowestDiscernibleValue: 1,
    highestTrackableValue: LATENCY_NS_MAX,
    numberOfSignificantValueDigits: 3,
    useWebAssembly: false,
  });
}

/** Records one latency, given in milliseconds. */
export function recordMs(histogram: LatencyHistogram, latencyMs: number, count = 1): void {
  const latencyNs = Math.round(Math.min(Math.max(latencyMs * 1e6, 0), LATENCY_NS_MAX));
  if (count === 1) histogram.recordValue(latencyNs);
  else histogram.recordValueWithCount(latencyNs, count);
}

/** The percentile in microseconds; never above the largest recorded value. */
export function percentileUs(histogram: LatencyHistogram, percentile: number): number {
  return Math.min(histogram.getValueAtPercentile(percentile), histogram.maxValue) / 1e3;
}

/** The usual percentiles, or null when nothing was recorded. */
export function summarize(histogram: LatencyHistogram): LatencyUs | null {
  if (histogram.totalCount === 0) return null;
  return {
    p50: percentileUs(histogram, 50),
    p90: percentileUs(histogram, 90),
    p99: percentileUs(histogram, 99),
    'p99.9': percentileUs(histogram, 99.9),
    'p99.99': percentileUs(histogram, 99.99),
    max: histogram.maxValue / 1e3,
    mean: histogram.mean / 1e3,
  };
}

/** One point of the distribution curve. */
export interface DistributionPoint {
  readonly percentile: number;
  readonly us: number;
}

/** Percentiles at even steps of 1 / (1 - quantile), as far out as there are operations. */
export function distributionOf(histogram: LatencyHistogram): DistributionPoint[] {
  const points: DistributionPoint[] = [];
  const stepsPerDecade = 10;
  const decades = Math.min(7, Math.log10(Math.max(1, histogram.totalCount)));
  for (let step = 0; step <= decades * stepsPerDecade; step++) {
    const percentile = 100 * (1 - 10 ** (-step / stepsPerDecade));
    points.push({ percentile, us: percentileUs(histogram, percentile) });
  }
  if (histogram.totalCount > 0) points.push({ percentile: 100, us: histogram.maxValue / 1e3 });
  return points;
}
