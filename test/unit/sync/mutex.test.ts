// Mutex: one holder, in turn; releasing twice; cancelling in every state; random steps against a
// model. Not here: what waits have in common (wait_operation.test.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../lib/base/operation.ts';
import { Prng } from '../../../lib/base/prng.ts';
import { type Lock, mutex } from '../../../lib/sync/mutex.ts';
import { describeSeed, SEED } from '../../support/seed.ts';
import { outcomeOf, standAt, turn, watch } from './watch.ts';

const heldBy = (operation: Operation<Lock>): Lock => operation.settledValue as Lock;

describe('mutex', () => {
  it('sections never overlap and run in the order of asking', async () => {
    const subject = mutex();
    const order: number[] = [];
    let insideCount = 0;
    const section = async (name: number): Promise<void> => {
      const lock = await subject.lock();
      try {
        expect(++insideCount).toBe(1);
        await turn();
        order.push(name);
        insideCount--;
      } finally {
        lock.release();
      }
    };
    await Promise.all(Array.from({ length: 200 }, (_, name) => section(name)));
    expect(order).toEqual(Array.from({ length: 200 }, (_, name) => name));
    expect([subject.isLocked, subject.waitingCount]).toEqual([false, 0]);
  });

  it('nobody passes: released, it belongs to the first who waits before anybody can ask', async () => {
    const subject = mutex();
    const lock = await subject.lock();
    const waiting = subject.lock();
    lock.release();
    expect(waiting.isSettled).toBe(true);
    expect(subject.isLocked).toBe(true);
    expect(subject.tryLock()).toBe(undefined);
    (await waiting).release();
    const tried = subject.tryLock();
    expect(subject.isLocked).toBe(true);
    tried?.release();
    expect(subject.isLocked).toBe(false);
  });

  it('release twice is an error and lets nobody else in; disposing afterwards is not', async () => {
    const subject = mutex();
    const lock = await subject.lock();
    const second = subject.lock();
    const third = subject.lock();
    lock.release();
    expect(lock.isReleased).toBe(true);
    expect(() => lock.release()).toThrow(expect.objectContaining({ code: 'ERR_INVALID_STATE' }));
    lock[Symbol.dispose]();
    expect(third.isSettled).toBe(false);
    (await second)[Symbol.dispose]();
    expect(third.isSettled).toBe(true);
    (await third).release();
    expect(subject.isLocked).toBe(false);
  });

  it('using: released at the end of the block, also when it throws', async () => {
    const subject = mutex();
    const failing = async (): Promise<void> => {
      using lock = await subject.lock();
      expect(lock.isReleased).toBe(false);
      throw new Error('inside');
    };
    await expect(failing()).rejects.toThrow('inside');
    expect(subject.isLocked).toBe(false);
  });

  it('cancel: one that waits leaves, one that holds keeps its lock', async () => {
    const subject = mutex();
    const [first, second, third] = [subject.lock(), subject.lock(), subject.lock()];
    second.cancel('reason');
    expect(subject.waitingCount).toBe(1);
    await expect(second).rejects.toMatchObject({ code: 'ABORT_ERR', cause: 'reason' });
    first.cancel();
    const lock = await first;
    expect([lock.isReleased, third.isSettled]).toEqual([false, false]);
    lock.release();
    third.cancel();
    (await third).release();
    expect(subject.isLocked).toBe(false);
  });

  it('a task cancelled between grant and next step does not keep the mutex', async () => {
    const subject = mutex();
    const lock = await subject.lock();
    const granted = subject.lock();
    const standing = standAt(granted);
    const next = subject.lock();
    lock.release();
    granted.cancel();
    expect(next.isSettled).toBe(false);
    standing.leave();
    expect(heldBy(granted).isReleased).toBe(true);
    (await next).release();
    expect(subject.isLocked).toBe(false);
  });

  it('says what it waits for', async () => {
    expect(watch(mutex().lock()).describeWait()).toBe('mutex');
  });
});

interface Asked {
  operation: Operation<Lock>;
  leave: () => void;
  expected: unknown;
}

// The model: who holds, who waits.
class Checked {
  readonly #subject = mutex();
  readonly #all: Asked[] = [];
  #queue: number[] = [];

  get size(): number {
    return this.#all.length;
  }

  ask(): void {
    const operation = watch(this.#subject.lock());
    const { leave } = standAt(operation);
    this.#queue.push(this.#all.length);
    this.#all.push({ operation, leave, expected: 'pending' });
    this.#grant();
  }

  release(at: number): void {
    const holder = this.#queue[0];
    const lock = heldBy((this.#all[at] as Asked).operation);
    if (holder !== at) {
      if (typeof lock?.release === 'function') expect(() => lock.release()).toThrow('before');
      return;
    }
    lock.release();
    this.#queue.shift();
    this.#grant();
  }

  cancel(at: number, isLeft: boolean): void {
    const one = this.#all[at] as Asked;
    one.operation.cancel();
    if (one.expected === 'pending') {
      one.expected = 'ABORT_ERR';
      this.#queue = this.#queue.filter((name) => name !== at);
    }
    if (!isLeft) return;
    one.leave();
    if (this.#queue[0] !== at) return;
    this.#queue.shift();
    this.#grant();
  }

  #grant(): void {
    const holder = this.#all[this.#queue[0] ?? -1];
    if (holder !== undefined) holder.expected = 'granted';
  }

  check(): void {
    expect(this.#subject.isLocked).toBe(this.#queue.length > 0);
    expect(this.#subject.waitingCount).toBe(Math.max(0, this.#queue.length - 1));
    for (const { operation, expected } of this.#all) {
      const outcome = outcomeOf(operation);
      expect(typeof outcome === 'object' ? 'granted' : outcome).toBe(expected);
    }
  }

  finish(): void {
    while (this.#queue.length > 0) this.release(this.#queue[0] as number);
    this.check();
  }
}

describe('mutex against a model', () => {
  it('random steps, shrunk when they fail', () => {
    const kind = fc.constantFrom('ask', 'release', 'cancel', 'leave');
    fc.assert(
      fc.property(fc.array(fc.record({ kind, at: fc.nat() }), { maxLength: 60 }), (steps) => {
        const checked = new Checked();
        for (const { kind, at } of steps) {
          if (kind === 'ask') checked.ask();
          else if (checked.size > 0) {
            const chosen = at % checked.size;
            if (kind === 'release') checked.release(chosen);
            else checked.cancel(chosen, kind === 'leave');
          }
          checked.check();
        }
        checked.finish();
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('200,000 steps, half of them cancels', () => {
    const random = new Prng(SEED);
    for (let round = 0; round < 400; round++) {
      const checked = new Checked();
      for (let count = 0; count < 500; count++) {
        const kind = random.nextBelow(4);
        if (kind === 0 || checked.size === 0) checked.ask();
        else if (kind === 1) checked.release(random.nextBelow(checked.size));
        else checked.cancel(random.nextBelow(checked.size), kind === 2);
      }
      try {
        checked.finish();
      } catch (error) {
        throw new Error(`round ${round}, ${describeSeed}`, { cause: error });
      }
    }
  });
});
