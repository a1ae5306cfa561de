// Random steps on a channel against a model of plain arrays: after each step every operation has
// the outcome that the model says, and so have the counts. The random run prints its seed.
// Values are numbered in the order of sending, so the model keeps what is given back sorted.
// Not here: what the rules mean (channel.test.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../lib/base/operation.ts';
import { Prng } from '../../../lib/base/prng.ts';
import { type Channel, channel } from '../../../lib/sync/channel.ts';
import { describeSeed, SEED } from '../../support/seed.ts';
import { outcomeOf, standAt, watch } from './watch.ts';

const KINDS = [
  'send',
  'trySend',
  'receive',
  'receiveOrClosed',
  'tryReceive',
  'cancel',
  'leave',
  'close',
] as const;
type Kind = (typeof KINDS)[number];
type Step = { kind: Kind; at: number };

interface Tracked {
  operation: Operation<unknown>;
  standing: { leave(): void } | undefined;
  form: 'send' | 'receive' | 'receiveOrClosed';
  expected: unknown;
  value: number | undefined;
  hasLeft: boolean;
}

class Checked {
  readonly #subject: Channel<number>;
  readonly #capacity: number;
  readonly #all: Tracked[] = [];
  #senders: Tracked[] = [];
  #receivers: Tracked[] = [];
  #givenBack: number[] = [];
  #buffer: number[] = [];
  #isClosed = false;
  #lastValue = 0;
  readonly #got: number[] = [];

  constructor(capacity: number) {
    this.#subject = channel<number>(capacity);
    this.#capacity = capacity;
  }

  step({ kind, at }: Step): void {
    if (kind === 'send') this.#send(++this.#lastValue);
    else if (kind === 'trySend') this.#trySend(++this.#lastValue);
    else if (kind === 'tryReceive') this.#tryReceive();
    else if (kind === 'close') this.#close();
    else if (kind === 'cancel') this.#cancel(this.#all[at % Math.max(this.#all.length, 1)]);
    else if (kind === 'leave') this.#leave(this.#all[at % Math.max(this.#all.length, 1)]);
    else this.#receive(kind);
  }

  check(): void {
    const { length, waitingSenders, waitingReceivers } = this.#subject;
    expect([length, waitingSenders, waitingReceivers]).toEqual([
      this.#buffer.length + this.#givenBack.length,
      this.#senders.length,
      this.#receivers.length,
    ]);
    for (const { operation, expected } of this.#all) {
      expect(outcomeOf(operation)).toEqual(expected);
    }
  }

