// Engines at work: reduction limits, admission limits that fail at the call and lose nothing, timer
// wheels by configuration, and updates over the bus while tasks run.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OP_REGISTER_ENGINE, OP_UPDATE_ENGINE } from '../../../lib/bus/commands.ts';
import {
  checkpoint,
  Runtime,
  sleep,
  sleepUntil,
  spawn,
  waitToken,
  withTimeout,
} from '../../../lib/index.ts';
import { createTestRuntime, type TestRuntime } from '../../../lib/testing.ts';

let rt: TestRuntime;
beforeEach(() => {
  rt = createTestRuntime({
    seed: 1,
    backend: 'node',
    engines: [
      { engineId: 'small', reductionLimit: 5, resourceLimits: { tasksMax: 3, timersMax: 2 } },
      {
        engineId: 'timed',
        timerWheelConfig: { tickMs: 10 },
        resourceLimits: { tasksMax: 3, timersMax: 2 },
      },
    ],
  });
});
afterEach(() => rt.close());

const code = (expected: string) => expect.objectContaining({ code: expected });

function preemptions(): number[] {
  const counts: number[] = [];
  rt.bus.tap(({ command, detail }) => {
    if (command === 'preempt') counts.push(detail as number);
  });
  return counts;
}

const passing = (count: number, cost = 1) =>
  function* () {
    for (let at = 0; at < count; at++) yield* checkpoint(cost);
  };

describe('engines: reductions', () => {
  it('S-6: a slice has reductionLimit reductions, the resume being one', async () => {
    const counts = preemptions();
    await rt.with({ engine: 'small' }).run(passing(12));
    // Four checkpoints a slice: the twelfth ends the third.
    expect(counts).toEqual([5, 10, 15]);
  });

  it('S-6: a checkpoint charges its cost, and one that costs the whole budget gives way', async () => {
    const counts = preemptions();
    await rt.with({ engine: 'small' }).run(passing(3, 100));
    expect(counts).toHaveLength(3);
  });

  it('S-14: an update holds from the next slice on', async () => {
    const counts = preemptions();
    await rt.with({ engine: 'small' }).run(function* () {
      yield* checkpoint();
      expect(rt.engines.update('small', { reductionLimit: 3 }).reductionLimit).toBe(3);
      for (let at = 0; at < 6; at++) yield* checkpoint();
    });
    expect(counts).toEqual([5, 8]);
  });
});

describe('engines: limits', () => {
  it('engines: the task beyond tasksMax is refused at the call, and nothing is lost', async () => {
    const onSmall = rt.with({ engine: 'small' });
    const token = waitToken<number>();
    const body = function* () {
      return yield* token.wait();
    };
    const tasks = [onSmall.spawn(body), onSmall.spawn(body), onSmall.spawn(body)];
    const before = JSON.stringify([rt.dump(), rt.metrics().runnableTasks]);
    for (let round = 0; round < 3; round++) {
      expect(() => onSmall.spawn(body)).toThrow(code('ERR_ENGINE_LIMIT'));
    }
    expect(JSON.stringify([rt.dump(), rt.metrics().runnableTasks])).toBe(before);
    const elsewhere = rt.spawn(body);
    token.wake(7);
    expect(await Promise.all([...tasks, elsewhere].map((task) => task.join()))).toEqual([
      7, 7, 7, 7,
    ]);
    expect(await onSmall.run(body)).toBe(7);
  });

  it('engines: the limit counts children, and a task is told inside its body', async () => {
    const seen = await rt.with({ engine: 'small' }).run(function* () {
      const children = [spawn(passing(1)), spawn(passing(1))];
      try {
        spawn(passing(1));
        return 'taken';
      } catch (error) {
        return (error as { code?: string }).code;
      } finally {
        for (const child of children) yield* child.join();
      }
    });
    expect(seen).toBe('ERR_ENGINE_LIMIT');
  });

  it('engines: the timer beyond timersMax is refused at the call, and those armed fire', async () => {
    const onTimed = rt.with({ engine: 'timed' });
    const sleeper = function* () {
      yield* sleep(50);
      return rt.clock.now();
    };
    const tasks = [onTimed.spawn(sleeper), onTimed.spawn(sleeper)];
    await rt.clock.advance(0);
    await expect(onTimed.run(sleeper)).rejects.toEqual(code('ERR_ENGINE_LIMIT'));
    await rt.clock.advance(100);
    for (const task of tasks) {
      const firedMs = await task.join();
      expect(firedMs).toBeGreaterThanOrEqual(50);
      expect(firedMs).toBeLessThanOrEqual(60);
    }
    const again = onTimed.run(sleeper);
    await rt.clock.advance(100);
    expect(await again).toBeGreaterThan(100);
  });

  it('engines: a raised limit is there for the next call', async () => {
    const onSmall = rt.with({ engine: 'small' });
    for (let at = 0; at < 3; at++) onSmall.spawn(passing(1));
    expect(() => onSmall.spawn(passing(1))).toThrow(code('ERR_ENGINE_LIMIT'));
    rt.engines.update('small', { resourceLimits: { tasksMax: 4 } });
    expect(onSmall.spawn(passing(1)).id).toBe(4);
  });

  it('engines: an update leaves the limits that it does not name', () => {
    const resourceLimits = { tasksMax: undefined, timersMax: 9 };
    const updated = rt.engines.update('timed', { resourceLimits, timerWheelConfig: {} });
    expect(updated).toMatchObject({
      resourceLimits: { tasksMax: 3, timersMax: 9 },
      timerWheelConfig: { tickMs: 10 },
    });
  });
});

