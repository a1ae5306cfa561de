// The simulated backend's own promises: the same seed gives the same run whatever lies below it,
// injected faults have no effect, time is virtual, a trace replays.
// Method: one scripted workload, run over node:fs, over node:fs with random wake-ups, and over the
// native backends; only descriptor numbers may differ. The seed is in the titles.
// Not here: what every backend must do (the other backend_* files run over this one too).
import * as fs from 'node:fs';
import { constants } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import * as abi from '../../lib/abi/layout.ts';
import { createNodeBackend } from '../../lib/backend/node/node_backend.ts';
import type { SimulatedFaults } from '../../lib/backend/simulated/fault_plan.ts';
import { errnoOf } from '../../lib/base/errno.ts';
import { Prng } from '../../lib/base/prng.ts';
import { describeBackends } from '../support/backend_cases.ts';
import type { CreateBackend } from '../support/ring_driver.ts';
import { describeSeed, SEED } from '../support/seed.ts';
import { inFolder, Simulation, type SimulationOptions } from '../support/simulation.ts';

const { O_RDWR, O_CREAT } = constants;

/** Everything that a simulation can do, at once. */
const TROUBLE: SimulatedFaults = {
  errorChance: 0.15,
  shortReadChance: 0.3,
  shortWriteChance: 0.3,
};

/** node:fs whose completions are noticed some turns late, differently in each run. */
function jittery(stream: number): CreateBackend {
  const prng = new Prng(SEED, stream);
  return (options) =>
    createNodeBackend({
      ...options,
      onWake: async () => {
        for (let turns = prng.nextBelow(8); turns > 0; turns--) await nextTurn();
        options.onWake();
      },
    });
}

/** Conflicting operations on two files, started in batches; gives everything that can be seen. */
async function runWorkload(inner: CreateBackend, options: SimulationOptions) {
  return inFolder(async (folder) => {
    using simulation = new Simulation(inner, options);
    const { ring, driver } = simulation;
    const path = `${folder}/file`;
    fs.writeFileSync(path, 'x'.repeat(256));
    const fd = fs.openSync(path, 'r+');
    for (let batch = 0; batch < 5; batch++) {
      const region = driver.region(64);
      await Promise.all([
        ring.write(fd, `${batch}`.repeat(40), batch * 20),
        ring.write(fd, 'abcdefghij', batch * 20 + 5),
        ring.read(fd, region, 0).then((n) => ring.write(fd, region.bytes.subarray(0, n), 300)),
        ring.truncate(fd, 200 + batch * 40),
        ring.stat({ fd }).then(({ record }) => {
          const size = Number(record.getBigUint64(abi.STAT_SIZE_OFFSET, true));
          return ring.write(fd, `size ${size}`, 400 + batch * 10);
        }),
        ring.rename(`${folder}/a${batch}`, `${folder}/b${batch}`),
        ring.symlink('target', `${folder}/a${batch}`),
      ]);
    }
    fs.closeSync(fd);
    const names = fs.readdirSync(folder).sort();
    const content = fs.readFileSync(path, 'latin1');
    const { nowNs } = simulation.clock;
    return { log: driver.log, names, content, nowNs, trace: simulation.backend.trace() };
  });
}

describe(`simulated determinism (${describeSeed})`, () => {
  it('the timing of the backend below changes nothing', async () => {
    const expected = await runWorkload(createNodeBackend, { seed: SEED, faults: TROUBLE });
    expect(expected.log.length).toBeGreaterThan(35);
    for (let stream = 1; stream <= 5; stream++) {
      expect(await runWorkload(jittery(stream), { seed: SEED, faults: TROUBLE })).toEqual(expected);
    }
  });

  it('other seeds give other orders and other contents', async () => {
    const runs = [];
    for (let seed = 0; seed < 8; seed++) {
      runs.push(await runWorkload(createNodeBackend, { seed }));
    }
    const orders = runs.map(({ log }) => log.map(({ slot }) => slot).join());
    expect(new Set(orders).size).toBe(8);
    expect(new Set(runs.map(({ content }) => content)).size).toBeGreaterThan(1);
  });

  it('a trace replays the run under another seed, also after JSON', async () => {
    const first = await runWorkload(createNodeBackend, { seed: SEED, faults: TROUBLE });
    const replay = JSON.parse(JSON.stringify(first.trace));
    const again = await runWorkload(createNodeBackend, { seed: SEED + 1, replay });
    expect(again.trace.seed).toBe(SEED + 1);
    expect(again.trace.decisions).toEqual(first.trace.decisions);
    expect({ ...again, trace: null }).toEqual({ ...first, trace: null });
  });
});

