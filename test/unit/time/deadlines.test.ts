// Deadlines: never early, never lost, right at any distance, one timer for all, none when idle.
// Method: a virtual clock under the real module, since nobody waits 2^40 ms; its timers fire up
// to a millisecond early, as libuv's do when its cached time is ahead. One test uses the real
// clock. Not here: what a timeout does to an operation (test/integration/trouble_races.test.ts).
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  armDeadline,
  cancelDeadline,
  type Deadline,
  deadlineCount,
} from '../../../lib/time/deadlines.ts';
import { SEED } from '../../support/seed.ts';

const TIMER_MS_MAX = 2 ** 31 - 1;

class VirtualClock {
  nowMs = 1000;
  wakeCount = 0;
  /** How much earlier than asked a timer fires. */
  earlyMs = 0;
  #timer: { atMs: number; run: () => void } | undefined;

  setTimeout(run: () => void, delayMs: number): object {
    expect(this.#timer, 'one timer at a time').toBeUndefined();
    expect(delayMs).toBeGreaterThanOrEqual(1);
    expect(delayMs, 'setTimeout would fire at once').toBeLessThanOrEqual(TIMER_MS_MAX);
    this.#timer = { atMs: this.nowMs + delayMs - this.earlyMs, run };
    return this.#timer;
  }

  clearTimeout(timer: object | undefined): void {
    if (timer === this.#timer) this.#timer = undefined;
  }

  get isIdle(): boolean {
    return this.#timer === undefined;
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

describe('deadlines: virtual clock', () => {
  let clock: VirtualClock;
  beforeEach(() => {
    clock = new VirtualClock();
    vi.stubGlobal('setTimeout', (run: () => void, ms: number) => clock.setTimeout(run, ms));
    vi.stubGlobal('clearTimeout', (timer: object | undefined) => clock.clearTimeout(timer));
    vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    expect(deadlineCount()).toBe(0);
  });

  it.each([0, 0.25, 1, 10, 2 ** 30, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, 2 ** 36, 2 ** 40])(
    '%d ms: expires then, and not before',
    (delayMs) => {
      let expiredMs = -1;
      const startMs = clock.nowMs;
      armDeadline(delayMs, () => {
        expiredMs = clock.nowMs;
      });
      // Steps of any size, the last one a hair before the end.
      for (const part of [0.1, 0.5, 0.9, 0.999999]) clock.advanceTo(startMs + delayMs * part);
      if (delayMs > 1) expect(expiredMs).toBe(-1);
      clock.advanceTo(startMs + delayMs + 2);
      expect(expiredMs).toBeGreaterThanOrEqual(startMs + delayMs);
      expect(expiredMs).toBeLessThanOrEqual(startMs + delayMs + 1);
      // A wait of n * 2^31 ms wakes n times, not more often.
      expect(clock.wakeCount).toBeLessThanOrEqual(Math.ceil(delayMs / TIMER_MS_MAX) + 1);
    },
  );

  it('1e15 ms: not in the first year', () => {
    const deadline = armDeadline(1e15, () => expect.unreachable());
    clock.advanceTo(clock.nowMs + 365 * 86_400_000);
    cancelDeadline(deadline);
  });

  it('Infinity: never, and no timer for it', () => {
    const deadline = armDeadline(Infinity, () => expect.unreachable());
    expect(clock.isIdle).toBe(true);
    clock.advanceTo(2 ** 50);
    cancelDeadline(deadline);
  });

  it('a timer that fires early is armed again', () => {
    clock.earlyMs = 0.7;
    let expiredMs = -1;
    armDeadline(10, () => {
      expiredMs = clock.nowMs;
    });
    clock.advanceTo(clock.nowMs + 20);
    expect(expiredMs).toBeGreaterThanOrEqual(1010);
    expect(clock.wakeCount).toBeGreaterThan(1);
  });

  it('one that throws takes none of the others with it', () => {
    const expired: string[] = [];
    armDeadline(5, () => expired.push('before'));
    armDeadline(6, () => {
      throw new Error('handler');
    });
    armDeadline(7, () => expired.push('after'));
    armDeadline(500, () => expired.push('much later'));
    expect(() => clock.advanceTo(clock.nowMs + 10)).toThrow('handler');
    clock.advanceTo(clock.nowMs + 1000);
    expect(expired).toEqual(['before', 'after', 'much later']);
  });

  it('cancelling twice, after expiry or before, does nothing', () => {
    let count = 0;
    const deadline = armDeadline(5, () => count++);
    clock.advanceTo(clock.nowMs + 10);
    cancelDeadline(deadline);
    const other = armDeadline(5, () => count++);
    cancelDeadline(other);
    cancelDeadline(other);
    clock.advanceTo(clock.nowMs + 10);
    expect(count).toBe(1);
    expect(clock.isIdle).toBe(true);
  });

  it('random arms, cancels and steps agree with a list', () => {
    const step = fc.oneof(
      fc.record({
        arm: fc.oneof(
          fc.integer({ min: 0, max: 50 }),
          fc.double({ min: 0, max: 1e10, noNaN: true }),
        ),
      }),
      fc.record({ cancel: fc.nat() }),
      fc.record({
        advance: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 2 ** 32 })),
      }),
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 80 }),
        fc.double({ min: 0, max: 0.9, noNaN: true }),
        (steps, earlyMs) => {
          clock = new VirtualClock();
          clock.earlyMs = earlyMs;
          const live = new Map<Deadline, number>();
          const all: Deadline[] = [];
          for (const action of steps) {
            if ('arm' in action) {
              const atMs = clock.nowMs + action.arm;
              const deadline: Deadline = armDeadline(action.arm, () => {
                expect(clock.nowMs, 'never early').toBeGreaterThanOrEqual(atMs);
                expect(live.delete(deadline), 'once, and not when cancelled').toBe(true);
              });
              live.set(deadline, atMs);
              all.push(deadline);
            } else if ('cancel' in action) {
              const deadline = all[action.cancel % Math.max(all.length, 1)];
              if (deadline !== undefined) cancelDeadline(deadline);
              if (deadline !== undefined) live.delete(deadline);
            } else {
              clock.advanceTo(clock.nowMs + action.advance);
              // Timers have whole milliseconds, and one that was early adds one.
              for (const atMs of live.values()) expect(atMs + 2).toBeGreaterThan(clock.nowMs);
            }
            expect(deadlineCount()).toBe(live.size);
          }
          for (const deadline of live.keys()) cancelDeadline(deadline);
          expect(clock.isIdle, 'nothing ticks when nothing is armed').toBe(true);
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });
});

describe('deadlines: real clock', () => {
  it('five hundred at random times: none is early', async () => {
    let earliest = Infinity;
    await Promise.all(
      Array.from({ length: 500 }, (_, index) => {
        const delayMs = (index * 7919) % 60;
        const atMs = performance.now() + delayMs;
        return new Promise<void>((resolve) => {
          armDeadline(delayMs, () => {
            earliest = Math.min(earliest, performance.now() - atMs);
            resolve();
          });
        });
      }),
    );
    expect(earliest).toBeGreaterThanOrEqual(0);
    expect(deadlineCount()).toBe(0);
  });
});
