// S-15. Not here: wheels (test/unit/time), periodic work.
// „Timer-Wheels werden durch Engine-Runtime-Konfiguration aktiviert und parametrisiert.“
import { describe, expect, it } from 'vitest';
import { sleep } from '../../lib/index.ts';
import { armedTimers, until, useLab } from '../scheduler/lab.ts';

const lab = useLab();

function* sleeper(delayMs: number) {
  yield* sleep(delayMs);
  return 'slept';
}

describe('S-15: timer wheels are switched on and set up by the engine’s runtime config', () => {
  it('an engine without timerWheelConfig has none', async () => {
    lab.rt.engines.register({ engineId: 'events' });
    const task = lab.rt.with({ engine: 'events' }).spawn(sleeper, 1);
    expect(await task.settled()).toMatchObject({
      status: 'failure',
      error: { code: 'ERR_ENGINE_NO_TIMER_WHEEL' },
    });
    const deadline = lab.rt.clock.now() + 1000;
    const withDeadline = lab.rt.with({ engine: 'events', deadline });
    expect(() => withDeadline.spawn(() => 1)).toThrow(/timer wheel/);
    expect(lab.rt.dump()).toEqual([]);
  });

  it('an engine with one has its own, with its own tick', async () => {
    lab.rt.engines.register({ engineId: 'coarse', timerWheelConfig: { tickMs: 50 } });
    const startMs = lab.rt.clock.now();
    const coarse = lab.rt.with({ engine: 'coarse' }).spawn(sleeper, 1);
    const fine = lab.rt.spawn(sleeper, 1);
    await until(() => armedTimers(lab.rt) === 2);
    const { engines } = lab.rt.parts.scheduler;
    expect(engines.get('coarse').activeTimers).not.toBe(engines.default.activeTimers);
    await fine.join();
    const fineMs = lab.rt.clock.now() - startMs;
    await coarse.join();
    const coarseMs = lab.rt.clock.now() - startMs;
    expect(coarseMs).toBeGreaterThan(fineMs);
    expect(fineMs).toBeGreaterThanOrEqual(1);
  });

  it('no wheel is made before the first timer', async () => {
    lab.rt.engines.register({ engineId: 'unused', timerWheelConfig: {} });
    await lab.rt.with({ engine: 'unused' }).run(() => 1);
    expect(lab.rt.parts.scheduler.engines.get('unused').activeTimers).toBe(undefined);
  });
});
