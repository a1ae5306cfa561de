// Timer wheel: its bounds. How many timers, how many fired and moved in one call, what targets may
// do while they are called, and what it refuses.
// Method: a virtual clock. Not here: random scripts (timer_wheel.test.ts).
import { describe, expect, it } from 'vitest';
import { NEVER_HANDLE, type TimerTarget, TimerWheel } from '../../../lib/time/timer_wheel.ts';

const HOUR_MS = 3_600_000;
// What one advance moves at least; see MOVES_MIN.
const MANY = 20_000;

function target(timerExpired: (handle: number) => void): TimerTarget {
  return { timerExpired };
}

const nobody = target(() => expect.unreachable());

describe('timer wheel: bounds', () => {
  it('capacityMax: the next arm is refused, and there is room again after a cancel', () => {
    const wheel = new TimerWheel({ nowMs: 0, capacityMax: 300 });
    const handles = Array.from({ length: 300 }, (_, index) => wheel.arm(index, nobody));
    expect(() => wheel.arm(1, nobody)).toThrow(
      expect.objectContaining({ code: 'ERR_ENGINE_LIMIT', message: expect.stringMatching('300') }),
    );
    expect(wheel.armedCount).toBe(300);
    expect(wheel.arm(Infinity, nobody), 'needs no room').toBe(NEVER_HANDLE);
    wheel.cancel(handles[7]);
    wheel.arm(1, nobody);
    expect(() => wheel.arm(1, nobody)).toThrow('at most 300');
  });

  it('fireCountMax: fires that many, in order, the rest stays due', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    const fired: number[] = [];
    for (let index = 0; index < 10; index++)
      wheel.arm(
        5,
        target(() => fired.push(index)),
      );
    expect(wheel.advance(5, 4)).toBe(4);
    expect(fired).toEqual([0, 1, 2, 3]);
    expect(wheel.nextDeadlineMs()).toBeLessThanOrEqual(5);
    expect(wheel.advance(5, 4)).toBe(4);
    expect(wheel.advance(5, 4)).toBe(2);
    expect(fired).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(wheel.nextDeadlineMs()).toBe(Infinity);
  });

  it('moves between levels are bounded too, and order within a tick survives the pauses', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    const deadlineMs = HOUR_MS + 1500;
    const fired: number[] = [];
    for (let index = 0; index < MANY; index++) {
      wheel.arm(
        deadlineMs,
        target(() => fired.push(index)),
      );
    }
    let calls = 0;
    let armed = MANY;
    for (; wheel.nextDeadlineMs() < deadlineMs && calls < MANY; calls++) {
      wheel.advance(wheel.nextDeadlineMs(), 1);
      const index = armed++;
      wheel.arm(
        deadlineMs,
        target(() => fired.push(index)),
      );
    }
    expect(calls, 'one call would have moved them all').toBeGreaterThan(MANY / 2000);
    expect(fired).toEqual([]);
    while (wheel.nextDeadlineMs() <= deadlineMs) wheel.advance(deadlineMs, 1000);
    expect(fired).toEqual(Array.from({ length: armed }, (_, index) => index));
  });

  it('a jump of 800 days over many timers: every call is bounded, none is lost', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    let firedCount = 0;
    const last = { deadlineMs: -1 };
    const endMs = 800 * 24 * HOUR_MS;
    for (let index = 0; index < MANY; index++) {
      const deadlineMs = ((index * 7919) % MANY) * (endMs / MANY);
      wheel.arm(
        deadlineMs,
        target(() => {
          expect(Math.ceil(deadlineMs)).toBeGreaterThanOrEqual(Math.ceil(last.deadlineMs));
          last.deadlineMs = deadlineMs;
          firedCount++;
        }),
      );
    }
    let calls = 0;
    while (wheel.nextDeadlineMs() <= endMs) {
      expect(wheel.advance(endMs, 64)).toBeLessThanOrEqual(64);
      calls++;
    }
    expect(firedCount).toBe(MANY);
    expect(calls).toBeGreaterThanOrEqual(MANY / 64);
    expect(calls).toBeLessThan(MANY);
  });

  it('cancel works while a slot is being spread', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    const handles = Array.from({ length: MANY }, () => wheel.arm(HOUR_MS, nobody));
    wheel.advance(wheel.nextDeadlineMs(), 0);
    for (const handle of handles) expect(wheel.cancel(handle)).toBe(true);
    expect(wheel.nextDeadlineMs()).toBe(Infinity);
    expect(wheel.advance(2 * HOUR_MS, 10)).toBe(0);
  });

  it('grows to many and fires each once', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    const seen = new Uint8Array(100_000);
    for (let index = 0; index < seen.length; index++) {
      wheel.arm(
        index % 3000,
        target(() => seen[index]++),
      );
    }
    expect(wheel.advance(3000, Infinity)).toBe(seen.length);
    expect(seen.every((count) => count === 1)).toBe(true);
  });
});

