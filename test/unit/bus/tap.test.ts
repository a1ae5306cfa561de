// The tap: what listeners may do while they are called (throw, end themselves and others, listen
// anew, issue commands), and that none of it reaches the run.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TapEvent } from '../../../lib/bus/tap.ts';
import { sleep } from '../../../lib/index.ts';
import { createTestRuntime, type TestRuntime } from '../../../lib/testing.ts';

let rt: TestRuntime;
beforeEach(() => {
  rt = createTestRuntime({ seed: 5, backend: 'node', autoAdvance: true });
});
afterEach(() => rt.close());

const run = () =>
  rt.run(function* worker() {
    yield* sleep(3);
    return 'done';
  });

describe('tap', () => {
  it('tap: events are numbered without gaps and name commands, tasks and details', async () => {
    const events: TapEvent[] = [];
    rt.bus.tap((event) => events.push(event));
    await run();
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1));
    expect(events.map(({ command, taskId, detail }) => [command, taskId, detail])).toEqual([
      ['spawn', 1, { name: 'worker' }],
      ['dispatch', 1, { name: 'worker' }],
      ['wait', 1, 'sleep 3 ms'],
      ['park', 0, undefined],
      ['wake', 1, undefined],
      ['expire', 0, 1],
      ['dispatch', 1, { name: 'worker' }],
      ['complete', 1, undefined],
      ['park', 0, undefined],
    ]);
    const times = events.map(({ atMs }) => atMs);
    expect([times[0], times.at(-1)]).toEqual([0, 3]);
  });

  it('tap: a listener that throws is an uncaught exception, and the run goes on', async () => {
    const errors: unknown[] = [];
    const seen: string[] = [];
    const former = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => errors.push(error));
    try {
      const end = rt.bus.tap(({ command }) => {
        throw new Error(`at ${command}`);
      });
      rt.bus.tap(({ command }) => seen.push(command));
      expect(await run()).toBe('done');
      await new Promise(setImmediate);
      end();
      expect(errors.map((error) => (error as Error).message)).toEqual(
        seen.map((command) => `at ${command}`),
      );
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of former) process.on('uncaughtException', listener);
    }
  });

  it('tap: a listener may end itself and others, and start new ones, while it is called', async () => {
    const calls: string[] = [];
    const ends = new Map<string, () => void>();
    const listen = (name: string, then: () => void): void => {
      const end = rt.bus.tap(() => {
        calls.push(name);
        then();
      });
      ends.set(name, end);
    };
    listen('once', () => {
      ends.get('once')?.();
      ends.get('other')?.();
      listen('new', () => ends.get('new')?.());
    });
    listen('other', () => {});
    listen('all', () => {});
    await run();
    expect(calls.filter((name) => name === 'once')).toHaveLength(1);
    expect(calls).not.toContain('other');
    expect(calls.filter((name) => name === 'new')).toHaveLength(1);
    expect(calls.filter((name) => name === 'all')).toHaveLength(9);
  });

  it('tap: one function given twice is two listeners; ending twice is a no-op', async () => {
    let count = 0;
    const listener = (): void => {
      count++;
    };
    const [first, second] = [rt.bus.tap(listener), rt.bus.tap(listener)];
    first();
    first();
    await run();
    expect(count).toBe(9);
    second();
    await run();
    expect(count).toBe(9);
  });

  it('tap: a listener may issue commands; they are events in their turn', async () => {
    const commands: string[] = [];
    let isDone = false;
    rt.bus.tap(({ command, taskId }) => {
      commands.push(`${command} ${taskId}`);
      if (command !== 'wait' || isDone) return;
      isDone = true;
      rt.spawn(function* second() {
        yield* sleep(1);
      });
    });
    await run();
    await rt.close();
    expect(commands).toContain('spawn 2');
    expect(commands).toContain('complete 2');
  });

  it('tap: nobody listens, nothing is numbered', async () => {
    await run();
    const events: TapEvent[] = [];
    rt.bus.tap((event) => events.push(event));
    await run();
    expect(events[0]).toMatchObject({ sequence: 1, command: 'spawn', taskId: 2 });
  });
});
