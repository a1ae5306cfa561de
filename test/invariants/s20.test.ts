// S-20. Not here: ways round it (attack tests of capabilities).
// „Capability-Enforcement liegt an RuntimeBus-/VM-Grenzen, nicht in der Scheduling-Policy.“
import { describe, expect, it } from 'vitest';
import { checkpoint, Runtime, sleep, spawn } from '../../lib/index.ts';
import { tick, useLab } from '../scheduler/lab.ts';
import { sourcesOf } from './sources.ts';

const lab = useLab();
const DENIED = expect.objectContaining({ code: 'ERR_CAPABILITY_DENIED' });

describe('S-20: capabilities are enforced at the bus, not in scheduling', () => {
  it('a denied command changes nothing and never reaches the scheduler', async () => {
    const rt = await Runtime.start({ capabilities: { spawn: false, configure: false } });
    const told: string[] = [];
    const stop = rt.bus.tap(({ command }) => told.push(command));
    expect(() => rt.spawn(() => 1)).toThrow(DENIED);
    expect(() => rt.engines.register({ engineId: 'x' })).toThrow(DENIED);
    const entry = { opcode: 1, subcode: 0, arguments: [() => 1] };
    expect(() => rt.bus.execute(entry)).toThrow(DENIED);
    await expect(rt.bus.submit(entry)).rejects.toEqual(DENIED);
    stop();
    expect(told.filter((command) => command !== 'park')).toEqual([]);
    expect(rt.dump()).toEqual([]);
    await rt.close();
  });

  it('is checked at the border of the task that issues, by both ways', async () => {
    const victim = lab.rt.spawn(function* () {
      yield* sleep(3_600_000);
    });
    const refused = await lab.rt.with({ capabilities: { cancelOthers: false } }).run(function* () {
      yield* checkpoint();
      const codes: unknown[] = [];
      const attempts = [
        () => victim.cancel(),
        () => lab.rt.bus.execute({ opcode: 6, subcode: 0, arguments: [victim] }),
      ];
      for (const attempt of attempts) {
        try {
          attempt();
          codes.push('allowed');
        } catch (error) {
          codes.push((error as { code?: string }).code);
        }
      }
      const own = spawn(function* () {
        yield* sleep(3_600_000);
      });
      codes.push(own.cancel());
      return codes;
    });
    expect(refused).toEqual(['ERR_CAPABILITY_DENIED', 'ERR_CAPABILITY_DENIED', true]);
    expect(victim.cancellationRequested).toBe(false);
    victim.cancel();
    await tick();
  });

  it('rights make no difference to who runs when', async () => {
    const order: string[] = [];
    const poor = lab.rt.with({ capabilities: { spawn: false, cancelOthers: false } });
    const tasks = [0, 1, 2, 3].map((index) =>
      (index % 2 === 0 ? lab.rt : poor).spawn(function* () {
        for (let round = 0; round < 3; round++) {
          order.push(`${round}.${index}`);
          yield* checkpoint(10_000);
        }
      }),
    );
    for (const task of tasks) await task.join();
    expect(order).toEqual([...order].sort());
  });

  it('no queue and no loop asks for one', () => {
    // The loop tells the host whose slice begins, so that the border of files knows its authority.
    const isQuestion = /rights\.\w|\b(spawn|cancelOthers|configure|lendWorkers): |ERR_CAPABILITY/;
    for (const { path, text } of sourcesOf('scheduler')) {
      expect(text, path).not.toMatch(isQuestion);
    }
  });
});