describe('timer wheel: inside a target', () => {
  it('armed for now: not in this call, but in the next', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    let count = 0;
    const again = target(() => {
      count++;
      wheel.arm(5, again);
    });
    wheel.arm(5, again);
    for (let call = 1; call <= 3; call++) {
      expect(wheel.advance(5, 100)).toBe(1);
      expect(count).toBe(call);
    }
  });

  it('a zero delay for ever does not keep others from firing', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    const again = target(() => wheel.arm(0, again));
    wheel.arm(0, again);
    let firedAtCall = -1;
    wheel.arm(
      3,
      target(() => (firedAtCall = 0)),
    );
    for (let call = 0; call < 5 && firedAtCall < 0; call++) wheel.advance(10, 1);
    expect(firedAtCall).toBe(0);
  });

  it('a throw: the others stay due, in order', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    const fired: string[] = [];
    wheel.arm(
      5,
      target(() => fired.push('first')),
    );
    wheel.arm(
      5,
      target(() => {
        throw new Error('target');
      }),
    );
    wheel.arm(
      5,
      target(() => fired.push('second')),
    );
    wheel.arm(
      6,
      target(() => fired.push('third')),
    );
    expect(() => wheel.advance(10, 100)).toThrow('target');
    expect(fired).toEqual(['first']);
    expect(wheel.nextDeadlineMs()).toBeLessThanOrEqual(10);
    expect(wheel.advance(10, 100)).toBe(2);
    expect(fired).toEqual(['first', 'second', 'third']);
  });

  it('advance and clear', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    wheel.arm(
      5,
      target(() => {
        expect(wheel.advance(100, 100)).toBe(0);
        wheel.clear();
        wheel.arm(
          7,
          target(() => undefined),
        );
      }),
    );
    wheel.arm(5, nobody);
    wheel.arm(6, nobody);
    wheel.arm(HOUR_MS, nobody);
    expect(wheel.advance(6, 100)).toBe(1);
    expect(wheel.armedCount).toBe(1);
    expect(wheel.advance(2 * HOUR_MS, 100)).toBe(1);
  });
});

describe('timer wheel: what it refuses', () => {
  it.each([
    { nowMs: -1 },
    { nowMs: NaN },
    { nowMs: 2 ** 53 },
    { nowMs: 0, tickMs: 0 },
    { nowMs: 0, tickMs: 0.5 },
    { nowMs: 0, tickMs: Infinity },
    { nowMs: 0, capacityMax: 0 },
    { nowMs: 0, capacityMax: 2 ** 24 + 1 },
  ])('%o', (options) => {
    expect(() => new TimerWheel(options)).toThrow(
      expect.objectContaining({ code: 'ERR_OUT_OF_RANGE' }),
    );
  });

  it('NaN as a deadline or as the present', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    expect(() => wheel.arm(NaN, nobody)).toThrow(
      expect.objectContaining({ code: 'ERR_OUT_OF_RANGE' }),
    );
    wheel.arm(5, nobody);
    expect(() => wheel.advance(NaN, 10)).toThrow('invariant');
    expect(wheel.armedCount).toBe(1);
  });
});
