// Replay of random programs: recorded on the real runtime, in real time, and let happen again with
// an equal trace and equal results.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Recording } from '../../../lib/bus/recording.ts';
import { Runtime } from '../../../lib/index.ts';
import { createTestRuntime, recordRun } from '../../../lib/testing.ts';
import { SEED } from '../../support/seed.ts';
import { isReplayable, PROGRAM_ENGINE, programs, runProgram } from '../../support/task_programs.ts';

const withoutSource = ({ events }: Recording) => events.map(({ source, ...event }) => event);

describe('replay', () => {
  it('replay: programs of the real runtime happen again, event by event', async () => {
    let eventCount = 0;
    await fc.assert(
      fc.asyncProperty(programs.filter(isReplayable), async (program) => {
        const real = await Runtime.start({ engines: [PROGRAM_ENGINE] });
        const recorder = recordRun(real);
        const log = await runProgram(real, program);
        const recording = JSON.parse(JSON.stringify(recorder.stop())) as Recording;
        const rt = createTestRuntime({
          replay: recording,
          engines: [PROGRAM_ENGINE],
          backend: 'node',
        });
        const again = recordRun(rt);
        expect(await runProgram(rt, program)).toEqual(log);
        expect(withoutSource(again.stop())).toEqual(withoutSource(recording));
        eventCount += recording.events.length;
      }),
      { seed: SEED, numRuns: 40 },
    );
    expect(eventCount).toBeGreaterThan(300);
  });

  it('replay: programs of a test runtime happen again by their seed, and are compared', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), programs, async (seed, program) => {
        const options = { engines: [PROGRAM_ENGINE], backend: 'node' as const };
        const first = createTestRuntime({ ...options, seed, autoAdvance: true });
        const recorder = recordRun(first);
        const log = await runProgram(first, program);
        const recording = JSON.parse(JSON.stringify(recorder.stop())) as Recording;
        const rt = createTestRuntime({ ...options, replay: recording });
        const again = recordRun(rt);
        expect(rt.seed).toBe(seed);
        expect(await runProgram(rt, program)).toEqual(log);
        expect(again.stop().events).toEqual(recording.events);
      }),
      { seed: SEED, numRuns: 20 },
    );
  });
});