  /** Closes, receives what is left: each value that was accepted was got once. */
  finish(): void {
    this.#close();
    while (this.#buffer.length + this.#givenBack.length > 0) this.#tryReceive();
    this.check();
    for (const tracked of this.#all) {
      const isGot = tracked.form !== 'send' && !tracked.hasLeft && tracked.value !== undefined;
      if (isGot) this.#got.push(tracked.value as number);
    }
    expect(new Set(this.#got).size).toBe(this.#got.length);
    const sent = this.#all.filter(({ form, expected }) => form === 'send' && isValue(expected));
    for (const { value } of sent) expect(this.#got).toContain(value);
  }

  #track(form: Tracked['form'], operation: Operation<unknown>, expected: unknown): Tracked {
    const tracked: Tracked = {
      operation: watch(operation),
      standing: form === 'send' ? undefined : standAt(operation),
      form,
      expected,
      value: undefined,
      hasLeft: false,
    };
    this.#all.push(tracked);
    return tracked;
  }

  #send(value: number): void {
    const tracked = this.#track('send', this.#subject.send(value), 'ERR_CHANNEL_CLOSED');
    tracked.value = value;
    if (this.#isClosed) return;
    const isAccepted = this.#accept(value);
    tracked.expected = isAccepted ? { value: undefined } : 'pending';
    if (!isAccepted) this.#senders.push(tracked);
  }

  #trySend(value: number): void {
    if (this.#isClosed) expect(() => this.#subject.trySend(value)).toThrow('closed');
    else expect(this.#subject.trySend(value)).toBe(this.#accept(value));
  }

  #accept(value: number): boolean {
    const receiver = this.#receivers.shift();
    if (receiver !== undefined) this.#give(receiver, value);
    else if (this.#buffer.length < this.#capacity) this.#buffer.push(value);
    else return false;
    return true;
  }

  #give(receiver: Tracked, value: number): void {
    receiver.value = value;
    receiver.expected = receiver.form === 'receive' ? { value } : { value: { done: false, value } };
  }

  #take(): number | undefined {
    const returned = this.#givenBack.shift();
    if (returned !== undefined) return returned;
    const sender = this.#senders.shift();
    if (sender !== undefined) {
      sender.expected = { value: undefined };
      this.#buffer.push(sender.value as number);
    }
    return this.#buffer.shift();
  }

  #receive(form: 'receive' | 'receiveOrClosed'): void {
    const tracked = this.#track(form, this.#subject[form](), 'pending');
    const value = this.#take();
    if (value !== undefined) this.#give(tracked, value);
    else if (this.#isClosed) this.#tellClosed(tracked);
    else this.#receivers.push(tracked);
  }

  #tellClosed(receiver: Tracked): void {
    const end = { value: { done: true, value: undefined } };
    receiver.expected = receiver.form === 'receive' ? 'ERR_CHANNEL_CLOSED' : end;
  }

  #tryReceive(): void {
    const value = this.#take();
    const end = this.#isClosed ? { done: true, value: undefined } : undefined;
    const expected = value === undefined ? end : { done: false, value };
    expect(this.#subject.tryReceive()).toEqual(expected);
    if (value !== undefined) this.#got.push(value);
  }

  #close(): void {
    this.#subject.close();
    this.#isClosed = true;
    for (const sender of this.#senders) sender.expected = 'ERR_CHANNEL_CLOSED';
    for (const receiver of this.#receivers) this.#tellClosed(receiver);
    this.#senders = [];
    this.#receivers = [];
  }

  #cancel(tracked: Tracked | undefined): void {
    tracked?.operation.cancel();
    if (tracked?.expected !== 'pending') return;
    tracked.expected = 'ABORT_ERR';
    this.#senders = this.#senders.filter((one) => one !== tracked);
    this.#receivers = this.#receivers.filter((one) => one !== tracked);
  }

  /** The task that stands at it was cancelled: cancel first, then the body is left. */
  #leave(tracked: Tracked | undefined): void {
    if (tracked === undefined || tracked.hasLeft) return;
    this.#cancel(tracked);
    tracked.standing?.leave();
    tracked.hasLeft = true;
    if (tracked.form === 'send' || tracked.value === undefined) return;
    const next = this.#receivers.shift();
    if (next !== undefined) this.#give(next, tracked.value);
    else this.#givenBack = [...this.#givenBack, tracked.value].sort((a, b) => a - b);
  }
}

const isValue = (expected: unknown): boolean => typeof expected === 'object';

describe('channel against a model', () => {
  it('random steps, shrunk when they fail', () => {
    const kind = fc.constantFrom(...KINDS.slice(0, -1));
    const step = fc.oneof(
      { weight: 40, arbitrary: fc.record({ kind, at: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), at: fc.nat() }) },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4 }),
        fc.array(step, { maxLength: 60, size: 'max' }),
        (capacity, steps) => {
          const checked = new Checked(capacity);
          for (const one of steps) {
            checked.step(one);
            checked.check();
          }
          checked.finish();
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('200,000 steps, half of them cancels', () => {
    const random = new Prng(SEED);
    for (let round = 0; round < 400; round++) {
      const checked = new Checked(random.nextBelow(6));
      for (let count = 0; count < 500; count++) {
        const isCancel = random.nextBelow(2) === 0;
        const kinds: readonly Kind[] = isCancel ? ['cancel', 'leave'] : KINDS.slice(0, 5);
        const kind = kinds[random.nextBelow(kinds.length)] as Kind;
        checked.step({ kind, at: random.nextWord() });
      }
      try {
        checked.finish();
      } catch (error) {
        throw new Error(`round ${round}, ${describeSeed}`, { cause: error });
      }
    }
  });
});
