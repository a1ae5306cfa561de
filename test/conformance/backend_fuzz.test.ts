// Backend conformance, garbage: random entries give exactly one completion each, and nothing else.
// Method: fast-check draws entries whose fields are anything; the seed is printed on failure and
// replays with NEPHRITE_SEED. What could hurt the machine is left out: descriptors are the test's
// own file or none, paths are relative names in the test's folder, allocations are small.
// Not here: garbage on the native ring reader alone (test/native).
import * as fs from 'node:fs';
import { constants } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as abi from '../../lib/abi/layout.ts';
import { describeBackends } from '../support/backend_cases.ts';
import { useBackend } from '../support/backend_harness.ts';
import type { EntryFields } from '../support/ring_driver.ts';
import { SEED } from '../support/seed.ts';

const SLOTS = 64;
// Half the slots: what a native poller may drop when the ring is full of refusals stays out of it.
const BATCH_MAX = 32;
const ERRNO_MIN = -4095;
const NAMES = 'one\0two\0\0three-is-longer\0';
const OWN_FD = Symbol('the file of the test');

const word = fc.oneof(
  fc.integer({ min: 0, max: 200 }),
  fc.integer({ min: 0, max: 0xffff_ffff }),
  fc.constantFrom(0, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff),
);
const longWord = fc.oneof(
  fc.bigInt({ min: -10n, max: 100_000n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);

const garbage = fc.record({
  opcode: fc.oneof({ weight: 9, arbitrary: fc.nat(abi.OP_COUNT) }, fc.nat(255)),
  flags: fc.oneof({ weight: 4, arbitrary: fc.nat(7) }, fc.nat(255)),
  arena: fc.oneof({ weight: 4, arbitrary: fc.nat(2) }, fc.nat(0xffff)),
  slot: fc.oneof({ weight: 9, arbitrary: fc.nat(SLOTS) }, word),
  generation: word,
  fd: fc.constantFrom(OWN_FD, -1, -(2 ** 31), 999_999, 2 ** 31 - 1),
  offset: longWord,
  bufferOffset: word,
  bufferBytes: word,
  pathOffset: fc.oneof({ weight: 4, arbitrary: fc.nat(NAMES.length) }, word),
  pathBytes: fc.oneof({ weight: 4, arbitrary: fc.nat(4) }, fc.nat(0xffff)),
  path2Bytes: fc.oneof({ weight: 4, arbitrary: fc.nat(4) }, fc.nat(0xffff)),
  pathArena: fc.oneof({ weight: 4, arbitrary: fc.nat(1) }, fc.nat(0xffff)),
  argument0: word,
  argument1: word,
  value0: longWord,
});
type Garbage = typeof garbage extends fc.Arbitrary<infer T> ? T : never;

/** What must not reach a kernel: the process's other descriptors, gigabytes of allocation. */
function harmless(entry: Garbage, ownFd: number): EntryFields {
  const { opcode } = entry;
  const fd = entry.fd === OWN_FD ? ownFd : Number(entry.fd);
  if (opcode === abi.OP_CLOSE && fd === ownFd) return { ...entry, fd: -1 };
  if (opcode === abi.OP_COPY_RANGE || opcode === abi.OP_CLONE) {
    return { ...entry, fd, argument0: 0xffff_ffff };
  }
  if (opcode === abi.OP_ALLOCATE) {
    return { ...entry, fd, offset: entry.offset % 4096n, value0: entry.value0 % 4096n };
  }
  return { ...entry, fd };
}

describeBackends('backend fuzz', (backend) => {
  const harness = useBackend(backend, { ringEntries: 32, slotCapacity: SLOTS });
  const folderBefore = process.cwd();
  beforeEach(() => process.chdir(harness.folder));
  afterEach(() => process.chdir(folderBefore));

  it('garbage entries: one completion each, no throw, and the backend still works', async () => {
    const { driver, ring } = harness;
    const names = driver.region(64 * 1024);
    names.bytes.set(Buffer.from(NAMES));
    expect(names.arena).toBe(1);
    const ownFd = await ring.open('own', constants.O_RDWR | constants.O_CREAT);
    const runs = fc.asyncProperty(fc.array(garbage, { maxLength: BATCH_MAX }), async (entries) => {
      driver.strays.length = 0;
      for (const entry of entries) driver.push(harmless(entry, ownFd));
      driver.enter();
      const completions = await driver.strayCompletions(entries.length);
      const key = ({ slot = 0, generation = 0 }: EntryFields) => `${slot}:${generation}`;
      expect(completions.map((each) => key({ opcode: 0, ...each })).sort()).toEqual(
        entries.map((each) => key(harmless(each, ownFd))).sort(),
      );
      for (const { result } of completions) expect(result).toBeGreaterThanOrEqual(ERRNO_MIN);
      expect(driver.inFlightCount).toBe(0);
    });
    await fc.assert(runs, { seed: SEED, numRuns: 150, endOnFailure: true });
    expect(await ring.write(ownFd, 'still here', 0)).toBe(10);
    expect(fs.readFileSync('own', 'utf8').slice(0, 10)).toBe('still here');
    expect(await ring.close(ownFd)).toBe(0);
  });

  it('garbage in the cursors: reported, and over when they are right again', async () => {
    const { driver, ring } = harness;
    const { words } = driver.backend.memory;
    const tailAt = abi.HEADER_SUBMISSION_TAIL_INDEX;
    const tail = words[tailAt];
    const cursors = fc.property(fc.integer({ min: 33, max: 0xffff_ffff }), (distance) => {
      words[tailAt] = (tail + distance) >>> 0;
      driver.enter();
      expect(driver.status & abi.STATUS_CORRUPT).not.toBe(0);
    });
    fc.assert(cursors, { seed: SEED, numRuns: 100 });
    words[tailAt] = tail;
    expect(await ring.nop()).toBe(0);
    expect(driver.counter(abi.HEADER_SUBMISSION_COUNT_INDEX)).toBe(1);
  });
});
