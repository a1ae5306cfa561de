// S-6. Not here: the time budget in numbers (fairness.test.ts).
// „Reduction-basierte Preemption schützt vor unbegrenzter Worker-Monopolisierung.“
import { describe, expect, it } from 'vitest';
import { checkpoint, waitToken } from '../../lib/index.ts';
import { useLab } from '../scheduler/lab.ts';

const lab = useLab();

describe('S-6: preemption by reductions keeps a task from taking the worker for itself', () => {
  it.each([10, 100, 1000])('after %i reductions it goes to the end of the queue', async (limit) => {
    const engineId = `limit-${limit}`;
    lab.rt.engines.register({ engineId, reductionLimit: limit });
    const log: string[] = [];
    const rounds = 5 * limit;
    const hog = lab.rt.with({ engine: engineId }).spawn(function* () {
      for (let round = 0; round < rounds; round++) {
        log.push('hog');
        yield* checkpoint();
      }
    });
    const peer = lab.rt.spawn(function* () {
      log.push('peer');
      yield* checkpoint();
    });
    const preempted: number[] = [];
    const stop = lab.rt.bus.tap(({ command, taskId }) => {
      if (command === 'preempt' && taskId === hog.id) preempted.push(log.length);
    });
    await Promise.all([hog.join(), peer.join()]);
    stop();
    // Time may cut a slice shorter on a busy machine, never longer.
    expect(log.indexOf('peer')).toBeLessThanOrEqual(limit);
    expect(preempted.length).toBeGreaterThanOrEqual(4);
    const slices = preempted.map((at, index) => at - (preempted[index - 1] ?? 0));
    expect(Math.max(...slices)).toBeLessThanOrEqual(limit + 1);
    expect(hog.reductions).toBeGreaterThanOrEqual(rounds);
  });

  it('a dear checkpoint costs what it says', async () => {
    let slices = 0;
    const stop = lab.rt.bus.tap(({ command }) => {
      if (command === 'preempt') slices++;
    });
    await lab.rt.run(function* () {
      for (let round = 0; round < 5; round++) yield* checkpoint(4000);
    });
    stop();
    expect(slices).toBe(5);
  });

  it('operations that are ready are charged too', async () => {
    lab.rt.engines.register({ engineId: 'ten', reductionLimit: 10 });
    const gate = waitToken();
    gate.wake();
    let slices = 0;
    const stop = lab.rt.bus.tap(({ command }) => {
      if (command === 'preempt') slices++;
    });
    await lab.rt.with({ engine: 'ten' }).run(function* () {
      for (let round = 0; round < 100; round++) yield* gate.wait();
    });
    stop();
    expect(slices).toBeGreaterThanOrEqual(9);
  });
});
