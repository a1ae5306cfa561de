// Test runtimes: the same seed gives the same trace, byte for byte, also in another process; other
// seeds other orders; virtual time is exact; what spins stops neither the clock nor the process;
// I/O is real, and simulated for the whole thread while one is open.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as fs from '../../../lib/fs.ts';
import { backend, checkpoint, sleep, spawn, type Task } from '../../../lib/index.ts';
import { openedThread } from '../../../lib/io/current_thread.ts';
import { createTestRuntime, type TestOptions, type TestRuntime } from '../../../lib/testing.ts';
import { ChildLab } from '../../support/child.ts';
import { traceOf } from '../../support/programs/test_trace.ts';
import { SEED } from '../../support/seed.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nephrite-testing-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open: TestRuntime[] = [];
function make(options: TestOptions = {}): TestRuntime {
  const rt = createTestRuntime({ seed: SEED, backend: 'node', ...options });
  open.push(rt);
  return rt;
}
afterEach(async () => {
  for (const rt of open.splice(0)) await rt.close({ deadline: 0 });
});

const code = (expected: string) => expect.objectContaining({ code: expected });

/** The order in which tasks run that are all runnable at once. */
async function orderOf(seed: number, count: number): Promise<string> {
  const rt = make({ seed });
  const order: number[] = [];
  for (let at = 0; at < count; at++) {
    rt.spawn(async () => {
      order.push(at);
    });
  }
  await rt.clock.advance(0);
  return order.join('');
}

describe('createTestRuntime: determinism', () => {
  it('testing: the same seed gives the same trace, byte for byte; another one does not', async () => {
    const trace = await traceOf(7, folder);
    expect(await traceOf(7, folder)).toBe(trace);
    expect(await traceOf(8, folder)).not.toBe(trace);
    expect(trace).toMatch(/failed (EIO|ENOSPC|EDQUOT|ENOMEM|EMFILE|ENFILE)/);
    expect(trace.split('\n').length).toBeGreaterThan(150);
  });

  it('testing: the same seed gives the same trace in other processes', async () => {
    const lab = new ChildLab('test-trace');
    try {
      const traces: string[] = [];
      for (const name of ['a', 'b']) {
        const output = join(lab.folder, `${name}.trace`);
        const args = ['7', folder, output];
        const { stderr } = await lab.run('test_trace', { args });
        expect(stderr).toBe('');
        traces.push(readFileSync(output, 'utf8'));
      }
      expect(traces[1]).toBe(traces[0]);
      expect(traces[0]).toBe(await traceOf(7, folder));
    } finally {
      lab.remove();
    }
  });

  it('testing: every order of three tasks comes up, each again by its seed', async () => {
    const bySeed = new Map<number, string>();
    for (let seed = 0; seed < 60; seed++) bySeed.set(seed, await orderOf(seed, 3));
    expect([...new Set(bySeed.values())].sort()).toEqual([
      '012',
      '021',
      '102',
      '120',
      '201',
      '210',
    ]);
    for (const seed of [0, 17, 59]) expect(await orderOf(seed, 3)).toBe(bySeed.get(seed));
  });

  it('testing: without a seed there is a new one each time, to be read', () => {
    const seeds = [1, 2, 3].map(() => make({ seed: undefined }).seed);
    expect(new Set(seeds).size).toBe(3);
    expect(seeds.every(Number.isSafeInteger)).toBe(true);
  });

  it('testing: preemption is by reductions only, and exact', async () => {
    const rt = make({ engines: [{ engineId: 'short', reductionLimit: 10 }] });
    const preempted: unknown[] = [];
    rt.bus.tap(({ command, subcode, detail }) => {
      if (command === 'preempt') preempted.push([subcode, detail]);
    });
    await rt.with({ engine: 'short' }).run(function* () {
      for (let at = 0; at < 35; at++) {
        const endMs = performance.now() + 0.2;
        while (performance.now() < endMs);
        yield* checkpoint();
      }
    });
    expect(preempted).toEqual([
      [0, 10],
      [0, 20],
      [0, 30],
    ]);
    expect(rt.clock.now()).toBe(0);
  });
});

