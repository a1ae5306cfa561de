// The simulated backend's time: delays cost no real time, a manual clock decides what may happen,
// what is delayed can be cancelled, and only until it has had its effect.
// Method: fixed delays, so that every instant is known. Not here: orders and faults
// (backend_simulated.test.ts), the clock alone (test/unit/backend/virtual_clock.test.ts).
import * as fs from 'node:fs';
import { constants } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import * as abi from '../../lib/abi/layout.ts';
import { createNodeBackend } from '../../lib/backend/node/node_backend.ts';
import { VirtualClock } from '../../lib/backend/simulated/virtual_clock.ts';
import { errnoOf } from '../../lib/base/errno.ts';
import { inFolder, Simulation } from '../support/simulation.ts';

const { O_RDWR, O_CREAT } = constants;
const DAY_NS = 24 * 3600 * 1e9;
const FIXED = { effectDelayNs: [100, 100], completionDelayNs: [50, 50] } as const;

function manual(): Simulation {
  const clock = new VirtualClock({ isAutomatic: false });
  return new Simulation(createNodeBackend, { seed: 1, faults: FIXED, clock });
}

/** Turns in which an automatic clock would long have moved. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}

describe('simulated time', () => {
  it('thirteen days pass at once', async () => {
    const faults = {
      effectDelayNs: [13 * DAY_NS, 13 * DAY_NS],
      completionDelayNs: [0, 0],
    } as const;
    using simulation = new Simulation(createNodeBackend, { seed: 1, faults });
    expect(await simulation.ring.nop()).toBe(0);
    expect(simulation.clock.nowNs).toBe(13 * DAY_NS);
  });

  it('a manual clock: effect and completion come at their times, not before', async () => {
    await inFolder(async (folder) => {
      using simulation = manual();
      const { clock, driver, ring } = simulation;
      const file = `${folder}/file`;
      const opened = ring.openFully(file, O_RDWR | O_CREAT);
      await someTurns();
      expect(fs.existsSync(file)).toBe(false);
      await clock.advance(99);
      expect(clock.nowNs).toBe(99);
      expect(fs.existsSync(file)).toBe(false);
      await clock.advance(1);
      expect(fs.existsSync(file)).toBe(true);
      await clock.advance(49);
      await someTurns();
      expect(driver.log).toEqual([]);
      await clock.advance(1);
      expect((await opened).result).toBeGreaterThan(2);
      expect(clock.nowNs).toBe(150);
    });
  });

  it('time stands still until completions are collected', async () => {
    using simulation = new Simulation(createNodeBackend, { seed: 1, faults: FIXED });
    const { clock, driver } = simulation;
    driver.collectsOnWake = false;
    const first = driver.start({ opcode: abi.OP_NOP });
    driver.enter();
    await someTurns();
    expect(clock.nowNs).toBe(150);
    const second = driver.start({ opcode: abi.OP_NOP });
    driver.enter(abi.ENTER_SUBMIT);
    await someTurns();
    expect(clock.nowNs).toBe(150);
    expect(driver.wakeCount).toBe(1);
    driver.collectsOnWake = true;
    driver.enter();
    expect((await first.done).result).toBe(0);
    expect((await second.done).result).toBe(0);
    expect(clock.nowNs).toBe(300);
  });

  it('a delayed operation can be cancelled, and has no effect then', async () => {
    await inFolder(async (folder) => {
      using simulation = manual();
      const { clock, driver, ring } = simulation;
      const fields = { opcode: abi.OP_MKDIR, ...ring.paths(`${folder}/new`), argument1: 0o777 };
      const target = driver.start(fields);
      driver.enter();
      await clock.advance(50);
      expect(await ring.cancel(target.slot, target.generation)).toBe(0);
      await clock.advance(50);
      expect((await target.done).result).toBe(errnoOf('ECANCELED'));
      await clock.advance(1000);
      expect(fs.readdirSync(folder)).toEqual([]);
    });
  });

  it('after its effect it cannot: EALREADY, and its own result', async () => {
    await inFolder(async (folder) => {
      using simulation = manual();
      const { clock, driver, ring } = simulation;
      const fields = { opcode: abi.OP_MKDIR, ...ring.paths(`${folder}/new`), argument1: 0o777 };
      const target = driver.start(fields);
      driver.enter();
      await clock.advance(120);
      expect(await ring.cancel(target.slot, target.generation)).toBe(errnoOf('EALREADY'));
      await clock.advance(30);
      expect((await target.done).result).toBe(0);
      expect(fs.readdirSync(folder)).toEqual(['new']);
    });
  });

  it('a close waits for delayed operations on its descriptor, or cancels them', async () => {
    await inFolder(async (folder) => {
      using simulation = new Simulation(createNodeBackend, { seed: 1, faults: FIXED });
      const { driver, ring } = simulation;
      for (const [cancels, expected] of [
        [0, 7],
        [1, errnoOf('ECANCELED')],
      ]) {
        const fd = fs.openSync(`${folder}/file-${cancels}`, 'w+');
        fs.writeSync(fd, 'content');
        const read = driver.start(ring.readFields(fd, driver.region(7), 0));
        const close = driver.start({ opcode: abi.OP_CLOSE, fd, argument0: cancels });
        driver.enter();
        expect((await read.done).result).toBe(expected);
        expect((await close.done).result).toBe(0);
        expect(() => fs.fstatSync(fd)).toThrow('EBADF');
      }
    });
  });

  it('closing with operations delayed: nothing of them happens', async () => {
    await inFolder(async (folder) => {
      const simulation = manual();
      const { clock, ring } = simulation;
      void ring.mkdir(`${folder}/new`);
      await clock.advance(50);
      simulation[Symbol.dispose]();
      await clock.advance(1000);
      expect(fs.readdirSync(folder)).toEqual([]);
    });
  });

  it('two simulations on one clock have one order of time', async () => {
    const clock = new VirtualClock();
    const slow = { effectDelayNs: [300, 300], completionDelayNs: [0, 0] } as const;
    const fast = { effectDelayNs: [200, 200], completionDelayNs: [0, 0] } as const;
    using first = new Simulation(createNodeBackend, { seed: 1, faults: slow, clock });
    using second = new Simulation(createNodeBackend, { seed: 2, faults: fast, clock });
    const order: string[] = [];
    const times: number[] = [];
    const run = async (name: string, { ring }: Simulation) => {
      expect(await ring.nop()).toBe(0);
      order.push(name);
      times.push(clock.nowNs);
    };
    await Promise.all([run('slow', first), run('fast', second)]);
    expect(order).toEqual(['fast', 'slow']);
    expect(times).toEqual([200, 300]);
  });
});
