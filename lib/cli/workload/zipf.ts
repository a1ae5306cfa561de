// Zipf distributed ranks: a few hot blocks, many cold ones, as caches and databases see them.
// Method: rejection-inversion (Hormann and Derflinger, 1996): constant memory, any exponent above
// 0, about 1.1 draws per sample, no table of n entries.
// Owner: one sampler per workload. Invariants: 0 <= rank < count; rank 0 is the most frequent.
// Not here: spreading ranks over the data set (target_picker.ts).
import type { Prng } from '../../base/prng.ts';

/** Draws ranks with probability proportional to 1 / (rank + 1) ^ theta. */
export class ZipfSampler {
  readonly #count: number;
  readonly #theta: number;
  readonly #integralFirst: number;
  readonly #integralLast: number;
  readonly #squeeze: number;

  constructor(count: number, theta: number) {
    this.#count = count;
    this.#theta = theta;
    this.#integralFirst = this.#integral(1.5) - 1;
    this.#integralLast = this.#integral(count + 0.5);
    this.#squeeze = 2 - this.#inverse(this.#integral(2.5) - this.#density(2));
  }

  next(prng: Prng): number {
    // A turn accepts with probability above 0.7 for every theta: 64 misses in a row do not occur.
    for (let turn = 0; turn < 64; turn++) {
      const area =
        this.#integralLast + prng.nextFraction() * (this.#integralFirst - this.#integralLast);
      const position = this.#inverse(area);
      const rank = Math.min(this.#count, Math.max(1, Math.round(position)));
      const isAccepted =
        rank - position <= this.#squeeze ||
        area >= this.#integral(rank + 0.5) - this.#density(rank);
      if (isAccepted) return rank - 1;
    }
    return 0;
  }

  #density(x: number): number {
    return Math.exp(-this.#theta * Math.log(x));
  }

  /** The antiderivative of the density, continuous also at theta = 1. */
  #integral(x: number): number {
    const logX = Math.log(x);
    return expm1Ratio((1 - this.#theta) * logX) * logX;
  }

  #inverse(area: number): number {
    const scaled = Math.max(-1, area * (1 - this.#theta));
    return Math.exp(log1pRatio(scaled) * area);
  }
}

/** (e^x - 1) / x, and its limit 1 at 0. */
function expm1Ratio(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.expm1(x) / x : 1 + x / 2;
}

/** log(1 + x) / x, and its limit 1 at 0. */
function log1pRatio(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.log1p(x) / x : 1 - x / 2;
}
