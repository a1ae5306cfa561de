// Backend conformance, the rings: many operations in flight, slots and generations, refused
// entries, cursors that cannot be right. Method: raw entries through the driver.
// Not here: results of the opcodes (the other backend_* files), cancelling and closing
// (backend_lifecycle), garbage at random (backend_fuzz).
import * as fs from 'node:fs';
import { constants } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as abi from '../../lib/abi/layout.ts';
import { errnoOf } from '../../lib/base/errno.ts';
import { describeBackends } from '../support/backend_cases.ts';
import { useBackend } from '../support/backend_harness.ts';

const { O_RDWR, O_CREAT } = constants;
const EINVAL = errnoOf('EINVAL');
const EFAULT = errnoOf('EFAULT');
const SLOTS = 64;
const SMALL = { ringEntries: 32, slotCapacity: SLOTS } as const;

describeBackends('backend ring', (backend) => {
  const harness = useBackend(backend, SMALL);

  async function openFile(content: string): Promise<number> {
    fs.writeFileSync(harness.path('file'), content);
    return harness.ring.open(harness.path('file'), O_RDWR);
  }

  describe('many in flight', () => {
    it('as many as there are slots, each answered once with its own bytes', async () => {
      const fd = await openFile(
        Array.from({ length: SLOTS }, (_, n) => `block-${n} `.padEnd(16)).join(''),
      );
      const reads = Array.from({ length: SLOTS }, (_, index) => {
        const region = harness.driver.region(16);
        const { done } = harness.driver.start(harness.ring.readFields(fd, region, index * 16));
        return { index, region, done };
      });
      harness.driver.enter();
      for (const { index, region, done } of reads) {
        expect((await done).result).toBe(16);
        expect(Buffer.from(region.bytes).toString()).toBe(`block-${index} `.padEnd(16));
      }
      expect(harness.driver.strays).toEqual([]);
      expect(harness.driver.inFlightCount).toBe(0);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('a thousand operations over reused slots: no completion lost or repeated', async () => {
      const fd = await openFile('x'.repeat(64));
      let remaining = 1000;
      const chain = async (): Promise<void> => {
        const region = harness.driver.region(8);
        while (remaining > 0) {
          remaining--;
          expect(await harness.ring.read(fd, region, remaining % 60)).toBeGreaterThan(0);
        }
      };
      await Promise.all(Array.from({ length: 32 }, chain));
      expect(harness.driver.strays).toEqual([]);
      const pairs = harness.driver.log.map(({ slot, generation }) => `${slot}:${generation}`);
      expect(new Set(pairs).size).toBe(pairs.length);
      expect(pairs.length).toBe(1001); // with the open
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('counters count', async () => {
      const { driver, ring } = harness;
      expect(await ring.nop()).toBe(0);
      const fd = await openFile('x');
      expect(await ring.close(fd)).toBe(0);
      driver.push({ opcode: abi.OP_COUNT, slot: 0 });
      driver.enter();
      expect(driver.counter(abi.HEADER_SUBMISSION_COUNT_INDEX)).toBe(4);
      expect(driver.counter(abi.HEADER_COMPLETION_COUNT_INDEX)).toBe(4);
      expect(driver.counter(abi.HEADER_REJECTED_COUNT_INDEX)).toBe(1);
      expect(driver.counter(abi.HEADER_ENTER_COUNT_INDEX)).toBeGreaterThanOrEqual(4);
    });
  });

  describe('refused entries', () => {
    it('an unknown opcode, a slot that is not there, a slot in use: EINVAL', async () => {
      const { driver } = harness;
      const fd = await openFile('content');
      driver.push({ opcode: abi.OP_COUNT, slot: 3, generation: 7 });
      driver.push({ opcode: 255, slot: 4, generation: 8 });
      driver.push({ opcode: abi.OP_NOP, slot: SLOTS, generation: 9 });
      driver.push({ opcode: abi.OP_NOP, slot: 0xffff_ffff, generation: 10 });
      driver.enter();
      expect(await driver.strayCompletions(4)).toEqual([
        { slot: 3, generation: 7, result: EINVAL, flags: 0 },
        { slot: 4, generation: 8, result: EINVAL, flags: 0 },
        { slot: SLOTS, generation: 9, result: EINVAL, flags: 0 },
        { slot: 0xffff_ffff, generation: 10, result: EINVAL, flags: 0 },
      ]);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('a buffer that is not there: EFAULT; none where one is needed: EINVAL', async () => {
      const { ring, driver } = harness;
      const fd = await openFile('content');
      const region = driver.region(64);
      const entry = { ...ring.readFields(fd, region, 0) };
      const arenaBytes = 4 * 1024 * 1024;
      expect(await ring.result({ ...entry, arena: 999 })).toBe(EFAULT);
      expect(await ring.result({ ...entry, bufferOffset: arenaBytes - 10, bufferBytes: 11 })).toBe(
        EFAULT,
      );
      expect(await ring.result({ ...entry, bufferOffset: arenaBytes, bufferBytes: 1 })).toBe(
        EFAULT,
      );
      expect(
        await ring.result({ ...entry, bufferOffset: 0xffff_ffff, bufferBytes: 0xffff_ffff }),
      ).toBe(EFAULT);
      expect(
        await ring.result({ ...entry, arena: 0, bufferOffset: 0, bufferBytes: SLOTS * 1024 + 1 }),
      ).toBe(EFAULT);
      expect(await ring.result({ ...entry, flags: 0 })).toBe(EINVAL);
      expect(await ring.result({ ...entry, bufferOffset: arenaBytes - 10, bufferBytes: 10 })).toBe(
        7,
      );
      expect(await ring.close(fd)).toBe(0);
    });

    it('a released arena is gone for new entries', async () => {
      const { ring, driver } = harness;
      const fd = await openFile('content');
      const arena = driver.backend.addArena(4096);
      const entry = {
        opcode: abi.OP_READ,
        fd,
        flags: abi.ENTRY_HAS_BUFFER,
        arena: arena.id,
        bufferBytes: 7,
      };
      expect(await ring.result(entry)).toBe(7);
      expect(Buffer.from(arena.buffer, 0, 7).toString()).toBe('content');
      const { done } = driver.start(entry);
      driver.enter();
      driver.backend.releaseArena(arena.id);
      expect((await done).result).toBe(7);
      expect(await ring.result(entry)).toBe(EFAULT);
      expect(await ring.close(fd)).toBe(0);
    });

    it('paths: out of bounds, without a NUL, with one inside, too long, missing', async () => {
      const { ring, driver } = harness;
      const named = ring.paths('/tmp');
      const stat = { opcode: abi.OP_STAT, ...named };
      expect(await ring.result(stat)).toBe(0);
      expect(await ring.result({ ...stat, pathArena: 999 })).toBe(EFAULT);
      expect(await ring.result({ ...stat, pathOffset: 0xffff_fff0 })).toBe(EFAULT);
      expect(await ring.result({ ...stat, pathBytes: 3 })).toBe(EINVAL);
      expect(await ring.result({ ...stat, ...ring.paths('/tmp\0/x') })).toBe(EINVAL);
      expect(await ring.result({ ...stat, ...ring.paths('/tmp', 'a\0b') })).toBe(EINVAL);
      const tooLong = ring.paths('x'.repeat(abi.PATH_BYTES_MAX));
      expect(await ring.result({ ...stat, ...tooLong })).toBe(errnoOf('ENAMETOOLONG'));
      for (const opcode of [
        abi.OP_OPEN,
        abi.OP_RENAME,
        abi.OP_UNLINK,
        abi.OP_MKDIR,
        abi.OP_SYMLINK,
      ]) {
        expect(await ring.result({ opcode })).toBe(EINVAL);
      }
      expect(driver.strays).toEqual([]);
    });

    it("paths in the slot's own scratch", async () => {
      const { driver } = harness;
      const { memory } = driver.backend;
      const { slot, generation } = driver.takeSlot();
      const pathOffset = memory.scratchOffsetOf(slot) + abi.SCRATCH_PATH_OFFSET;
      memory.bytes.set(Buffer.from('/tmp\0\0'), memory.scratchOffset + pathOffset);
      driver.push({
        opcode: abi.OP_STAT,
        slot,
        generation,
        flags: abi.ENTRY_HAS_PATH,
        pathOffset,
        pathBytes: 4,
      });
      driver.enter();
      const [completion] = await driver.strayCompletions(1);
      expect(completion).toEqual({ slot, generation, result: 0, flags: 0 });
      const record = new DataView(
        memory.buffer,
        memory.scratchOffset + memory.scratchOffsetOf(slot),
      );
      expect(record.getUint16(abi.STAT_MODE_OFFSET, true)).toBe(fs.statSync('/tmp').mode);
    });

    it('a ring full of refusals: what follows is answered once', async () => {
      const { driver, ring } = harness;
      for (let round = 0; round < SLOTS / 32; round++) {
        for (let index = 0; index < 32; index++) {
          driver.push({ opcode: abi.OP_COUNT, slot: index, generation: 1000 + round });
        }
        driver.backend.enter(abi.ENTER_SUBMIT);
      }
      const nop = driver.start({ opcode: abi.OP_NOP });
      driver.backend.enter(abi.ENTER_SUBMIT);
      driver.enter();
      driver.enter();
      expect((await nop.done).result).toBe(0);
      expect(await ring.nop()).toBe(0);
      const pairs = driver.log.map(({ slot, generation }) => `${slot}:${generation}`);
      expect(new Set(pairs).size).toBe(pairs.length);
      expect(pairs.length).toBe(SLOTS + 2);
    });

    it('a tail that is out of range: STATUS_CORRUPT, nothing is taken', async () => {
      const { driver } = harness;
      const { words } = driver.backend.memory;
      const tail = words[abi.HEADER_SUBMISSION_TAIL_INDEX];
      words[abi.HEADER_SUBMISSION_TAIL_INDEX] = tail + SMALL.ringEntries * 4 + 1;
      driver.enter();
      expect(driver.status & abi.STATUS_CORRUPT).not.toBe(0);
      expect(driver.counter(abi.HEADER_SUBMISSION_COUNT_INDEX)).toBe(0);
      words[abi.HEADER_SUBMISSION_TAIL_INDEX] = tail;
      expect(await harness.ring.nop()).toBe(0);
      expect(driver.status & abi.STATUS_CORRUPT).toBe(0);
    });
  });

  describe('what only some backends can do', () => {
    it('COPY_RANGE, CLONE and ALLOCATE work or are ENOTSUP', async () => {
      const { ring } = harness;
      const from = await openFile('content');
      const to = await ring.open(harness.path('to'), O_RDWR | O_CREAT);
      const unsupported = [errnoOf('ENOTSUP'), errnoOf('EXDEV'), errnoOf('ENOTTY'), EINVAL];
      const copied = await ring.result({
        opcode: abi.OP_COPY_RANGE,
        fd: from,
        argument0: to,
        value0: 100,
      });
      const allocated = await ring.result({
        opcode: abi.OP_ALLOCATE,
        fd: to,
        offset: 0,
        value0: 8192,
      });
      const cloned = await ring.result({ opcode: abi.OP_CLONE, fd: from, argument0: to });
      if (backend.isNative) {
        expect(copied).toBe(7);
        expect(fs.readFileSync(harness.path('to'), 'utf8').slice(0, 7)).toBe('content');
        expect(allocated).toBe(0);
        expect(fs.statSync(harness.path('to')).size).toBe(8192);
        expect([0, ...unsupported]).toContain(cloned);
      } else {
        expect([copied, allocated, cloned]).toEqual(Array(3).fill(errnoOf('ENOTSUP')));
      }
      expect(await ring.close(from)).toBe(0);
      expect(await ring.close(to)).toBe(0);
    });
  });
});
