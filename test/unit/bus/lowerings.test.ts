// Both lowerings of the bus: the same seeded programs give the same trace and the same results on
// direct calls and on generic entries.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GenericLowering } from '../../../lib/bus/generic_lowering.ts';
import { RuntimeBus } from '../../../lib/bus/runtime_bus.ts';
import type { SchedulerPort } from '../../../lib/bus/scheduler_port.ts';
import type { TaskRights } from '../../../lib/task/command_sink.ts';
import { recordRun } from '../../../lib/testing/record_run.ts';
import { makeSeededWorld, TestRuntime } from '../../../lib/testing/test_runtime.ts';
import { SEED } from '../../support/seed.ts';
import { PROGRAM_ENGINE, type Program, programs, runProgram } from '../../support/task_programs.ts';

type BusClass = new (port: SchedulerPort, rights: TaskRights) => RuntimeBus;

async function runOn(Bus: BusClass, seed: number, program: Program) {
  const options = { engines: [PROGRAM_ENGINE], autoAdvance: true, backend: 'node' as const };
  const world = makeSeededWorld(options, seed, (port, rights) => new Bus(port, rights));
  const rt = new TestRuntime(world, seed, undefined);
  const recorder = recordRun(rt);
  const log = await runProgram(rt, program);
  return { log, events: recorder.stop().events };
}

describe('lowerings', () => {
  it('lowerings: programs give equal traces and results, direct and generic', async () => {
    let eventCount = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), programs, async (seed, program) => {
        const direct = await runOn(RuntimeBus, seed, program);
        const generic = await runOn(GenericLowering, seed, program);
        expect(generic).toEqual(direct);
        eventCount += direct.events.length;
      }),
      { seed: SEED, numRuns: 60 },
    );
    expect(eventCount).toBeGreaterThan(500);
  });

  it('lowerings: a trace of a program with every command, written down', async () => {
    const program: Program = [
      { do: 'spawn', isAsync: false, steps: [{ do: 'sleep', ms: 5 }] },
      { do: 'spawn', isAsync: true, steps: [{ do: 'compute', reductions: 1 }] },
      { do: 'compute', reductions: 150 },
      { do: 'query', child: 0 },
      { do: 'cancel', child: 0 },
      { do: 'settled', child: 0 },
      { do: 'cancel', child: 0 },
      { do: 'join', child: 1 },
    ];
    const direct = await runOn(RuntimeBus, 1, program);
    const generic = await runOn(GenericLowering, 1, program);
    expect(generic).toEqual(direct);
    // spawn, wait, yield, wake, resume, cancel, query, dispatch, preempt, complete
    const opcodes = new Set(direct.events.map(({ opcode }) => opcode));
    expect([1, 2, 3, 4, 5, 6, 7, 64, 65, 66].filter((opcode) => !opcodes.has(opcode))).toEqual([]);
    expect(direct.log).toEqual([
      '1: query 2 false',
      '1: cancel 2 true',
      '1: settled {"status":"cancelled","reason":"parent"}',
      '1: cancel 2 false',
      '1: joined async end',
      '{"status":"success","value":"end"}',
    ]);
  });

  it('lowerings: engines are registered and updated alike, and what is refused is refused alike', () => {
    for (const Bus of [RuntimeBus, GenericLowering]) {
      const makeBus = (port: SchedulerPort, rights: TaskRights) => new Bus(port, rights);
      const world = makeSeededWorld({ backend: 'node' }, 1, makeBus);
      const rt = new TestRuntime(world, 1, undefined);
      const { engines } = rt;
      expect(engines.register({ engineId: 'a', reductionLimit: 7 }).reductionLimit).toBe(7);
      expect(engines.update('a', { reductionLimit: 9 }).reductionLimit).toBe(9);
      const code = (expected: string) => expect.objectContaining({ code: expected });
      expect(() => engines.register({ engineId: 'a' })).toThrow(code('ERR_ENGINE_EXISTS'));
      expect(() => engines.update('b', {})).toThrow(code('ERR_ENGINE_UNKNOWN'));
      expect(() => rt.spawn(1 as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
      world.io.close();
    }
  });
});
