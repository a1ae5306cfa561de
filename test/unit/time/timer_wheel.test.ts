// Timer wheel: never early, none lost, none twice, in order, at any distance and any uptime.
// Method: random scripts run on the wheel and on a sorted array (reference_timers.ts), whose logs
// must be equal; the clock is virtual, since nobody waits 800 days. Not here: real time
// (alarm.test.ts), the price (bench/cases/timers.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEVER_HANDLE, type TimerTarget, TimerWheel } from '../../../lib/time/timer_wheel.ts';
import { SEED } from '../../support/seed.ts';
import { ReferenceTimers, type Timers } from './reference_timers.ts';

const DAY_MS = 86_400_000;
const UPTIMES_MS = [
  0,
  1,
  1023.5,
  2 ** 30 - 3,
  2 ** 31,
  2 ** 36 - 1,
  13 * DAY_MS,
  400 * DAY_MS,
  800 * DAY_MS + 0.25,
  2 ** 53 / 1000,
];
const DELAYS_MS = [
  0,
  0.25,
  1,
  1023,
  1024,
  2 ** 20 - 1,
  2 ** 20,
  2 ** 30 - 1,
  2 ** 30,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 36,
  2 ** 40 + 7,
  13 * DAY_MS,
  400 * DAY_MS,
  800 * DAY_MS,
];

class Recorder implements TimerTarget {
  readonly fired: number[] = [];
  timerExpired(handle: number): void {
    this.fired.push(handle);
  }
}

// What a timer does when it fires.
type Reaction = { rearmMs: number } | { cancel: number } | { throws: true } | undefined;

type Action =
  | { armMs: number; reaction: Reaction }
  | { cancel: number }
  | { advanceMs: number; fireCountMax: number; drains: boolean }
  | { clear: true };

/** Runs a script and gives everything that could be seen of it. */
function run(timers: Timers, startMs: number, actions: readonly Action[]): string[] {
  const log: string[] = [];
  const handles: number[] = [];
  let nowMs = startMs;
  const arm = (delayMs: number, reaction: Reaction): void => {
    const id = handles.length;
    const deadlineMs = nowMs + delayMs;
    handles.push(NEVER_HANDLE);
    handles[id] = timers.arm(deadlineMs, {
      timerExpired(handle) {
        log.push(`fired ${id}${deadlineMs > nowMs ? ' early' : ''}`);
        if (handle !== handles[id]) log.push('with another handle');
        if (timers.cancel(handle)) log.push('still armed');
        if (reaction === undefined) return;
        if ('rearmMs' in reaction) arm(reaction.rearmMs, undefined);
        else if ('cancel' in reaction) cancel(reaction.cancel);
        else throw new Error(`thrown by ${id}`);
      },
    });
  };
  const cancel = (nth: number): void => {
    if (handles.length === 0) return;
    const id = nth % handles.length;
    log.push(`cancelled ${id} ${timers.cancel(handles[id])}`);
  };
  const advance = (fireCountMax: number): void => {
    try {
      const firedCount = timers.advance(nowMs, fireCountMax);
      // The wheel may ask for a call that only moves timers.
      if (firedCount > 0) log.push(`fired count ${firedCount}`);
    } catch (error) {
      log.push(String(error));
    }
  };
  for (const action of actions) {
    if ('armMs' in action) arm(action.armMs, action.reaction);
    else if ('cancel' in action) cancel(action.cancel);
    else if ('clear' in action) timers.clear();
    else {
      nowMs += action.advanceMs;
      advance(action.fireCountMax);
      while (action.drains && timers.nextDeadlineMs() <= nowMs) advance(action.fireCountMax);
    }
    log.push(`armed ${timers.armedCount}`);
  }
  return log;
}

