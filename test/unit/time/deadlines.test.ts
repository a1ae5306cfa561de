// Deadlines: never early, never lost, right at any distance, one timer for all, none when idle.
// Method: a virtual clock under the real module, since nobody waits 2^40 ms; its timers fire up
// to a millisecond early, as libuv's do when its cached time is ahead. One test uses the real
// clock. Not here: what a timeout does to an operation (test/integration/trouble_races.test.ts).
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Deadline } from '../../../lib/time/deadlines.ts';
import { SEED } from '../../support/seed.ts';
import { VirtualNodeTimer } from './virtual_node_timer.ts';

const TIMER_MS_MAX = 2 ** 31 - 1;

type DeadlineModule = typeof import('../../../lib/time/deadlines.ts');

describe('deadlines: virtual clock', () => {
  let clock: VirtualNodeTimer;
  let armDeadline: DeadlineModule['armDeadline'];
  let cancelDeadline: DeadlineModule['cancelDeadline'];
  let deadlineCount: DeadlineModule['deadlineCount'];
  beforeEach(async () => {
    clock = new VirtualNodeTimer();
    clock.install();
    // A module per clock: no clock goes back under a wheel.
    vi.resetModules();
    ({ armDeadline, cancelDeadline, deadlineCount } = await import(
      '../../../lib/time/deadlines.ts'
    ));
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
    expect(clock.isSet).toBe(false);
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
    expect(clock.isSet).toBe(false);
  });

  it('keeps the process alive while one is armed, and not longer', () => {
    expect(clock.keepsAlive).toBe(false);
    const first = armDeadline(100, () => expect.unreachable());
    const second = armDeadline(50, () => undefined);
    expect(clock.keepsAlive).toBe(true);
    clock.advanceTo(clock.nowMs + 60);
    expect(clock.keepsAlive, 'one is left').toBe(true);
    cancelDeadline(first);
    expect(clock.keepsAlive).toBe(false);
    cancelDeadline(first);
    cancelDeadline(second);
    const third = armDeadline(500, () => expect.unreachable());
    expect(clock.keepsAlive, 'released once each').toBe(true);
    cancelDeadline(third);
  });

  it('one timer of Node serves many that are cancelled', () => {
    const { setCount } = clock;
    for (let index = 0; index < 1000; index++) cancelDeadline(armDeadline(50, () => undefined));
    expect(clock.setCount - setCount).toBe(1);
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
          expect(clock.keepsAlive, 'nothing is armed').toBe(false);
          const { wakeCount } = clock;
          clock.advanceTo(clock.nowMs + 2 ** 34);
          // The one that was set looks once more (it can be early), and that is all.
          expect(clock.wakeCount - wakeCount, 'nothing ticks').toBeLessThanOrEqual(1);
          expect(clock.isSet).toBe(false);
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });
});

describe('deadlines: real clock', () => {
  it('five hundred at random times: none is early', async () => {
    vi.resetModules();
    const { armDeadline, deadlineCount } = await import('../../../lib/time/deadlines.ts');
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