describe('createTestRuntime: time', () => {
  it('testing: time stands still until it is told to move, and timers fire at their time', async () => {
    const rt = make();
    const fired: [string, number][] = [];
    const sleeper = (name: string, ms: number) =>
      rt.spawn(function* () {
        yield* sleep(ms);
        fired.push([name, rt.clock.now()]);
      });
    sleeper('13 d', 13 * 86_400_000);
    sleeper('250 ms', 250);
    sleeper('0', 0);
    await rt.clock.advance(0);
    // Real time has no part in it.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([rt.clock.now(), fired]).toEqual([0, [['0', 0]]]);
    await rt.clock.advance(249);
    expect(fired).toHaveLength(1);
    await rt.clock.advance('1ms');
    expect(fired.at(-1)).toEqual(['250 ms', 250]);
    await rt.clock.advance('13d');
    expect(fired.at(-1)).toEqual(['13 d', 13 * 86_400_000]);
    expect(rt.clock.now()).toBe(13 * 86_400_000 + 250);
  });

  it('testing: 800 days and more are right to the millisecond', async () => {
    const rt = make();
    const times: number[] = [];
    const delays = [1, 2 ** 30, 2 ** 31, 2 ** 36, 800 * 86_400_000];
    for (const ms of delays) {
      rt.spawn(function* () {
        yield* sleep(ms);
        times.push(rt.clock.now());
      });
    }
    await rt.clock.advance('900d');
    const sorted = [...delays].sort((a, b) => a - b);
    expect(times).toHaveLength(5);
    for (const [at, ms] of sorted.entries()) {
      expect(times[at]).toBeGreaterThanOrEqual(ms);
      expect(times[at]).toBeLessThanOrEqual(ms + 1);
    }
  });

  it('testing: autoAdvance moves to the next timer when nothing else is under way', async () => {
    const rt = make({ autoAdvance: true });
    const value = await rt.run(function* () {
      yield* sleep(86_400_000);
      return rt.clock.now();
    });
    expect(value).toBe(86_400_000);
  });

  it('testing: advance() resolves when what runs at that time has run', async () => {
    const rt = make();
    let seen = '';
    void rt
      .run(function* () {
        yield* sleep(10);
        return yield* spawn(function* () {
          yield* sleep(0);
          return 'joined';
        }).join();
      })
      .then((value) => {
        seen = value;
      });
    await rt.clock.advance(11);
    expect(seen).toBe('joined');
  });

  it('testing: timeouts of I/O are on the virtual clock', async () => {
    const rt = make({ faults: { effectDelayNs: [50e6, 50e6] } });
    const path = join(folder, 'slow');
    writeFileSync(path, 'slow');
    const failed = rt.run(function* () {
      yield* fs.readFile(path, { timeout: 20 });
    });
    await expect(failed).rejects.toEqual(code('ERR_OPERATION_TIMEOUT'));
    expect(rt.clock.now()).toBeGreaterThanOrEqual(20);
    expect(rt.clock.now()).toBeLessThan(60);
    const read = rt.run(function* () {
      return yield* fs.readFile(path, { encoding: 'utf8', timeout: 2000 });
    });
    expect(await read).toBe('slow');
  });

  it('testing: tasks that spin stop neither the clock nor the event loop', async () => {
    const rt = make();
    let isOver = false;
    const path = join(folder, 'spin');
    writeFileSync(path, 'x');
    const spinner = rt.run(function* () {
      while (!isOver) yield* checkpoint(4000);
      return rt.clock.now();
    });
    const asyncSpinner = rt.run(async () => {
      while (!isOver) await checkpoint();
    });
    await rt.run(async () => {
      await fs.readFile(path);
      isOver = true;
    });
    expect(await spinner).toBeGreaterThan(0);
    await asyncSpinner;
  });

  it.each([
    ['13 d', 'ERR_INVALID_ARG_VALUE'],
    ['', 'ERR_INVALID_ARG_VALUE'],
    ['5', 'ERR_INVALID_ARG_VALUE'],
    ['-5s', 'ERR_INVALID_ARG_VALUE'],
    ['5S', 'ERR_INVALID_ARG_VALUE'],
    [-1, 'ERR_OUT_OF_RANGE'],
    [Number.NaN, 'ERR_OUT_OF_RANGE'],
    [Infinity, 'ERR_OUT_OF_RANGE'],
    ['99999999d', 'ERR_OUT_OF_RANGE'],
    [undefined, 'ERR_INVALID_ARG_TYPE'],
    [{}, 'ERR_INVALID_ARG_TYPE'],
  ])('testing: advance(%j) is refused at once', (duration, expected) => {
    const rt = make();
    expect(() => rt.clock.advance(duration as string)).toThrow(code(expected));
  });

  it.each([
    ['250ms', 250],
    ['1.5s', 1500],
    ['10m', 600_000],
    ['3h', 10_800_000],
    ['100us', 0.1],
    ['0ms', 0],
    [2.5, 2.5],
  ])('testing: advance(%j) is %d ms', async (duration, ms) => {
    const rt = make();
    await rt.clock.advance(duration);
    expect(rt.clock.now()).toBe(ms);
  });
});