const delay = fc.oneof(
  fc.constantFrom(...DELAYS_MS, Infinity, -5),
  fc.integer({ min: 0, max: 40 }),
  fc.double({ min: 0, max: 5000, noNaN: true }),
  fc.double({ min: 0, max: 2 ** 41, noNaN: true }),
);
const reaction = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  fc.record({ rearmMs: delay }),
  fc.record({ cancel: fc.nat() }),
  fc.record({ throws: fc.constant(true as const) }),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ armMs: delay, reaction }) },
  { weight: 3, arbitrary: fc.record({ cancel: fc.nat() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      advanceMs: fc.oneof(
        fc.constantFrom(...DELAYS_MS),
        fc.double({ min: 0, max: 3000, noNaN: true }),
      ),
      fireCountMax: fc.constantFrom(0, 1, 2, 5, Infinity),
      drains: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ clear: true as const }) },
);

// A bound of 0 would drain for ever.
function withoutEndlessDrains(script: readonly Action[]): Action[] {
  return script.map((step) =>
    'drains' in step && step.fireCountMax === 0 ? { ...step, drains: false } : step,
  );
}

describe('timer wheel: against a sorted array', () => {
  it.each([1, 3, 10, 1000])('ticks of %d ms: the same events in the same order', (tickMs) => {
    fc.assert(
      fc.property(
        fc.constantFrom(...UPTIMES_MS),
        fc.array(action, { maxLength: 60 }),
        (startMs, script) => {
          const actions = withoutEndlessDrains(script);
          const wheel = run(new TimerWheel({ nowMs: startMs, tickMs }), startMs, actions);
          const reference = run(new ReferenceTimers(startMs, tickMs), startMs, actions);
          expect(wheel).toEqual(reference);
          expect(wheel.filter((line) => /early|another|still/.test(line))).toEqual([]);
        },
      ),
      { seed: SEED, numRuns: 500 },
    );
  });

  it('the next deadline is never late, and calling at it gets there in a few steps', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...UPTIMES_MS),
        fc.array(delay, { minLength: 1, maxLength: 20 }),
        (startMs, delays) => {
          const wheel = new TimerWheel({ nowMs: startMs });
          const reference = new ReferenceTimers(startMs, 1);
          for (const delayMs of delays) {
            wheel.arm(startMs + delayMs, new Recorder());
            reference.arm(startMs + delayMs, new Recorder());
          }
          for (let nowMs = startMs, calls = 0; wheel.armedCount > 0; calls++) {
            expect(wheel.nextDeadlineMs()).toBeLessThanOrEqual(reference.nextDeadlineMs());
            nowMs = Math.max(nowMs, wheel.nextDeadlineMs());
            expect(wheel.advance(nowMs, Infinity)).toBe(reference.advance(nowMs, Infinity));
            expect(calls).toBeLessThan(7 * delays.length);
          }
          expect(wheel.nextDeadlineMs()).toBe(Infinity);
        },
      ),
      { seed: SEED, numRuns: 500 },
    );
  });
});