describeBackends('simulated over another backend', (backend) => {
  it.skipIf(backend.name === 'simulated')(
    'gives the run that it gives over node (skip: itself)',
    async () => {
      const expected = await runWorkload(createNodeBackend, { seed: SEED, faults: TROUBLE });
      expect(await runWorkload(backend.create, { seed: SEED, faults: TROUBLE })).toEqual(expected);
    },
  );
});

describe(`simulated faults (${describeSeed})`, () => {
  const always = (errors: NonNullable<SimulatedFaults['errors']>) => ({
    seed: SEED,
    faults: { errorChance: 1, errors },
  });

  it('a failed open opens and creates nothing', async () => {
    await inFolder(async (folder) => {
      using simulation = new Simulation(createNodeBackend, always({ open: ['EMFILE'] }));
      const result = await simulation.ring.open(`${folder}/file`, O_RDWR | O_CREAT);
      expect(result).toBe(errnoOf('EMFILE'));
      expect(fs.readdirSync(folder)).toEqual([]);
    });
  });

  it('a failed close has closed all the same, and a failed write has written nothing', async () => {
    await inFolder(async (folder) => {
      const faults = always({ close: ['EIO'], write: ['ENOSPC', 'EDQUOT'] });
      using simulation = new Simulation(createNodeBackend, faults);
      const fd = await simulation.ring.open(`${folder}/file`, O_RDWR | O_CREAT);
      const written = await simulation.ring.write(fd, 'content');
      expect([errnoOf('ENOSPC'), errnoOf('EDQUOT')]).toContain(written);
      expect(fs.fstatSync(fd).size).toBe(0);
      expect(await simulation.ring.close(fd)).toBe(errnoOf('EIO'));
      expect(() => fs.fstatSync(fd)).toThrow('EBADF');
    });
  });

  it('short reads and writes move at least one byte, and the right ones', async () => {
    await inFolder(async (folder) => {
      const faults = { shortReadChance: 1, shortWriteChance: 1 };
      using simulation = new Simulation(createNodeBackend, { seed: SEED, faults });
      const { ring, driver } = simulation;
      const fd = await ring.open(`${folder}/file`, O_RDWR | O_CREAT);
      const data = 'abcdefghijklmnopqrstuvwxyz';
      for (let at = 0; at < data.length - 1; ) {
        const count = await ring.write(fd, data.slice(at), at);
        expect(count).toBeGreaterThan(0);
        expect(count).toBeLessThan(data.length - at);
        at += count;
      }
      expect(await ring.write(fd, 'z', 25)).toBe(1);
      const region = driver.region(26);
      const count = await ring.read(fd, region, 0);
      expect(count).toBeLessThan(26);
      expect(Buffer.from(region.bytes.subarray(0, count)).toString()).toBe(data.slice(0, count));
      expect(fs.readFileSync(`${folder}/file`, 'utf8')).toBe(data);
      expect(await ring.close(fd)).toBe(0);
    });
  });

  it('errors come as often as asked for', async () => {
    using simulation = new Simulation(createNodeBackend, {
      seed: SEED,
      faults: { errorChance: 0.25 },
    });
    let failed = 0;
    for (let round = 0; round < 100; round++) {
      const results = await Promise.all(
        Array.from({ length: 4 }, () => simulation.ring.stat({ path: '/' })),
      );
      failed += results.filter(({ result }) => result < 0).length;
    }
    expect(failed).toBeGreaterThan(50);
    expect(failed).toBeLessThan(150);
  });
});
