// Semaphore: the bound, turns (large requests too), cancelling in every state, releasing too much,
// bad input; random steps against a model. Not here: what waits have in common.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../lib/base/operation.ts';
import { Prng } from '../../../lib/base/prng.ts';
import { semaphore } from '../../../lib/sync/semaphore.ts';
import { describeSeed, SEED } from '../../support/seed.ts';
import { outcomeOf, standAt, turn, watch } from './watch.ts';

const failsWith = (code: string): unknown => expect.objectContaining({ code });

describe('semaphore', () => {
  it('never more inside than there are permits, and as many as that', async () => {
    const subject = semaphore(3);
    let insideCount = 0;
    let mostInside = 0;
    const section = async (): Promise<void> => {
      await subject.acquire();
      mostInside = Math.max(mostInside, ++insideCount);
      await turn();
      insideCount--;
      subject.release();
    };
    await Promise.all(Array.from({ length: 100 }, section));
    expect(mostInside).toBe(3);
    expect([subject.available, subject.waitingCount]).toEqual([3, 0]);
  });

  it('one that asks for many is not passed by those who ask for few', async () => {
    const subject = semaphore(4);
    await subject.acquire(2);
    const large = subject.acquire(4);
    const small = subject.acquire(1);
    expect([large.isSettled, small.isSettled, subject.tryAcquire(1)]).toEqual([
      false,
      false,
      false,
    ]);
    expect([subject.available, subject.waitingCount]).toEqual([2, 2]);
    subject.release(2);
    expect([large.isSettled, small.isSettled]).toEqual([true, false]);
    subject.release(4);
    await small;
    expect(subject.available).toBe(3);
  });

  it('a large one gets its turn while small ones come and go without end', async () => {
    const subject = semaphore(2);
    let isLargeServed = false;
    let servedBefore = 0;
    const churn = async (): Promise<void> => {
      while (!isLargeServed) {
        await subject.acquire();
        servedBefore++;
        await turn();
        subject.release();
      }
    };
    const small = Array.from({ length: 4 }, churn);
    await turn();
    const aheadCount = subject.waitingCount;
    servedBefore = 0;
    await subject.acquire(2);
    isLargeServed = true;
    expect(servedBefore).toBeLessThanOrEqual(aheadCount);
    subject.release(2);
    await Promise.all(small);
    expect(subject.available).toBe(2);
  });

  it('cancel: those behind the one that leaves go on at once', async () => {
    const subject = semaphore(3);
    await subject.acquire(2);
    const large = subject.acquire(3);
    const [one, other] = [subject.acquire(1), subject.acquire(1)];
    large.cancel('reason');
    await expect(large).rejects.toMatchObject({ code: 'ABORT_ERR', cause: 'reason' });
    expect([one.isSettled, other.isSettled]).toEqual([true, false]);
    one.cancel();
    await one;
    expect(subject.available).toBe(0);
    subject.release(3);
    await other;
    expect(subject.available).toBe(2);
  });

  it('a task cancelled between grant and next step gives its permits back', async () => {
    const subject = semaphore(2);
    await subject.acquire(2);
    const granted = subject.acquire(2);
    const standing = standAt(granted);
    const next = subject.acquire(1);
    subject.release(2);
    granted.cancel();
    expect([granted.isSettled, next.isSettled]).toEqual([true, false]);
    standing.leave();
    await next;
    expect(subject.available).toBe(1);
  });

  it('releasing more than is held is an error and changes nothing', async () => {
    const subject = semaphore(3);
    expect(() => subject.release()).toThrow(failsWith('ERR_OUT_OF_RANGE'));
    await subject.acquire(2);
    expect(() => subject.release(3)).toThrow(/<= 2, the permits that are held\. Received 3/);
    expect(subject.available).toBe(1);
    subject.release(2);
    expect(subject.available).toBe(3);
  });

  it('bad input, at the call', async () => {
    for (const permits of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
      expect(() => semaphore(permits)).toThrow(failsWith('ERR_OUT_OF_RANGE'));
    }
    expect(() => semaphore('2' as unknown as number)).toThrow(failsWith('ERR_INVALID_ARG_TYPE'));
    const subject = semaphore(2);
    for (const count of [0, -1, 1.5, Number.NaN, 3]) {
      await expect(subject.acquire(count)).rejects.toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
      expect(() => subject.tryAcquire(count)).toThrow(failsWith('ERR_OUT_OF_RANGE'));
      expect(() => subject.release(count)).toThrow(failsWith('ERR_OUT_OF_RANGE'));
    }
    const text = '1' as unknown as number;
    await expect(subject.acquire(text)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    expect(() => subject.release(text)).toThrow(failsWith('ERR_INVALID_ARG_TYPE'));
    expect([subject.available, subject.waitingCount]).toEqual([2, 0]);
  });

  it('says what it waits for', () => {
    const subject = semaphore(2);
    expect(watch(subject.acquire()).describeWait()).toBe('semaphore');
    expect(watch(subject.acquire(2)).describeWait()).toBe('semaphore (2 permits)');
  });
});

interface Asked {
  operation: Operation<void>;
  leave: () => void;
  count: number;
  state: 'waiting' | 'holding' | 'gone';
  expected: unknown;
}

// The model: a queue, a number, and who holds what.
class Checked {
  readonly #permits: number;
  readonly #subject: ReturnType<typeof semaphore>;
  readonly #all: Asked[] = [];
  #queue: Asked[] = [];
  #available: number;

  constructor(permits: number) {
    this.#permits = permits;
    this.#available = permits;
    this.#subject = semaphore(permits);
  }

  get size(): number {
    return this.#all.length;
  }

  ask(at: number): void {
    const count = 1 + (at % this.#permits);
    const operation = watch(this.#subject.acquire(count));
    const { leave } = standAt(operation);
    const asked: Asked = { operation, leave, count, state: 'waiting', expected: 'pending' };
    this.#all.push(asked);
    this.#queue.push(asked);
    this.#grant();
  }

  /** Takes at once what it could get, and gives it back. */
  try(at: number): void {
    const count = 1 + (at % this.#permits);
    const isFree = this.#queue.length === 0 && count <= this.#available;
    expect(this.#subject.tryAcquire(count)).toBe(isFree);
    if (isFree) this.#subject.release(count);
  }

  release(at: number): void {
    const asked = this.#all[at % this.size] as Asked;
    if (asked.state !== 'holding') return;
    this.#subject.release(asked.count);
    this.#giveBack(asked);
  }

  cancel(at: number, isLeft: boolean): void {
    const asked = this.#all[at % this.size] as Asked;
    asked.operation.cancel();
    if (asked.state === 'waiting') {
      asked.state = 'gone';
      asked.expected = 'ABORT_ERR';
      this.#queue = this.#queue.filter((one) => one !== asked);
      this.#grant();
    }
    // Only while it stands there: a body that has released is elsewhere.
    if (!isLeft || asked.state !== 'holding') return;
    asked.leave();
    this.#giveBack(asked);
  }

  check(): void {
    expect(this.#subject.available).toBe(this.#available);
    expect(this.#subject.waitingCount).toBe(this.#queue.length);
    for (const { operation, expected } of this.#all) {
      expect(outcomeOf(operation)).toEqual(expected);
    }
  }

  finish(): void {
    for (let index = 0; index < this.size; index++) this.release(index);
    this.check();
    expect([this.#available, this.#queue.length]).toEqual([this.#permits, 0]);
  }

  #giveBack(asked: Asked): void {
    asked.state = 'gone';
    this.#available += asked.count;
    this.#grant();
  }

  #grant(): void {
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      if (head.count > this.#available) return;
      this.#queue.shift();
      this.#available -= head.count;
      head.state = 'holding';
      head.expected = { value: undefined };
    }
  }
}

const KINDS = ['ask', 'try', 'release', 'cancel', 'leave'] as const;

function step(checked: Checked, kind: (typeof KINDS)[number], at: number): void {
  if (kind === 'try') checked.try(at);
  else if (kind === 'ask' || checked.size === 0) checked.ask(at);
  else if (kind === 'release') checked.release(at);
  else checked.cancel(at, kind === 'leave');
}

describe('semaphore against a model', () => {
  it('random steps, shrunk when they fail', () => {
    const one = fc.record({ kind: fc.constantFrom(...KINDS), at: fc.nat() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(one, { maxLength: 60 }), (n, steps) => {
        const checked = new Checked(n);
        for (const { kind, at } of steps) {
          step(checked, kind, at);
          checked.check();
        }
        checked.finish();
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('200,000 steps, most of them cancels and releases', () => {
    const random = new Prng(SEED);
    for (let round = 0; round < 400; round++) {
      const checked = new Checked(1 + random.nextBelow(8));
      for (let count = 0; count < 500; count++) {
        step(checked, KINDS[random.nextBelow(5)] ?? 'ask', random.nextWord());
      }
      try {
        checked.finish();
      } catch (error) {
        throw new Error(`round ${round}, ${describeSeed}`, { cause: error });
      }
    }
  });
});
