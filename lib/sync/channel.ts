// Channel: values from senders to receivers of one thread, in order, with a bound.
// Owner: one thread. Invariants: receivers wait only while there is nothing to receive, senders
// only while the buffer is full; both are served first come, first served, and nobody passes those
// who wait. A value is in one place: with its sender, in the channel, or with its receiver.
// What a cancelled task was given and never got (giveBack) waits before the buffer, in the order
// of sending; it does not count against the capacity.
// Not here: the queues (task/wait_operation.ts), channels between workers.
import { NephriteError } from '../base/errors.ts';
import { type Operation, rejectedOperation } from '../base/operation.ts';
import { WaitOperation, WaitQueue } from '../task/wait_operation.ts';
import { checkCount } from './arguments.ts';
import { ValueBuffer } from './value_buffer.ts';

const CAPACITY_MAX = 2 ** 24;

/** What receiveOrClosed() gives; also an IteratorResult. */
export type Received<T> = { done: false; value: T } | { done: true; value: undefined };

class SendWait<T> extends WaitOperation<void> {
  readonly value: T;

  constructor(value: T) {
    super();
    this.value = value;
  }

  override describeWait(): string {
    return 'channel send';
  }
}

// What the channel asks of a receiver, whichever form it wants its value in.
abstract class ReceiveWait<T, R> extends WaitOperation<R> {
  /** The place in the order of sending of what it was given. */
  sequence = 0;
  readonly #takeBack: TakeBack<T>;

  constructor(takeBack: TakeBack<T>) {
    super();
    this.#takeBack = takeBack;
  }

  abstract deliver(value: T): void;
  abstract closed(cause: unknown): void;
  /** What it was delivered; undefined when it was told of the end. */
  abstract given(): { value: T } | undefined;

  override describeWait(): string {
    return 'channel receive';
  }

  protected override undoGrant(): void {
    if (this.given() !== undefined) this.#takeBack(this as Receiver<T>);
  }
}

type Receiver<T> = ReceiveWait<T, unknown>;
type TakeBack<T> = (receiver: Receiver<T>) => void;

class ReceiveValue<T> extends ReceiveWait<T, T> {
  deliver(value: T): void {
    this.resolveWith(value);
  }
  closed(cause: unknown): void {
    this.rejectWith(closedError(cause));
  }
  given(): { value: T } {
    return { value: this.settledValue as T };
  }
}

class ReceiveResult<T> extends ReceiveWait<T, Received<T>> {
  deliver(value: T): void {
    this.resolveWith({ done: false, value });
  }
  closed(cause: unknown): void {
    if (cause === undefined) this.resolveWith({ done: true, value: undefined });
    else this.rejectWith(closedError(cause));
  }
  given(): { value: T } | undefined {
    const received = this.settledValue as Received<T>;
    return received.done ? undefined : received;
  }
}

function closedError(cause: unknown): NephriteError {
  const options = cause === undefined ? undefined : { cause };
  return new NephriteError('ERR_CHANNEL_CLOSED', 'The channel is closed', options);
}

/**
 * Made by channel(). At most 1,048,576 senders and as many receivers wait at a time; the next one
 * fails with ERR_QUEUE_FULL.
 */
export class Channel<T> {
  static readonly name: string = 'Channel';
  readonly capacity: number;
  readonly #buffer = new ValueBuffer<T>();
  readonly #senders = new WaitQueue<SendWait<T>>();
  readonly #receivers = new WaitQueue<Receiver<T>>();
  readonly #givenBack = new WaitQueue<Receiver<T>>();
  readonly #takeBack: TakeBack<T> = (receiver) => this.#putBack(receiver);
  /** How many values have been handed out: the place of the next one in the order of sending. */
  #handedOut = 0;
  #isClosed = false;
  #closeCause: unknown = undefined;

  /** @internal */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Values that can be received at once without a sender. */
  get length(): number {
    return this.#givenBack.count + this.#buffer.count;
  }

