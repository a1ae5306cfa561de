// S-7. Not here: how often (S-6).
// „Preemption erfolgt nur an VM-definierten sicheren Punkten.“
import { describe, expect, it } from 'vitest';
import { checkpoint, waitToken } from '../../lib/index.ts';
import { tick, until, useLab } from '../scheduler/lab.ts';

const lab = useLab();

function burn(durationMs: number): void {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
}

describe('S-7: preemption happens at safe points of the runtime only', () => {
  it('between two safe points nobody else runs, however long it takes', async () => {
    lab.rt.engines.register({ engineId: 'one', reductionLimit: 1 });
    let isInside = false;
    let intrusions = 0;
    const tasks = Array.from({ length: 10 }, () =>
      lab.rt.with({ engine: 'one' }).spawn(function* () {
        for (let round = 0; round < 20; round++) {
          if (isInside) intrusions++;
          isInside = true;
          burn(round === 0 ? 5 : 0.01);
          isInside = false;
          yield* checkpoint();
        }
      }),
    );
    for (const task of tasks) await task.join();
    expect(intrusions).toBe(0);
  });

  it('a cancellation waits for the safe point as well', async () => {
    const log: string[] = [];
    const gate = waitToken();
    const task = lab.rt.spawn(function* () {
      yield* gate.wait();
      task.cancel();
      burn(3);
      log.push('up to the safe point');
      yield* checkpoint();
      log.push('beyond it');
    });
    await until(() => task.state === 'waiting');
    gate.wake();
    await task.settled();
    await tick();
    expect(log).toEqual(['up to the safe point']);
  });
});