describe('createTestRuntime: I/O and life', () => {
  it('testing: files really exist; I/O passes time by itself', async () => {
    const rt = make();
    const path = join(folder, 'real');
    await rt.run(function* () {
      yield* fs.writeFile(path, 'there');
    });
    expect(readFileSync(path, 'utf8')).toBe('there');
    expect(rt.clock.now()).toBeGreaterThan(0);
    expect(rt.clock.now()).toBeLessThan(1);
  });

  it('testing: faults come as the seed says, and as errors of the system', async () => {
    const rt = make({ seed: 3, faults: { errorChance: 1, errors: { write: ['ENOSPC'] } } });
    const write = rt.run(function* () {
      yield* fs.writeFile(join(folder, 'full'), 'x');
    });
    await expect(write).rejects.toMatchObject({ code: 'ENOSPC', syscall: 'write' });
  });

  it('testing: while it is open the whole thread is simulated, afterwards it is as before', async () => {
    const before = openedThread();
    const path = join(folder, 'outside');
    const rt = createTestRuntime({ seed: 1, backend: 'node' });
    expect([rt.backend.name, backend().name]).toEqual(['simulated', 'simulated']);
    await fs.writeFile(path, 'outside');
    expect(rt.clock.now()).toBeGreaterThan(0);
    const second = createTestRuntime({ seed: 2, backend: 'node' });
    await rt.close();
    expect(openedThread()).not.toBe(before);
    await rt.close();
    await second.close();
    expect(openedThread()).toBe(before);
    expect(existsSync(path)).toBe(true);
  });

  it('testing: two runtimes at once have a clock, an order and a poller each', async () => {
    const [a, b] = [make({ seed: 1 }), make({ seed: 2 })];
    const path = join(folder, 'both');
    writeFileSync(path, 'both');
    const body = function* () {
      yield* sleep(5);
      return (yield* fs.readFile(path, 'utf8')).length;
    };
    const [first, second] = [a.run(body), b.run(body)];
    await a.clock.advance(5);
    expect(await first).toBe(4);
    expect(b.clock.now()).toBe(0);
    await b.clock.advance(5);
    expect(await second).toBe(4);
  });

  it('testing: close() waits on virtual time, which then moves by itself', async () => {
    const rt = createTestRuntime({ seed: 1, backend: 'node' });
    const tasks: Task<void>[] = ['1h', '3h'].map((_, at) =>
      rt.spawn(function* () {
        yield* sleep((1 + at * 2) * 3_600_000);
      }),
    );
    const report = await rt.close({ deadline: 2 * 3_600_000 });
    expect(report).toEqual({ drained: 1, cancelled: 1, abandoned: [] });
    expect(tasks.map((task) => task.outcome?.status)).toEqual(['success', 'cancelled']);
    expect(() => rt.spawn(function* () {})).toThrow(code('ERR_RUNTIME_CLOSED'));
  });

  it('testing: unobserved failures are reported once', async () => {
    const rt = make();
    const reported: unknown[] = [];
    rt.onUnhandled((error) => reported.push((error as Error).message));
    rt.spawn(async () => {
      throw new Error('nobody');
    });
    await rt.clock.advance(1);
    expect(reported).toEqual(['nobody']);
  });

  it.each([
    [null, 'ERR_INVALID_ARG_TYPE'],
    [{ seed: '1' }, 'ERR_INVALID_ARG_TYPE'],
    [{ seed: 1.5 }, 'ERR_OUT_OF_RANGE'],
    [{ autoAdvance: 1 }, 'ERR_INVALID_ARG_TYPE'],
    [{ faults: { errorChance: 2 } }, 'ERR_OUT_OF_RANGE'],
    [{ faults: { effectDelayNs: [5, 1] } }, 'ERR_INVALID_ARG_VALUE'],
    [{ backend: 'kqueue' }, 'ERR_BACKEND_UNAVAILABLE'],
    [{ engines: [{}] }, 'ERR_INVALID_ARG_TYPE'],
    [{ engines: [{ engineId: 'default' }] }, 'ERR_ENGINE_EXISTS'],
  ])('testing: options %j are refused and leave nothing behind', (options, expected) => {
    const before = openedThread();
    expect(() => createTestRuntime(options as never)).toThrow(code(expected));
    expect(openedThread()).toBe(before);
  });
});
