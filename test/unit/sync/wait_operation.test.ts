// What all waits share: handlers that run in microtasks, giving back what a cancelled task was
// granted, the bound of a queue, the queue against an array.
// Not here: who grants (wait_token, channel, mutex, semaphore tests).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvariantError } from '../../../lib/base/assert.ts';
import { channel } from '../../../lib/sync/channel.ts';
import { WAITING_MAX, WaitOperation, WaitQueue } from '../../../lib/task/wait_operation.ts';
import { waitToken } from '../../../lib/task/wait_token.ts';
import { SEED } from '../../support/seed.ts';
import { outcomeOf, standAt, Watch, watch } from './watch.ts';

class Item extends WaitOperation<string> {
  undone: string[] = [];
  describeWait(): string {
    return 'item';
  }
  protected override undoGrant(value: string): void {
    this.undone.push(value);
  }
}

function contentsOf(queue: WaitQueue<Item>): Item[] {
  const found: Item[] = [];
  for (let item = queue.head; item !== undefined; item = item.nextInQueue as Item | undefined) {
    found.push(item);
  }
  return found;
}

describe('wait operation: handlers', () => {
  it('run after the call that settles it, each in a microtask', async () => {
    const token = waitToken<number>();
    const calls: string[] = [];
    const waits = [
      token.wait().then(() => calls.push('one')),
      token.wait().then(
        () => calls.push('two'),
        () => {},
      ),
      token.wait().finally(() => calls.push('finally')),
    ];
    token.wake(1);
    expect(calls).toEqual([]);
    await Promise.all(waits);
    expect(calls).toEqual(['one', 'two', 'finally']);
  });

  it('a subscriber of the wait protocol is called inside the call: it only queues', () => {
    const token = waitToken();
    const subscriber = new Watch();
    token.wait().subscribe(subscriber);
    token.wake();
    expect(subscriber.settledCount).toBe(1);
  });

  it('handlers that answer each other do not nest', async () => {
    const [ping, pong] = [channel<number>(), channel<number>()];
    const end = waitToken<number>();
    const answer = (from: typeof ping, to: typeof ping): void => {
      from.receive().then((count) => {
        if (count === 50_000) return void end.wake(count);
        answer(from, to);
        to.send(count + 1);
      });
    };
    answer(ping, pong);
    answer(pong, ping);
    ping.send(0);
    expect(await end.wait()).toBe(50_000);
  });

  it('then() of a derived operation cancels the wait', async () => {
    const token = waitToken();
    const derived = token.wait().then(() => {});
    derived.cancel('stop');
    await expect(derived).rejects.toMatchObject({ code: 'ABORT_ERR', cause: 'stop' });
    expect(token.waitingCount).toBe(0);
  });
});

describe('wait operation: giving back', () => {
  it('a body that is left while it stands at a granted one gives back, once', () => {
    const item = new Item();
    const standing = standAt(item);
    item.resolveWith('grant');
    standing.leave();
    standing.leave();
    item.giveBack();
    expect(item.undone).toEqual(['grant']);
  });

  it('nothing to give back: pending, failed, taken, or asked for by two', async () => {
    const pending = new Item();
    standAt(pending).leave();
    const failed = watch(new Item());
    const atFailed = standAt(failed);
    failed.cancel();
    atFailed.leave();
    const shared = new Item();
    const first = standAt(shared);
    const second = shared[Symbol.iterator]();
    shared.resolveWith('shared');
    first.leave();
    expect(second.next()).toEqual({ done: true, value: 'shared' });
    const awaited = new Item();
    const value = awaited.then((given) => given);
    const beside = standAt(awaited);
    awaited.resolveWith('awaited');
    beside.leave();
    expect(await value).toBe('awaited');
    expect([pending, failed, shared, awaited].flatMap(({ undone }) => undone)).toEqual([]);
  });

  it('whoever asks afterwards is told', async () => {
    const item = new Item();
    const standing = standAt(item);
    item.resolveWith('grant');
    standing.leave();
    expect(() => item[Symbol.iterator]()).toThrow(/went back/);
    await expect(item).rejects.toMatchObject({ code: 'ERR_INVALID_STATE' });
  });
});

describe('wait queue', () => {
  it('random waits, inserts, cancels and shifts agree with an array', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('wait', 'shift', 'front') }),
      fc.record({ kind: fc.constantFrom('cancel', 'after'), at: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = new WaitQueue<Item>();
        const model: Item[] = [];
        for (const action of steps) {
          const at = 'at' in action ? action.at % Math.max(model.length, 1) : 0;
          const item = watch(new Item());
          if (action.kind === 'wait') model.push(queue.wait(item));
          else if (action.kind === 'shift') expect(queue.shift() === model.shift()).toBe(true);
          else if (action.kind === 'cancel') model.splice(at, 1)[0]?.cancel();
          else {
            const previous = action.kind === 'front' ? undefined : model[at];
            queue.insertAfter(previous, item);
            model.splice(previous === undefined ? 0 : at + 1, 0, item);
          }
          expect(queue.count).toBe(model.length);
          expect(queue.tail === model.at(-1)).toBe(true);
          const contents = contentsOf(queue);
          expect(contents.length).toBe(model.length);
          // Not toEqual(): it would iterate the operations.
          expect(contents.every((one, index) => one === model[index])).toBe(true);
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('an operation stands in one queue', () => {
    const item = new Item();
    new WaitQueue<Item>().wait(item);
    expect(() => new WaitQueue<Item>().wait(item)).toThrow(InvariantError);
  });

  it('is bounded: the next one fails, and there is room again after a cancel', () => {
    const token = waitToken<number>();
    const first = watch(token.wait());
    for (let count = 1; count < WAITING_MAX; count++) token.wait();
    const refused = watch(token.wait());
    expect(outcomeOf(refused)).toBe('ERR_QUEUE_FULL');
    first.cancel();
    expect(outcomeOf(watch(token.wait()))).toBe('pending');
    token.wake(1);
    expect(token.waitingCount).toBe(0);
  });
});