describe('engines: timers by configuration', () => {
  it('S-15: without timerWheelConfig all that needs a timer is refused', async () => {
    const attempts: (() => Iterable<never>)[] = [
      () => sleep(1) as never,
      () => sleepUntil(5) as never,
      () => withTimeout(5, () => waitToken().wait()) as never,
    ];
    for (const attempt of attempts) {
      const run = rt.with({ engine: 'small' }).run(function* () {
        yield* attempt();
      });
      await expect(run).rejects.toEqual(code('ERR_ENGINE_NO_TIMER_WHEEL'));
    }
    expect(() => rt.with({ engine: 'small', deadline: 9 }).spawn(passing(1))).toThrow(
      code('ERR_ENGINE_NO_TIMER_WHEEL'),
    );
    expect(rt.dump()).toEqual([]);
  });

  it('S-15: an update gives an engine its wheel', async () => {
    rt.engines.update('small', { timerWheelConfig: { tickMs: 1 } });
    const slept = rt.with({ engine: 'small' }).run(function* () {
      yield* sleep(5);
      return rt.clock.now();
    });
    await rt.clock.advance(10);
    expect(await slept).toBe(5);
  });
});

describe('engines: over the bus', () => {
  it('S-16: register and update are commands, in the tap and as entries', async () => {
    const events: [string, unknown][] = [];
    rt.bus.tap(({ command, detail }) => events.push([command, detail]));
    const entry = (opcode: number, ...values: unknown[]) => ({
      opcode,
      subcode: 0,
      arguments: values,
    });
    rt.bus.execute(entry(OP_REGISTER_ENGINE, { engineId: 'new', reductionLimit: 9 }));
    await rt.bus.submit(entry(OP_UPDATE_ENGINE, 'new', { reductionLimit: 8 }));
    rt.engines.update('new', { overrunPolicy: 'skip' });
    expect(events.filter(([command]) => command !== 'park')).toEqual([
      ['register engine', 'new'],
      ['update engine', 'new'],
      ['update engine', 'new'],
    ]);
    expect(rt.engines.get('new')).toMatchObject({ reductionLimit: 8, overrunPolicy: 'skip' });
  });

  it('engines: an update that is refused changes nothing', () => {
    const before = rt.engines.get('timed');
    expect(() => rt.engines.update('timed', { reductionLimit: 0 })).toThrow(
      code('ERR_OUT_OF_RANGE'),
    );
    expect(() => rt.engines.update('none', {})).toThrow(code('ERR_ENGINE_UNKNOWN'));
    expect(rt.engines.get('timed')).toBe(before);
  });

  it('S-20: a task without the capability configures nothing', async () => {
    const weak = rt.with({ capabilities: { configure: false } });
    const codes = await weak.run(async () =>
      [
        () => rt.engines.register({ engineId: 'x' }),
        () => rt.engines.update('timed', {}),
        () => rt.bus.execute({ opcode: OP_REGISTER_ENGINE, subcode: 0, arguments: [{}] }),
      ].map((attempt) => {
        try {
          return attempt();
        } catch (error) {
          return (error as { code?: string }).code;
        }
      }),
    );
    expect(codes).toEqual(Array(3).fill('ERR_CAPABILITY_DENIED'));
  });
});

describe('engine: a plain definition', () => {
  it('capabilities count, and a field that is none is refused', async () => {
    const rt = await Runtime.start({
      engines: [{ engineId: 'jail', capabilities: { spawn: false } } as never],
    });
    const outcome = await rt
      .with({ engine: 'jail' })
      .spawn(function* () {
        spawn(() => 1);
      })
      .settled();
    expect(outcome).toMatchObject({ error: { code: 'ERR_CAPABILITY_DENIED' } });
    for (const changes of [null, 5, { reductionlimit: 4 }]) {
      expect(() => rt.engines.update('jail', changes as never)).toThrow(/must be|is none of/);
    }
    await rt.close();
  });
});
