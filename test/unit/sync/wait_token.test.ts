// waitToken: one shot, any number of waits, cancelling one of them, failures that nobody waits for.
// Not here: queues and giving back (wait_operation.test.ts), tasks.
import { describe, expect, it } from 'vitest';
import { Prng } from '../../../lib/base/prng.ts';
import { waitToken } from '../../../lib/task/wait_token.ts';
import { describeSeed, SEED } from '../../support/seed.ts';
import { outcomeOf, turn, Watch, watch } from './watch.ts';

const failure = new Error('failed');

describe('wait token', () => {
  it('numbers are unique and never 0', () => {
    const tokens = Array.from({ length: 1000 }, () => waitToken().token);
    expect(new Set(tokens).size).toBe(1000);
    expect(Math.min(...tokens)).toBeGreaterThan(0);
  });

  it('wake: all that wait settle in order, later waits at once', async () => {
    const token = waitToken<number>();
    const order: string[] = [];
    const waits = ['a', 'b', 'c'].map((name) => token.wait().then((v) => order.push(name + v)));
    expect(token.waitingCount).toBe(3);
    expect(token.wake(7)).toBe(true);
    expect(token.isSettled).toBe(true);
    expect(token.waitingCount).toBe(0);
    await Promise.all(waits);
    expect(order).toEqual(['a7', 'b7', 'c7']);
    const late = token.wait();
    expect(late.isSettled).toBe(true);
    expect(await late).toBe(7);
  });

  it('the second wake or fail changes nothing and says so', async () => {
    const woken = waitToken<number>();
    expect([woken.wake(1), woken.wake(2), woken.fail(failure)]).toEqual([true, false, false]);
    expect(await woken.wait()).toBe(1);
    const failed = waitToken<number>();
    expect([failed.fail(failure), failed.fail(1), failed.wake(2)]).toEqual([true, false, false]);
    await expect(failed.wait()).rejects.toBe(failure);
  });

  it('cancel: the wait fails with the reason as cause, the others stay', async () => {
    const token = waitToken<number>();
    const [first, second] = [token.wait(), token.wait()];
    first.cancel('enough');
    expect(first.isSettled).toBe(true);
    await expect(first).rejects.toMatchObject({ code: 'ABORT_ERR', cause: 'enough' });
    expect(second.isSettled).toBe(false);
    token.wake(3);
    second.cancel('too late');
    first.cancel('twice');
    expect(await second).toBe(3);
  });

  it('a failure is reported when somebody has waited and not looked, not before', async () => {
    const reported: unknown[] = [];
    const listener = (reason: unknown): void => void reported.push(reason);
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', listener);
    try {
      const token = waitToken();
      token.fail(failure);
      await turn();
      expect(reported).toEqual([]);
      token.wait();
      await turn();
      expect(reported).toEqual([failure]);
    } finally {
      process.off('unhandledRejection', listener);
      for (const other of others) process.on('unhandledRejection', other);
    }
  });

  it('says what it waits for', () => {
    const token = waitToken();
    expect(watch(token.wait()).describeWait()).toBe(`token ${token.token}`);
  });

  it('300,000 waits, cancelled and woken in random order, each settle once', () => {
    const random = new Prng(SEED);
    for (let round = 0; round < 300; round++) {
      const token = waitToken<number>();
      const waits = Array.from({ length: 1000 }, () => token.wait());
      const watches = waits.map((wait) => {
        const watcher = new Watch();
        wait.subscribe(watcher);
        return watcher;
      });
      const expected = waits.map((): unknown => ({ value: round }));
      const wakeAt = random.nextBelow(1000);
      for (let step = 0; step < 1000; step++) {
        if (step === wakeAt) token.wake(round);
        const chosen = random.nextBelow(1000);
        if (step < wakeAt) expected[chosen] = 'ABORT_ERR';
        waits[chosen]?.cancel();
      }
      expect(token.waitingCount, describeSeed).toBe(0);
      expect(waits.map(outcomeOf), describeSeed).toEqual(expected);
      expect(watches.every((one) => one.settledCount === 1)).toBe(true);
    }
  });
});
