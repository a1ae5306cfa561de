// Rung V3 of the ladder (docs/ladder.md), each point a test of the real thing.
// Not here: wheels in depth (test/unit/time), the same on virtual time (tests of the test runtime).
import { describe, expect, it } from 'vitest';
import { current, sleep, sleepUntil, spawn } from '../../lib/index.ts';
import { withDeadline, withTimeout } from '../../lib/task/structured/timeout.ts';
import { armedTimers, until, useLab } from '../scheduler/lab.ts';

const lab = useLab();
const hour = 3_600_000;

describe('V3', () => {
  it('master clock: one for all wheels, monotonic, and nothing ticks without a timer', async () => {
    const times = Array.from({ length: 1000 }, () => lab.rt.clock.now());
    expect(times).toEqual([...times].sort((left, right) => left - right));
    expect(armedTimers(lab.rt)).toBe(0);
    expect(lab.rt.parts.scheduler.wheels.nextDeadlineMs()).toBe(Infinity);
  });

  it('optional timer wheel: of the engine that asks for one', async () => {
    lab.rt.engines.register({ engineId: 'without' });
    lab.rt.engines.register({ engineId: 'with', timerWheelConfig: {} });
    const status = (engine: string) =>
      lab.rt
        .with({ engine })
        .spawn(function* () {
          yield* sleep(1);
        })
        .settled();
    expect((await status('without')).status).toBe('failure');
    expect((await status('with')).status).toBe('success');
  });

  it('sleep: never early, in the order of time', async () => {
    const order: number[] = [];
    const early: number[] = [];
    const tasks = [30, 5, 20, 1, 10].map((delayMs) =>
      lab.rt.spawn(function* () {
        const startMs = lab.rt.clock.now();
        yield* sleep(delayMs);
        if (lab.rt.clock.now() - startMs < delayMs) early.push(delayMs);
        order.push(delayMs);
      }),
    );
    for (const task of tasks) await task.join();
    expect(early).toEqual([]);
    // On a busy machine several are due in one turn; those are not told apart here.
    expect(order.length).toBe(5);
    expect(armedTimers(lab.rt)).toBe(0);
  });

  it('sleepUntil: of the past, not at all', async () => {
    const atMs = lab.rt.clock.now() + 5;
    await lab.rt.run(function* () {
      yield* sleepUntil(atMs);
      yield* sleepUntil(atMs - 1000);
    });
    expect(lab.rt.clock.now()).toBeGreaterThanOrEqual(atMs);
  });

  it('deadline: of a task, inherited as the minimum', async () => {
    const deadline = lab.rt.clock.now() + 20;
    const parent = lab.rt.with({ deadline }).spawn(function* () {
      const child = spawn(function* () {
        yield* sleep(hour);
      });
      try {
        yield* sleep(hour);
      } finally {
        expect((yield* child.settled()).status).toBe('cancelled');
        expect(current().cancelled).toBe(true);
      }
    });
    expect(await parent.settled()).toMatchObject({
      status: 'cancelled',
      reason: { name: 'TimeoutError' },
    });
    expect(lab.rt.clock.now()).toBeGreaterThanOrEqual(deadline);
  });

  it('timeout: of an operation, and its timer is gone when that was faster', async () => {
    const late = lab.rt.spawn(function* () {
      yield* withTimeout(5, sleep(hour));
    });
    expect(await late.settled()).toMatchObject({
      status: 'failure',
      error: { name: 'TimeoutError' },
    });
    const soon = lab.rt.spawn(function* () {
      yield* withTimeout(hour, sleep(1));
      yield* withDeadline(lab.rt.clock.now() + hour, sleep(1));
      return 'in time';
    });
    expect(await soon.join()).toBe('in time');
    await until(() => armedTimers(lab.rt) === 0);
  });
});
