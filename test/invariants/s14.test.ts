// S-14. Not here: what a definition may say (test/unit/engine).
// „Der Scheduler kennt nur EngineRuntimeConfig, nicht die semantische Engine.“
import { describe, expect, it } from 'vitest';
import { useLab } from '../scheduler/lab.ts';
import { importsOf, sourcesOf } from './sources.ts';

const lab = useLab();

describe('S-14: the scheduler knows EngineRuntimeConfig only, not the semantic engine', () => {
  it('what it is given holds the fields of the seed and nothing else', () => {
    const config = lab.rt.engines.register({
      engineId: 'render',
      reductionLimit: 100,
      timerWheelConfig: { tickMs: 2 },
    });
    expect(Object.keys(config).sort()).toEqual([
      'engineId',
      'metricsConfig',
      'overrunPolicy',
      'reductionLimit',
      'resourceLimits',
      'timerWheelConfig',
    ]);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('a task knows its engine by its id', async () => {
    lab.rt.engines.register({ engineId: 'physics' });
    const task = lab.rt.with({ engine: 'physics' }).spawn(() => 1);
    expect(task.engineId).toBe('physics');
    expect(lab.rt.dump()[0].engine).toBe('physics');
    await task.join();
  });

  it('scheduler and task do not import definitions, and branch on no engine’s name', () => {
    for (const folder of ['scheduler', 'task']) {
      for (const { path, text } of sourcesOf(folder)) {
        for (const from of importsOf(text)) expect(from, path).not.toMatch(/engine_definition/);
        expect(text, path).not.toMatch(/engineId\s*[=!]==/);
      }
    }
  });
});