  /** True from close() on; there may be values to receive still. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get waitingSenders(): number {
    return this.#senders.count;
  }

  get waitingReceivers(): number {
    return this.#receivers.count;
  }

  /**
   * Settles when the value is in the buffer or, without a free place, with a receiver. When it
   * fails (ERR_CHANNEL_CLOSED, cancelled, ERR_QUEUE_FULL), nobody receives the value: it is the
   * sender's as before.
   */
  send(value: T): Operation<void> {
    if (this.#isClosed) return rejectedOperation(closedError(this.#closeCause));
    const sending = new SendWait(value);
    if (!this.#accept(value)) return this.#senders.wait(sending);
    sending.resolveWith();
    return sending;
  }

  /**
   * Sends if nobody has to wait for it; false when somebody would.
   * @throws ERR_CHANNEL_CLOSED
   */
  trySend(value: T): boolean {
    if (this.#isClosed) throw closedError(this.#closeCause);
    return this.#accept(value);
  }

  /**
   * The next value. Fails with ERR_CHANNEL_CLOSED when the channel is closed and nothing is left
   * (cause: what close() was given). Cancelled after it was given its value, it keeps the value.
   */
  receive(): Operation<T> {
    return this.#receive(new ReceiveValue<T>(this.#takeBack)) as Operation<T>;
  }

  /**
   * As receive(), for loops: `{ done: false, value }`, and `{ done: true }` once the channel is
   * closed and nothing is left. Fails as receive() does when close() was given an error.
   */
  receiveOrClosed(): Operation<Received<T>> {
    return this.#receive(new ReceiveResult<T>(this.#takeBack)) as Operation<Received<T>>;
  }

  /**
   * What receiveOrClosed() would give at once; undefined when it would wait.
   * @throws ERR_CHANNEL_CLOSED when closed with an error and nothing is left
   */
  tryReceive(): Received<T> | undefined {
    if (this.#hasValue) return { done: false, value: this.#take() };
    if (!this.#isClosed) return undefined;
    if (this.#closeCause !== undefined) throw closedError(this.#closeCause);
    return { done: true, value: undefined };
  }

  /**
   * Ends it: no more sends; senders that wait fail with ERR_CHANNEL_CLOSED and keep their values;
   * what is buffered can still be received, after that receivers are told. With `error`, all of
   * them fail with ERR_CHANNEL_CLOSED whose cause it is. The second time, nothing happens.
   */
  close(error?: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closeCause = error;
    for (let sender = this.#senders.shift(); sender !== undefined; sender = this.#senders.shift()) {
      sender.rejectWith(closedError(error));
    }
    let receiver = this.#receivers.shift();
    for (; receiver !== undefined; receiver = this.#receivers.shift()) receiver.closed(error);
  }

  /**
   * Values until the channel is closed and nothing is left. Several loops share the values. A loop
   * that is left does not close the channel.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<T, undefined> {
    const iterator: AsyncIterableIterator<T, undefined> = {
      next: () => this.receiveOrClosed(),
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  get #hasValue(): boolean {
    return this.length > 0 || this.#senders.count > 0;
  }

  #accept(value: T): boolean {
    const receiver = this.#receivers.shift();
    if (receiver !== undefined) {
      receiver.sequence = this.#handedOut++;
      receiver.deliver(value);
      return true;
    }
    if (this.#buffer.count >= this.capacity) return false;
    this.#buffer.push(value);
    return true;
  }

  #receive(receiver: Receiver<T>): Receiver<T> {
    if (this.#hasValue) {
      receiver.sequence = this.#givenBack.head?.sequence ?? this.#handedOut;
      receiver.deliver(this.#take());
      return receiver;
    }
    if (!this.#isClosed) return this.#receivers.wait(receiver);
    receiver.closed(this.#closeCause);
    return receiver;
  }

  // A sender that was waiting is settled last: it may come back at once.
  #take(): T {
    const returned = this.#givenBack.shift();
    if (returned !== undefined) return (returned.given() as { value: T }).value;
    this.#handedOut++;
    const sender = this.#senders.shift();
    if (sender === undefined) return this.#buffer.shift();
    let { value } = sender;
    if (this.capacity > 0) {
      const sent = value;
      value = this.#buffer.shift();
      this.#buffer.push(sent);
    }
    sender.resolveWith();
    return value;
  }

  // The receiver itself becomes the place of the value that it did not use.
  #putBack(receiver: Receiver<T>): void {
    const next = this.#receivers.shift();
    if (next !== undefined) {
      next.sequence = receiver.sequence;
      next.deliver((receiver.given() as { value: T }).value);
      return;
    }
    // Tasks are cancelled mostly in the order in which they were served: the place is at an end.
    let previous = this.#givenBack.tail;
    const { head } = this.#givenBack;
    if (head !== undefined && receiver.sequence < head.sequence) previous = undefined;
    while (previous !== undefined && previous.sequence > receiver.sequence) {
      previous = previous.previousInQueue as Receiver<T> | undefined;
    }
    this.#givenBack.insertAfter(previous, receiver);
  }
}

/**
 * A channel that buffers up to `capacity` values (a whole number from 0 to 16,777,216). With 0, the
 * default, every send waits for a receive.
 * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE
 */
export function channel<T>(capacity = 0): Channel<T> {
  checkCount('capacity', capacity, 0, CAPACITY_MAX);
  return new Channel<T>(capacity);
}