describe('timer wheel: distances', () => {
  const cases = UPTIMES_MS.flatMap((startMs) =>
    DELAYS_MS.map((delayMs) => [startMs, delayMs] as const),
  );

  it.each(cases)('up for %d ms, %d ms ahead: then, and not before', (startMs, delayMs) => {
    const wheel = new TimerWheel({ nowMs: startMs });
    const recorder = new Recorder();
    const deadlineMs = startMs + delayMs;
    wheel.arm(deadlineMs, recorder);
    // Not the only one at its level, so that levels are gone through.
    wheel.arm(deadlineMs + 1, new Recorder());
    for (const part of [0.1, 0.5, 0.9, 0.999]) wheel.advance(startMs + delayMs * part, 10);
    if (Math.ceil(deadlineMs) > deadlineMs) wheel.advance(deadlineMs, 10);
    else if (delayMs >= 1) wheel.advance(deadlineMs - 0.001, 10);
    if (delayMs > 0) expect(recorder.fired.length).toBe(0);
    wheel.advance(Math.ceil(deadlineMs), 10);
    expect(recorder.fired.length).toBe(1);
    expect(wheel.armedCount).toBe(1);
  });

  it('one timer alone is one wake, whatever its distance', () => {
    for (const [startMs, delayMs] of cases) {
      const wheel = new TimerWheel({ nowMs: startMs });
      wheel.arm(startMs + delayMs, new Recorder());
      if (delayMs >= 1) expect(wheel.nextDeadlineMs()).toBe(Math.ceil(startMs + delayMs));
    }
  });

  it.each([3, 10, 1000])('ticks of %d ms: a rounded quotient makes nothing early', (tickMs) => {
    for (let tick = 1; tick < 2000; tick++) {
      const boundaryMs = tick * tickMs;
      const afterMs = boundaryMs * (1 + Number.EPSILON);
      const beforeMs = boundaryMs * (1 - Number.EPSILON / 2);
      const recorder = new Recorder();
      const wheel = new TimerWheel({ nowMs: 0, tickMs });
      wheel.arm(afterMs, recorder);
      wheel.arm(boundaryMs, recorder);
      expect(wheel.advance(beforeMs, 10)).toBe(0);
      expect(wheel.advance(boundaryMs, 10)).toBe(1);
      expect(wheel.advance(boundaryMs + tickMs, 10)).toBe(1);
    }
    const wheel = new TimerWheel({ nowMs: 0, tickMs });
    wheel.arm(Number.MIN_VALUE, new Recorder());
    expect(wheel.advance(0, 10)).toBe(0);
  });

  it.each([Infinity, 2 ** 53, Number.MAX_VALUE])('%d never comes', (deadlineMs) => {
    const wheel = new TimerWheel({ nowMs: 5 });
    const handle = wheel.arm(deadlineMs, new Recorder());
    expect(handle).toBe(NEVER_HANDLE);
    expect(wheel.armedCount).toBe(0);
    expect(wheel.nextDeadlineMs()).toBe(Infinity);
    expect(wheel.cancel(handle)).toBe(false);
    expect(wheel.advance(2 ** 53, 10)).toBe(0);
  });

  it('a clock that goes back fires nothing ahead and loses nothing', () => {
    const wheel = new TimerWheel({ nowMs: 1000 });
    const recorder = new Recorder();
    wheel.arm(1010, recorder);
    wheel.advance(1005, 10);
    wheel.advance(3, 10);
    wheel.arm(4, recorder);
    expect(wheel.advance(3, 10), 'has been due since 1005').toBe(1);
    expect(wheel.advance(1010, 10)).toBe(1);
  });
});

describe('timer wheel: handles', () => {
  it('cancels once, and a stale handle cancels nobody else', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    const first = wheel.arm(10, new Recorder());
    expect(wheel.cancel(first)).toBe(true);
    const second = wheel.arm(10, new Recorder());
    expect(second).not.toBe(first);
    expect(wheel.cancel(first)).toBe(false);
    wheel.advance(10, 10);
    expect(wheel.cancel(second)).toBe(false);
    wheel.arm(20, new Recorder());
    expect(wheel.cancel(second)).toBe(false);
    expect(wheel.armedCount).toBe(1);
  });

  it('what is no handle cancels nothing', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    const handle = wheel.arm(10, new Recorder());
    for (const other of [-1, 0, 0.5, NaN, Infinity, -Infinity, handle + 0.5, handle + 1, 2 ** 53]) {
      expect(wheel.cancel(other), `${other}`).toBe(false);
    }
    wheel.cancel(handle);
    // The generation that the record will have next.
    expect(wheel.cancel(handle + 2 ** 25)).toBe(false);
  });

  it('all handles of many rounds differ', () => {
    const wheel = new TimerWheel({ nowMs: 0 });
    const seen = new Set<number>();
    for (let round = 0; round < 300; round++) {
      const handles = Array.from({ length: 7 }, () => wheel.arm(5 + round, new Recorder()));
      for (const handle of handles) seen.add(handle);
      if (round % 2 === 0) for (const handle of handles) expect(wheel.cancel(handle)).toBe(true);
      else expect(wheel.advance(5 + round, 100)).toBe(7);
    }
    expect(seen.size).toBe(2100);
  });
});
