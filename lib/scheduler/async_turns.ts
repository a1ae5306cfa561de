// AsyncTurns: async bodies at a checkpoint, until they go on. Their code runs in the microtasks
// after a turn, where nobody can stop it, so only as many go on in one turn as take about a turn's
// time. Owner: the scheduler. Invariants: first in, first out; at least one goes on in each turn.
// Not here: when a turn comes (scheduler.ts), generator bodies (run_queue.ts).
import { ManualOperation } from '../base/operation.ts';
import { TURN_MS } from './turn_budget.ts';

const SHARE_MAX = 1024;

export class AsyncTurns {
  readonly #waiting: ManualOperation<void>[] = [];
  #share = 1;
  #resumedAtMs = 0;

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  wait(): PromiseLike<void> {
    const turn = new ManualOperation<void>();
    this.#waiting.push(turn);
    return turn;
  }

  /** Takes those that go on now out of the line; the caller resolves them. */
  take(nowMs: number): readonly ManualOperation<void>[] {
    // The share of the time before took longer than it should, with what lay between.
    const wasSlow = nowMs - this.#resumedAtMs > 2 * TURN_MS;
    const share = wasSlow ? this.#share >> 1 : this.#share * 2;
    this.#share = Math.min(Math.max(share, 1), SHARE_MAX);
    this.#resumedAtMs = nowMs;
    return this.#waiting.splice(0, this.#share);
  }
}
