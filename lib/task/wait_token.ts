// WaitToken: the generic wait and wake. Somebody waits, somebody else wakes, once, with a value or
// an error; channels, mailboxes and actors are built from it outside the core (seed 1, S-17).
// Owner: one thread. Invariants: the first wake or fail decides; every wait settles with it, in the
// order of waiting; a failure is nobody's until somebody waits, so it is not reported before that.
// Not here: who is woken (waits are operations), the queue itself (wait_operation.ts).
import { FULFILLED, type Operation, PENDING, REJECTED } from '../base/operation.ts';
import { WaitOperation, WaitQueue } from './wait_operation.ts';

class TokenWait<T> extends WaitOperation<T> {
  readonly #token: number;

  constructor(token: number) {
    super();
    this.#token = token;
  }

  override describeWait(): string {
    return `token ${this.#token}`;
  }
}

/** One-shot: made by waitToken(), woken once, waited for any number of times. */
export class WaitToken<T> {
  static readonly name: string = 'WaitToken';
  /** Unique on this thread, never 0. For logs and dumps. */
  readonly token: number;
  readonly #waiting = new WaitQueue<TokenWait<T>>();
  #state: typeof PENDING | typeof FULFILLED | typeof REJECTED = PENDING;
  #outcome: unknown = undefined;

  /** @internal */
  constructor(token: number) {
    this.token = token;
  }

  /** Made by waitToken(), not an object that looks like it. @internal */
  static isGenuine(value: unknown): value is WaitToken<unknown> {
    return typeof value === 'object' && value !== null && #state in value;
  }

  /** True after the first wake() or fail(). */
  get isSettled(): boolean {
    return this.#state !== PENDING;
  }

  /** How many wait now. */
  get waitingCount(): number {
    return this.#waiting.count;
  }

  /**
   * Waits for wake() or fail(); settles at once when that has been. Each call is a wait of its own:
   * cancelling one leaves the others. Fails with ERR_QUEUE_FULL behind 1,048,576 others.
   */
  wait(): Operation<T> {
    const wait = new TokenWait<T>(this.token);
    if (this.#state === PENDING) return this.#waiting.wait(wait);
    this.#settle(wait);
    return wait;
  }

  /** Fulfills all that wait, now and later. False when it was woken or failed before. */
  wake(value: T): boolean {
    return this.#decide(FULFILLED, value);
  }

  /** Fails all that wait, now and later, with `error` itself. False as in wake(). */
  fail(error: unknown): boolean {
    return this.#decide(REJECTED, error);
  }

  #decide(state: typeof FULFILLED | typeof REJECTED, outcome: unknown): boolean {
    if (this.#state !== PENDING) return false;
    this.#state = state;
    this.#outcome = outcome;
    // Nobody is added from here on.
    for (let wait = this.#waiting.shift(); wait !== undefined; wait = this.#waiting.shift()) {
      this.#settle(wait);
    }
    return true;
  }

  #settle(wait: TokenWait<T>): void {
    if (this.#state === FULFILLED) wait.resolveWith(this.#outcome as T);
    else wait.rejectWith(this.#outcome);
  }
}

let lastToken = 0;

/** Makes a token to wait for: `const value = yield* token.wait()`, elsewhere `token.wake(value)`. */
export function waitToken<T = void>(): WaitToken<T> {
  lastToken++;
  return new WaitToken<T>(lastToken);
}
