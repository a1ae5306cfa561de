// Backend conformance, life cycle: waking, cancelling, closing a descriptor and the backend.
// Method: what must wait is a read of an empty FIFO; its other end, held by the test, ends it.
// Not here: results of the opcodes (the other backend_* files).
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { constants } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import * as abi from '../../lib/abi/layout.ts';
import { errnoOf } from '../../lib/base/errno.ts';
import { describeBackends } from '../support/backend_cases.ts';
import { useBackend } from '../support/backend_harness.ts';
import { OFFSET_POSITION } from '../support/ring_operations.ts';

const { O_RDONLY, O_RDWR, O_CREAT } = constants;
const ECANCELED = errnoOf('ECANCELED');
const EALREADY = errnoOf('EALREADY');
const ENOENT = errnoOf('ENOENT');
const IS_LINUX = process.platform === 'linux';

describeBackends('backend life cycle', (backend) => {
  const harness = useBackend(backend, { ringEntries: 32, slotCapacity: 64 });

  async function openFile(content: string): Promise<number> {
    fs.writeFileSync(harness.path('file'), content);
    return harness.ring.open(harness.path('file'), O_RDWR);
  }

  /** Both ends of a FIFO in one descriptor: opening does not wait, reading does. */
  async function openFifo(): Promise<number> {
    execFileSync('mkfifo', [harness.path('fifo')]);
    return harness.ring.open(harness.path('fifo'), O_RDWR);
  }

  describe('waking', () => {
    it.runIf(IS_LINUX)('wake() calls onWake while an operation waits', async () => {
      const { driver, ring } = harness;
      const fd = await openFifo();
      const read = driver.start(ring.readFields(fd, driver.region(4), OFFSET_POSITION));
      driver.enter();
      for (let turn = 0; turn < 3; turn++) await nextTurn();
      const before = driver.wakeCount;
      driver.backend.wake();
      while (driver.wakeCount === before) await nextTurn();
      fs.writeSync(fd, 'data');
      expect((await read.done).result).toBe(4);
      expect(await ring.close(fd)).toBe(0);
    });

    it('completions that nobody collects are kept, and wake at most once each', async () => {
      const { driver, ring } = harness;
      const fd = await openFile('content');
      driver.collectsOnWake = false;
      const before = driver.wakeCount;
      const reads = Array.from({ length: 8 }, () =>
        driver.start(ring.readFields(fd, driver.region(8), 0)),
      );
      driver.enter(abi.ENTER_SUBMIT);
      while (driver.log.length < 9) {
        await nextTurn();
        driver.enter(abi.ENTER_COLLECT);
      }
      for (const { done } of reads) expect((await done).result).toBe(7);
      driver.collectsOnWake = true;
      expect(driver.wakeCount - before).toBeLessThanOrEqual(8);
      expect(await ring.close(fd)).toBe(0);
    });

    it('onWake comes from the event loop, never out of enter()', async () => {
      const { driver, ring } = harness;
      const fd = await openFile('content');
      for (let round = 0; round < 10; round++) {
        const before = driver.wakeCount;
        const read = driver.start(ring.readFields(fd, driver.region(8), 0));
        driver.enter();
        expect(driver.wakeCount).toBe(before);
        expect((await read.done).result).toBe(7);
      }
      expect(await ring.close(fd)).toBe(0);
    });
  });

  describe('cancel', () => {
    it('of nothing: ENOENT, also of another generation and of a slot out of range', async () => {
      const { driver, ring } = harness;
      expect(await ring.cancel(5, 1)).toBe(ENOENT);
      expect(await ring.cancel(0xffff_ffff, 1)).toBe(ENOENT);
      const fd = await openFile('content');
      const { slot, generation, done } = driver.start(ring.readFields(fd, driver.region(8), 0));
      expect(await ring.cancel(slot, generation + 1)).toBe(ENOENT);
      expect((await done).result).toBe(7);
      expect(await ring.cancel(slot, generation)).toBe(ENOENT);
      expect(await ring.close(fd)).toBe(0);
    });

    it('either stops the target (ECANCELED) or leaves it as if nothing was asked', async () => {
      const { driver, ring } = harness;
      const fd = await openFile('content');
      for (let round = 0; round < 20; round++) {
        const target = driver.start(ring.readFields(fd, driver.region(8), 0));
        const asked = await ring.cancel(target.slot, target.generation);
        const { result } = await target.done;
        expect([0, EALREADY, ENOENT]).toContain(asked);
        expect(asked === 0 ? [7, ECANCELED] : [7]).toContain(result);
      }
      expect(await ring.close(fd)).toBe(0);
    });

    it.runIf(IS_LINUX)('of a read that waits', async () => {
      const { driver, ring } = harness;
      const fd = await openFifo();
      const read = driver.start(ring.readFields(fd, driver.region(4), OFFSET_POSITION));
      const asked = await ring.cancel(read.slot, read.generation);
      // node:fs cannot stop what a thread of its pool has begun.
      expect(asked).toBe(backend.name === 'node' ? EALREADY : 0);
      if (backend.name === 'node') fs.writeSync(fd, 'data');
      expect((await read.done).result).toBe(backend.name === 'node' ? 4 : ECANCELED);
      expect(await ring.close(fd)).toBe(0);
    });

    it.runIf(IS_LINUX)('of a read that has begun to wait', async () => {
      const { driver, ring } = harness;
      const fd = await openFifo();
      const read = driver.start(ring.readFields(fd, driver.region(4), OFFSET_POSITION));
      driver.enter();
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      const asked = await ring.cancel(read.slot, read.generation);
      expect(asked).toBe(backend.isNative ? 0 : EALREADY);
      if (!backend.isNative) fs.writeSync(fd, 'data');
      expect((await read.done).result).toBe(backend.isNative ? ECANCELED : 4);
      expect(await ring.close(fd)).toBe(0);
    });
  });

  describe('close of a descriptor', () => {
    it('waits for what is pending on it', async () => {
      const { driver, ring } = harness;
      const fd = await openFile('x'.repeat(100_000));
      const reads = Array.from({ length: 12 }, () =>
        driver.start(ring.readFields(fd, driver.region(100_000), 0)),
      );
      const closed = driver.start({ opcode: abi.OP_CLOSE, fd });
      driver.enter();
      expect((await closed.done).result).toBe(0);
      for (const { done } of reads) expect((await done).result).toBe(100_000);
    });

    it.runIf(IS_LINUX)(
      'that cancels first: stops a waiting read, if that is possible',
      async () => {
        const { driver, ring } = harness;
        const fd = await openFifo();
        const peer = fs.openSync(harness.path('fifo'), O_RDWR);
        const read = driver.start(ring.readFields(fd, driver.region(4), OFFSET_POSITION));
        const closed = driver.start({ opcode: abi.OP_CLOSE, fd, argument0: 1 });
        driver.enter();
        if (backend.name === 'node') fs.writeSync(peer, 'data');
        expect((await closed.done).result).toBe(0);
        expect((await read.done).result).toBe(backend.name === 'node' ? 4 : ECANCELED);
        fs.closeSync(peer);
      },
    );
  });

  describe('close of the backend', () => {
    it('closes what was opened through it, also by an open that ends later', async () => {
      const { driver, ring } = harness;
      const path = harness.path('file');
      fs.writeFileSync(path, '');
      expect(await ring.open(path, O_RDONLY)).toBeGreaterThan(2);
      if (IS_LINUX) expect(descriptorsBelow(harness.folder)).toHaveLength(1);
      const open = { opcode: abi.OP_OPEN, ...ring.paths(path) };
      for (let index = 0; index < 8; index++) {
        driver.start({ ...open, argument0: O_RDONLY | O_CREAT, argument1: 0o600 });
      }
      driver.enter(abi.ENTER_SUBMIT);
      driver.backend.close();
      driver.backend.close();
      expect(driver.backend.enter(abi.ENTER_SUBMIT | abi.ENTER_COLLECT)).toBe(-1);
      while (IS_LINUX && descriptorsBelow(harness.folder).length > 0) await nextTurn();
    });

    it.runIf(IS_LINUX)('while a read waits', async () => {
      const { driver, ring } = harness;
      const fd = await openFifo();
      const peer = fs.openSync(harness.path('fifo'), O_RDWR);
      driver.start(ring.readFields(fd, driver.region(4), OFFSET_POSITION));
      driver.enter();
      for (let turn = 0; turn < 10; turn++) await nextTurn();
      driver.backend.close();
      // Only node:fs still waits; this ends it.
      fs.writeSync(peer, 'data');
      fs.closeSync(peer);
      while (descriptorsBelow(harness.folder).length > 0) await nextTurn();
    });

    it('without ever having been used', () => {
      harness.driver.backend.close();
      expect(harness.driver.wakeCount).toBe(0);
    });
  });
});

/** Links of this process's open descriptors that lead below `folder`. */
function descriptorsBelow(folder: string): string[] {
  return fs.readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = fs.readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      return []; // the descriptor of this very listing
    }
  });
}
