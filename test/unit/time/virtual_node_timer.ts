// Virtual Node timer: what the alarm sees of Node (setTimeout, clearTimeout, performance.now), on a
// clock that a test moves. Its timers can be early, as libuv's are when its cached time is ahead.
// Owner: one test. Invariants: at most one timer is set, with a delay that Node can hold.
// Not here: several timers, intervals, immediates.
import { expect, vi } from 'vitest';

const TIMER_MS_MAX = 2 ** 31 - 1;

class VirtualTimer {
  readonly atMs: number;
  readonly run: () => void;
  isReferenced = true;

  constructor(atMs: number, run: () => void) {
    this.atMs = atMs;
    this.run = run;
  }

  ref(): void {
    this.isReferenced = true;
  }

  unref(): void {
    this.isReferenced = false;
  }
}

export class VirtualNodeTimer {
  nowMs = 1000;
  wakeCount = 0;
  setCount = 0;
  /** How much earlier than asked a timer fires. */
  earlyMs = 0;
  #timer: VirtualTimer | undefined;

  /** Undone by vi.unstubAllGlobals() and vi.restoreAllMocks(). */
  install(): void {
    vi.stubGlobal('setTimeout', (run: () => void, ms: number) => this.#setTimeout(run, ms));
    vi.stubGlobal('clearTimeout', (timer: object | undefined) => {
      if (timer === this.#timer) this.#timer = undefined;
    });
    vi.spyOn(performance, 'now').mockImplementation(() => this.nowMs);
  }

  #setTimeout(run: () => void, delayMs: number): object {
    expect(this.#timer, 'one timer at a time').toBeUndefined();
    expect(delayMs).toBeGreaterThanOrEqual(1);
    expect(delayMs, 'setTimeout would fire at once').toBeLessThanOrEqual(TIMER_MS_MAX);
    this.setCount++;
    this.#timer = new VirtualTimer(this.nowMs + delayMs - this.earlyMs, run);
    return this.#timer;
  }

  get isSet(): boolean {
    return this.#timer !== undefined;
  }

  get keepsAlive(): boolean {
    return this.#timer?.isReferenced ?? false;
  }

  advanceTo(endMs: number): void {
    while (this.#timer !== undefined && this.#timer.atMs <= endMs) {
      const { atMs, run } = this.#timer;
      this.#timer = undefined;
      this.nowMs = Math.max(this.nowMs, atMs);
      this.wakeCount++;
      run();
    }
    this.nowMs = Math.max(this.nowMs, endMs);
  }
}
