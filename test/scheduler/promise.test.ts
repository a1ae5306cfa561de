// The fairness promise of lib/scheduler/README.md, point by point, measured: with bodies that reach
// a safe point every few milliseconds and never wait. Bounds are a multiple of what is promised,
// since this runs beside other tests; medians where one late moment of the machine would decide.
// Not here: how good it is today (bench, fairness-1ms), starvation (fairness.test.ts).
import { describe, expect, it } from 'vitest';
import { checkpoint, sleep, waitToken } from '../../lib/index.ts';
import { useLab } from './lab.ts';

const lab = useLab();
const HOGS = 4;
const SLICE_MS = 2;
const RUN_MS = 400;
// How much later than promised this machine may be, at the median.
const SLACK = 10;

function burn(durationMs: number): void {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
}

interface Hogs {
  readonly slices: number[];
  done(): Promise<unknown>;
  /** What a slice took: more than SLICE_MS where others have the processor. */
  sliceMs(): number;
}

/** Bodies that compute for RUN_MS with a safe point every SLICE_MS; gives when they end. */
function startHogs(): Hogs {
  const endMs = performance.now() + RUN_MS;
  const slices = new Array<number>(HOGS).fill(0);
  const durationsMs: number[] = [];
  const tasks = slices.map((_, at) =>
    lab.rt.spawn(function* hog() {
      while (performance.now() < endMs) {
        const sinceMs = performance.now();
        burn(SLICE_MS);
        durationsMs.push(performance.now() - sinceMs);
        slices[at]++;
        yield* checkpoint();
      }
    }),
  );
  const done = (): Promise<unknown> => Promise.all(tasks.map((task) => task.join()));
  const sliceMs = (): number =>
    durationsMs.sort((a, b) => a - b)[Math.floor(durationsMs.length * 0.9)] ?? SLICE_MS;
  return { slices, done, sliceMs };
}

const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

describe('fairness: what is promised', () => {
  it('1: the event loop, timers and microtasks of everybody else get their turn', async () => {
    const hogs = startHogs();
    const gapsMs: number[] = [];
    let sinceMs = performance.now();
    let isOver = false;
    const look = (): void => {
      gapsMs.push(performance.now() - sinceMs);
      sinceMs = performance.now();
      if (!isOver) setImmediate(look);
    };
    setImmediate(look);
    let timerCount = 0;
    let microtaskCount = 0;
    const timer = setInterval(() => {
      timerCount++;
      queueMicrotask(() => microtaskCount++);
    }, 1);
    await hogs.done();
    isOver = true;
    clearInterval(timer);
    expect(median(gapsMs)).toBeLessThan((1 + hogs.sliceMs()) * SLACK);
    expect(timerCount).toBeGreaterThan(RUN_MS / ((1 + hogs.sliceMs()) * SLACK * 2));
    expect(microtaskCount).toBe(timerCount);
  });

  it('2: a task that is woken runs within a slice of each that never waits', async () => {
    const hogs = startHogs();
    const latenessMs: number[] = [];
    const endMs = performance.now() + RUN_MS;
    while (performance.now() < endMs) {
      const token = waitToken<number>();
      const task = lab.rt.spawn(function* () {
        const wokenMs = yield* token.wait();
        latenessMs.push(performance.now() - wokenMs);
      });
      while (token.waitingCount === 0) await new Promise((resolve) => setImmediate(resolve));
      token.wake(performance.now());
      await task.join();
    }
    await hogs.done();
    expect(latenessMs.length).toBeGreaterThan(0);
    expect(median(latenessMs)).toBeLessThan(HOGS * (1 + hogs.sliceMs()) * SLACK);
  });

  it('3: those that are always runnable get the same share of slices', async () => {
    const hogs = startHogs();
    await hogs.done();
    const [least, most] = [Math.min(...hogs.slices), Math.max(...hogs.slices)];
    expect(least).toBeGreaterThan(0);
    // The first slice of a body is seen to be slow at its fourth safe point.
    expect(most).toBeLessThanOrEqual(2 * least + 6);
  });

  it('4: a sleeper is never early, and late by slices, not by runs', async () => {
    const hogs = startHogs();
    const latenessMs: number[] = [];
    const endMs = performance.now() + RUN_MS;
    const sleeper = lab.rt.spawn(function* () {
      while (performance.now() < endMs) {
        const sinceMs = performance.now();
        yield* sleep(1);
        latenessMs.push(performance.now() - sinceMs - 1);
      }
    });
    await Promise.all([hogs.done(), sleeper.join()]);
    expect(Math.min(...latenessMs)).toBeGreaterThanOrEqual(0);
    expect(median(latenessMs)).toBeLessThan((1 + HOGS * (1 + hogs.sliceMs())) * SLACK);
  });

  it('5: a loop over what is always ready gives way too', async () => {
    const token = waitToken<number>();
    token.wake(1);
    const endMs = performance.now() + RUN_MS;
    let otherSlices = 0;
    let sum = 0;
    const greedy = lab.rt.spawn(function* () {
      while (performance.now() < endMs) sum += yield* token.wait();
    });
    const other = lab.rt.spawn(function* () {
      while (greedy.state !== 'completed') {
        otherSlices++;
        yield* checkpoint(4000);
      }
    });
    await Promise.all([greedy.join(), other.join()]);
    expect(sum).toBeGreaterThan(1000);
    expect(otherSlices).toBeGreaterThan(RUN_MS / (SLACK * 20));
  });
});
