// defineEngine: what is refused, what is filled in, and that nothing of it changes afterwards.
// Not here: engines at work (engine_limits.test.ts).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { defineEngine } from '../../../lib/engine.ts';
import { Runtime, sleep, spawn } from '../../../lib/index.ts';

const runtimes: Runtime[] = [];
async function start(options?: Parameters<typeof Runtime.start>[0]): Promise<Runtime> {
  const rt = await Runtime.start(options);
  runtimes.push(rt);
  return rt;
}
afterEach(async () => {
  for (const rt of runtimes.splice(0)) await rt.close();
});

const code = (expected: string) => expect.objectContaining({ code: expected });

describe('defineEngine', () => {
  it('defineEngine: fills in the defaults and freezes all of it', () => {
    const engine = defineEngine({ engineId: 'audio', timerWheelConfig: {} });
    expect(engine).toEqual({
      engineId: 'audio',
      name: 'audio',
      capabilities: undefined,
      config: {
        engineId: 'audio',
        reductionLimit: 4000,
        timerWheelConfig: { tickMs: 1 },
        resourceLimits: { tasksMax: Infinity, timersMax: 2 ** 24 },
        overrunPolicy: 'drift',
        metricsConfig: { handlerDuration: true },
      },
    });
    for (const part of [engine, engine.config, ...Object.values(engine.config)]) {
      if (typeof part === 'object') expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it.each([
    [undefined, 'ERR_INVALID_ARG_TYPE'],
    [null, 'ERR_INVALID_ARG_TYPE'],
    [[], 'ERR_INVALID_ARG_TYPE'],
    [{}, 'ERR_INVALID_ARG_TYPE'],
    [{ engineId: 7 }, 'ERR_INVALID_ARG_TYPE'],
    [{ engineId: '' }, 'ERR_INVALID_ARG_VALUE'],
    [{ engineId: 'a', name: 7 }, 'ERR_INVALID_ARG_TYPE'],
    [{ engineId: 'a', reductionlimit: 5 }, 'ERR_INVALID_ARG_VALUE'],
    [{ engineId: 'a', reductionLimit: 0 }, 'ERR_OUT_OF_RANGE'],
    [{ engineId: 'a', reductionLimit: 1.5 }, 'ERR_OUT_OF_RANGE'],
    [{ engineId: 'a', reductionLimit: Number.NaN }, 'ERR_OUT_OF_RANGE'],
    [{ engineId: 'a', reductionLimit: '4000' }, 'ERR_INVALID_ARG_TYPE'],
    [{ engineId: 'a', timerWheelConfig: 1 }, 'ERR_INVALID_ARG_TYPE'],
    [{ engineId: 'a', timerWheelConfig: { tickMs: 0 } }, 'ERR_OUT_OF_RANGE'],
    [{ engineId: 'a', timerWheelConfig: { tickMS: 1 } }, 'ERR_INVALID_ARG_VALUE'],
    [{ engineId: 'a', resourceLimits: { tasksMax: 0 } }, 'ERR_OUT_OF_RANGE'],
    [{ engineId: 'a', resourceLimits: { tasks: 5 } }, 'ERR_INVALID_ARG_VALUE'],
    [{ engineId: 'a', resourceLimits: { timersMax: 2 ** 24 + 1 } }, 'ERR_OUT_OF_RANGE'],
    [{ engineId: 'a', overrunPolicy: 'later' }, 'ERR_INVALID_ARG_VALUE'],
    [{ engineId: 'a', metricsConfig: { durations: true } }, 'ERR_INVALID_ARG_VALUE'],
    [{ engineId: 'a', capabilities: { spwan: true } }, 'ERR_INVALID_ARG_VALUE'],
    [{ engineId: 'a', capabilities: { spawn: 1 } }, 'ERR_INVALID_ARG_TYPE'],
  ])('defineEngine: %j is refused', (definition, expected) => {
    expect(() => defineEngine(definition as never)).toThrow(code(expected));
  });

  it('defineEngine: each field is read once', () => {
    let reads = 0;
    const engine = defineEngine({
      get engineId() {
        reads++;
        return reads === 1 ? 'first' : 'other';
      },
    });
    expect([reads, engine.engineId, engine.config.engineId]).toEqual([1, 'first', 'first']);
  });

  it('defineEngine: a descriptor goes into any number of runtimes, once into each', async () => {
    const engine = defineEngine({ engineId: 'batch', reductionLimit: 50 });
    const rt = await start({ engines: [engine] });
    expect(rt.engines.get('batch')).toBe(engine.config);
    const other = await start();
    expect(other.engines.register(engine)).toBe(engine.config);
    expect(() => other.engines.register(engine)).toThrow(code('ERR_ENGINE_EXISTS'));
    const task = other.with({ engine: 'batch' }).spawn(function* () {
      return (yield* spawn(function* () {}).settled()).status;
    });
    expect([task.engineId, await task.join()]).toEqual(['batch', 'success']);
  });

  it('defineEngine: its tasks have its capabilities, and with() narrows them further', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nephrite-engine-'));
    try {
      const capabilities = { spawn: false, files: [{ path: folder }] };
      const rt = await start({ engines: [defineEngine({ engineId: 'reader', capabilities })] });
      const body = async () => {
        spawn(function* () {});
      };
      const onEngine = rt.with({ engine: 'reader' });
      await expect(onEngine.run(body)).rejects.toEqual(code('ERR_CAPABILITY_DENIED'));
      const wider = { engine: 'reader', capabilities: { spawn: true } };
      expect(() => rt.with(wider)).toThrow(code('ERR_CAPABILITY_WIDER'));
      expect(rt.with({ engine: 'reader', capabilities: { files: [] } })).toBeDefined();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('defineEngine: a task that has less than the engine cannot spawn on it', async () => {
    const engine = defineEngine({ engineId: 'strong', capabilities: { configure: true } });
    const rt = await start({ engines: [engine] });
    const weak = rt.with({ capabilities: { configure: false } });
    const reached = weak.run(async () => {
      rt.with({ engine: 'strong' });
    });
    await expect(reached).rejects.toEqual(code('ERR_CAPABILITY_WIDER'));
  });

  it('S-15: an engine without timerWheelConfig has no timers', async () => {
    const rt = await start({ engines: [defineEngine({ engineId: 'pure' })] });
    const slept = rt.with({ engine: 'pure' }).run(function* () {
      yield* sleep(1);
    });
    await expect(slept).rejects.toEqual(code('ERR_ENGINE_NO_TIMER_WHEEL'));
    expect(() => rt.with({ engine: 'pure', deadline: 5 }).spawn(function* () {})).toThrow(
      code('ERR_ENGINE_NO_TIMER_WHEEL'),
    );
    // What failed at the call has left nothing behind.
    expect(rt.dump()).toEqual([]);
    expect(rt.metrics().runnableTasks).toBe(0);
  });
});
