// Channel: order, fairness, rendezvous, closing, cancelling in every state, loops, bad input.
// Not here: random steps against a model (channel_model.test.ts).
import { describe, expect, it } from 'vitest';
import { type Channel, channel } from '../../../lib/sync/channel.ts';
import { outcomeOf, standAt, watch } from './watch.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function isIdle(subject: Channel<unknown>): boolean {
  return subject.length + subject.waitingReceivers + subject.waitingSenders === 0;
}

describe('channel: passing values', () => {
  it('capacity 0: a send settles with its receive, whoever came first', async () => {
    const subject = channel<string>();
    const sending = subject.send('a');
    expect([sending.isSettled, subject.length, subject.waitingSenders]).toEqual([false, 0, 1]);
    expect(await subject.receive()).toBe('a');
    expect(sending.isSettled).toBe(true);
    const receiving = subject.receive();
    expect(subject.waitingReceivers).toBe(1);
    expect(subject.send('b').isSettled).toBe(true);
    expect(await receiving).toBe('b');
    expect(isIdle(subject)).toBe(true);
  });

  it('a full buffer makes senders wait; each receive lets the first of them in', async () => {
    const subject = channel<number>(2);
    const sends = numbers(5).map((value) => subject.send(value));
    expect(sends.map(({ isSettled }) => isSettled)).toEqual([true, true, false, false, false]);
    expect([subject.length, subject.waitingSenders, subject.trySend(9)]).toEqual([2, 3, false]);
    expect(await subject.receive()).toBe(0);
    expect(sends.map(({ isSettled }) => isSettled)).toEqual([true, true, true, false, false]);
    for (const value of [1, 2, 3, 4]) expect(await subject.receive()).toBe(value);
    expect(isIdle(subject)).toBe(true);
  });

  it('receivers are served in the order in which they came', async () => {
    const subject = channel<number>(4);
    const receives = numbers(1000).map(() => subject.receive());
    for (const value of numbers(1000)) expect(subject.trySend(value)).toBe(true);
    expect(await Promise.all(receives)).toEqual(numbers(1000));
  });

  it('fairness: of 8 producers that compete without end, none is ahead by more than one', async () => {
    const subject = channel<number>(1);
    const counts = new Array<number>(8).fill(0);
    const produce = async (producer: number): Promise<void> => {
      try {
        for (;;) await subject.send(producer);
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_CHANNEL_CLOSED' });
      }
    };
    const producers = counts.map((_, index) => produce(index));
    for (let round = 0; round < 4000; round++) {
      const from = await subject.receive();
      counts[from] = (counts[from] ?? 0) + 1;
    }
    subject.close();
    await Promise.all(producers);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it('any value passes: undefined, null, functions, promises as they are', () => {
    const subject = channel<unknown>(4);
    const values = [undefined, null, () => 1, Promise.resolve(1)];
    for (const value of values) subject.trySend(value);
    for (const value of values) {
      const received = subject.tryReceive();
      expect(received?.done).toBe(false);
      expect(received?.value === value).toBe(true);
    }
    expect(subject.tryReceive()).toBe(undefined);
  });

  it('200,000 values through a large buffer, in bursts, keep their order', () => {
    const subject = channel<number>(100_000);
    let sent = 0;
    let received = 0;
    for (const burst of [1, 17, 1024, 100_000, 3, 98_000, 955]) {
      for (let count = 0; count < burst; count++) subject.trySend(sent++);
      const kept = burst % 2;
      while (subject.length > kept) {
        if (subject.tryReceive()?.value !== received++) expect.unreachable('out of order');
      }
    }
    expect(sent - received).toBe(subject.length);
    expect(sent).toBe(200_000);
  });
});

describe('channel: closing', () => {
  it('what is buffered is received, then receivers are told', async () => {
    const subject = channel<number>(2);
    subject.trySend(1);
    subject.close();
    subject.close(new Error('the second close changes nothing'));
    expect(subject.isClosed).toBe(true);
    expect(await subject.receive()).toBe(1);
    const told = await subject.receive().catch((error: unknown) => error);
    expect(told).toMatchObject({ code: 'ERR_CHANNEL_CLOSED' });
    expect(told).not.toHaveProperty('cause');
    expect(await subject.receiveOrClosed()).toEqual({ done: true, value: undefined });
    expect(subject.tryReceive()).toEqual({ done: true, value: undefined });
  });

  it('those who wait are told at once; senders keep their values', async () => {
    const full = channel<number>(1);
    full.trySend(1);
    const sending = full.send(2);
    full.close();
    await expect(sending).rejects.toMatchObject({ code: 'ERR_CHANNEL_CLOSED' });
    expect([full.length, full.waitingSenders]).toEqual([1, 0]);
    expect(await full.receive()).toBe(1);
    expect(full.tryReceive()).toEqual({ done: true, value: undefined });
    const empty = channel<number>(1);
    const [receiving, looping] = [empty.receive(), empty.receiveOrClosed()];
    empty.close();
    await expect(receiving).rejects.toMatchObject({ code: 'ERR_CHANNEL_CLOSED' });
    expect(await looping).toEqual({ done: true, value: undefined });
  });

  it('sending on a closed channel fails', async () => {
    const subject = channel<number>(1);
    subject.close();
    await expect(subject.send(1)).rejects.toMatchObject({ code: 'ERR_CHANNEL_CLOSED' });
    expect(() => subject.trySend(1)).toThrow(
      expect.objectContaining({ code: 'ERR_CHANNEL_CLOSED' }),
    );
  });

  it('closed with an error, everybody gets it as cause, loops too', async () => {
    const cause = new Error('upstream');
    const subject = channel<number>();
    const waiting = [subject.receive(), subject.receiveOrClosed()];
    subject.close(cause);
    const expected = { code: 'ERR_CHANNEL_CLOSED', cause };
    for (const wait of waiting) await expect(wait).rejects.toMatchObject(expected);
    await expect(subject.send(1)).rejects.toMatchObject(expected);
    await expect(subject.receiveOrClosed()).rejects.toMatchObject(expected);
    expect(() => subject.tryReceive()).toThrow(expect.objectContaining(expected));
    await expect(subject[Symbol.asyncIterator]().next()).rejects.toMatchObject(expected);
  });
});

describe('channel: cancelling', () => {
  it('a receive that waits leaves at once and takes nothing', async () => {
    const subject = channel<number>(1);
    const [first, second] = [subject.receive(), subject.receive()];
    first.cancel('reason');
    expect(subject.waitingReceivers).toBe(1);
    await expect(first).rejects.toMatchObject({ code: 'ABORT_ERR', cause: 'reason' });
    subject.trySend(1);
    expect(await second).toBe(1);
  });

  it('a receive that has its value keeps it', async () => {
    const subject = channel<number>(1);
    const receiving = subject.receive();
    subject.trySend(1);
    receiving.cancel();
    expect(await receiving).toBe(1);
    expect(isIdle(subject)).toBe(true);
  });

  it('a send that waits takes its value along; one that is done has sent', async () => {
    const subject = channel<number>(1);
    const sends = [1, 2, 3].map((value) => watch(subject.send(value)));
    sends[0]?.cancel();
    sends[1]?.cancel();
    expect(sends.map(outcomeOf)).toEqual([{ value: undefined }, 'ABORT_ERR', 'pending']);
    expect([await subject.receive(), await subject.receive()]).toEqual([1, 3]);
    expect(isIdle(subject)).toBe(true);
  });

  it('a task cancelled after it was given a value: the next receiver gets it, in order', async () => {
    const subject = channel<number>();
    const standing = numbers(4).map(() => standAt(subject.receive()));
    for (const value of numbers(4)) subject.trySend(value);
    for (const index of [2, 0, 3]) standing[index]?.leave();
    expect(subject.length).toBe(3);
    const later = subject.send(4);
    expect(later.isSettled).toBe(false);
    expect(await subject.receive()).toBe(0);
    expect(await subject.receiveOrClosed()).toEqual({ done: false, value: 2 });
    subject.close();
    await expect(later).rejects.toMatchObject({ code: 'ERR_CHANNEL_CLOSED' });
    expect(subject.tryReceive()).toEqual({ done: false, value: 3 });
    expect(subject.tryReceive()).toEqual({ done: true, value: undefined });
  });

  it('one who waits gets it at once; an end that was told is no value', async () => {
    const subject = channel<number>();
    const standing = standAt(subject.receiveOrClosed());
    subject.trySend(1);
    const next = subject.receive();
    standing.leave();
    expect(await next).toBe(1);
    const atEnd = standAt(subject.receiveOrClosed());
    subject.close();
    atEnd.leave();
    expect(isIdle(subject)).toBe(true);
  });

  it('says what it waits for', () => {
    const subject = channel<number>();
    expect(watch(subject.receive()).describeWait()).toBe('channel receive');
    const full = channel<number>();
    expect(watch(full.send(1)).describeWait()).toBe('channel send');
  });
});

describe('channel: loops', () => {
  it('for await: values in order until it is closed and empty', async () => {
    const subject = channel<number>(3);
    const produce = async (): Promise<void> => {
      for (const value of numbers(100)) await subject.send(value);
      subject.close();
    };
    const producing = produce();
    const received: number[] = [];
    for await (const value of subject) received.push(value);
    await producing;
    expect(received).toEqual(numbers(100));
  });

  it('two loops share the values; leaving one leaves the channel open', async () => {
    const subject = channel<number>(10);
    for (const value of numbers(10)) subject.trySend(value);
    for await (const value of subject) if (value === 4) break;
    expect([subject.isClosed, subject.length]).toEqual([false, 5]);
    subject.close();
    const rest: number[] = [];
    const drain = async (): Promise<void> => {
      for await (const value of subject) rest.push(value);
    };
    await Promise.all([drain(), drain()]);
    expect(rest.sort()).toEqual([5, 6, 7, 8, 9]);
  });

  it('yield*: a value that is there does not make the body wait', () => {
    const subject = channel<number>(1);
    subject.trySend(5);
    function* body(): Generator<unknown, number> {
      return yield* subject.receive();
    }
    expect(body().next()).toEqual({ done: true, value: 5 });
  });
});

describe('channel: bad input', () => {
  for (const capacity of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 24 + 1]) {
    it(`capacity ${capacity}`, () => {
      expect(() => channel(capacity)).toThrow(
        expect.objectContaining({ code: 'ERR_OUT_OF_RANGE' }),
      );
    });
  }
  for (const capacity of ['1', null, 1n, {}]) {
    it(`capacity of type ${typeof capacity}`, () => {
      expect(() => channel(capacity as unknown as number)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }),
      );
    });
  }
});
