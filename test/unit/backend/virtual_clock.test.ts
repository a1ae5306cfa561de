// The virtual clock alone: order of events, ties, holds, manual time, cancelled events.
// Not here: what a simulated backend does with it (test/conformance/backend_simulated_time).
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../lib/backend/simulated/virtual_clock.ts';
import { SEED } from '../../support/seed.ts';

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

describe('virtual clock', () => {
  it('virtual clock: events run by time, then order key, then call', async () => {
    const triples = fc.array(fc.tuple(fc.nat(5), fc.nat(3)), { maxLength: 50 });
    const property = fc.asyncProperty(triples, async (all) => {
      const clock = new VirtualClock();
      const order: { delayNs: number; key: number; call: number }[] = [];
      for (const [call, [delayNs, key]] of all.entries()) {
        clock.schedule(delayNs, key, () => {
          expect(clock.nowNs).toBe(delayNs);
          order.push({ delayNs, key, call });
        });
      }
      await clock.advance(5);
      const expected = all
        .map(([delayNs, key], call) => ({ delayNs, key, call }))
        .sort((a, b) => a.delayNs - b.delayNs || a.key - b.key || a.call - b.call);
      expect(order).toEqual(expected);
    });
    await fc.assert(property, { seed: SEED, numRuns: 50 });
  });

  it('virtual clock: an event may schedule more, also for the same instant', async () => {
    const clock = new VirtualClock();
    const times: number[] = [];
    const again = (): void => {
      times.push(clock.nowNs);
      if (times.length < 6) clock.schedule(times.length % 2 === 0 ? 10 : 0, 0, again);
    };
    clock.schedule(5, 0, again);
    await clock.advance(1000);
    expect(times).toEqual([5, 5, 15, 15, 25, 25]);
    expect(clock.nowNs).toBe(1000);
  });

  it('virtual clock: a cancelled event does not run', async () => {
    const clock = new VirtualClock();
    const ran: string[] = [];
    const event = clock.schedule(1, 0, () => ran.push('cancelled'));
    const kept = clock.schedule(2, 0, () => ran.push('kept'));
    expect(clock.cancel(event)).toBe(true);
    expect(clock.cancel(event)).toBe(false);
    await clock.advance(3);
    expect(ran).toEqual(['kept']);
    expect(clock.cancel(kept)).toBe(false);
  });

  it('virtual clock: held, it stands still between events of one instant too', async () => {
    const clock = new VirtualClock();
    const ran: string[] = [];
    let ends = 0;
    clock.onInstantEnd(() => ends++);
    clock.schedule(1, 0, () => {
      ran.push('first');
      clock.hold();
    });
    clock.schedule(1, 1, () => ran.push('second'));
    clock.schedule(2, 0, () => ran.push('third'));
    await someTurns();
    expect(ran).toEqual(['first']);
    expect(ends).toBe(0);
    clock.release();
    expect(ran).toEqual(['first', 'second']);
    await someTurns();
    expect(ran).toEqual(['first', 'second', 'third']);
    expect(ends).toBe(2);
    expect(() => clock.release()).toThrow('hold count');
  });

  it('virtual clock: a hold that ends within its event changes nothing', async () => {
    const clock = new VirtualClock();
    const ran: number[] = [];
    for (const key of [0, 1, 2]) {
      clock.schedule(1, key, () => {
        clock.hold();
        ran.push(key);
        clock.release();
      });
    }
    await clock.advance(1);
    expect(ran).toEqual([0, 1, 2]);
  });

  it('virtual clock: a manual one moves as far as it is told', async () => {
    const clock = new VirtualClock({ isAutomatic: false });
    const ran: number[] = [];
    for (const delayNs of [10, 20, 30]) clock.schedule(delayNs, 0, () => ran.push(clock.nowNs));
    await someTurns();
    expect(clock.nowNs).toBe(0);
    await clock.advance(9);
    expect(ran).toEqual([]);
    await Promise.all([clock.advance(1), clock.advance(10)]);
    expect(ran).toEqual([10, 20]);
    expect(clock.nowNs).toBe(20);
    await someTurns();
    expect(clock.nowNs).toBe(20);
    await clock.advance(1e15);
    expect(ran).toEqual([10, 20, 30]);
    expect(clock.nowNs).toBe(20 + 1e15);
  });

  it('virtual clock: after touch() users get turns before time moves', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    clock.schedule(1, 0, () => seen.push('event'));
    clock.touch();
    await nextTurn();
    await nextTurn();
    seen.push('user');
    await someTurns();
    expect(seen).toEqual(['user', 'event']);
  });
});
