// Mutex: one holder at a time.
// Owner: one thread. Invariants: first come, first served; release() hands the mutex to the first
// that waits before anybody else can ask, so nobody passes. A lock is released once.
// Not here: locks between workers; a holder that ends without release() holds it for good.
import { NephriteError } from '../base/errors.ts';
import type { Operation } from '../base/operation.ts';
import { WaitOperation, WaitQueue } from '../task/wait_operation.ts';

class LockWait extends WaitOperation<Lock> {
  override describeWait(): string {
    return 'mutex';
  }

  protected override undoGrant(lock: Lock): void {
    lock[Symbol.dispose]();
  }
}

/** Proof of holding a mutex: `using lock = await mutex.lock()`. */
export class Lock {
  static readonly name: string = 'Lock';
  #unlock: (() => void) | undefined;

  /** @internal */
  constructor(unlock: () => void) {
    this.#unlock = unlock;
  }

  get isReleased(): boolean {
    return this.#unlock === undefined;
  }

  /** @throws ERR_INVALID_STATE the second time */
  release(): void {
    if (this.#unlock === undefined) {
      throw new NephriteError('ERR_INVALID_STATE', 'The lock has been released before');
    }
    this[Symbol.dispose]();
  }

  /** As release(); nothing happens when it has been released. */
  [Symbol.dispose](): void {
    const unlock = this.#unlock;
    this.#unlock = undefined;
    unlock?.();
  }
}

/** Made by mutex(). At most 1,048,576 wait at a time; the next one fails with ERR_QUEUE_FULL. */
export class Mutex {
  static readonly name: string = 'Mutex';
  readonly #waiting = new WaitQueue<LockWait>();
  #isLocked = false;
  readonly #unlock = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isLocked = false;
    else next.resolveWith(new Lock(this.#unlock));
  };

  get isLocked(): boolean {
    return this.#isLocked;
  }

  get waitingCount(): number {
    return this.#waiting.count;
  }

  /** Waits until it is this one's turn. It is not reentrant: a holder that asks again waits too. */
  lock(): Operation<Lock> {
    const waiting = new LockWait();
    if (this.#isLocked) return this.#waiting.wait(waiting);
    this.#isLocked = true;
    waiting.resolveWith(new Lock(this.#unlock));
    return waiting;
  }

  /** The lock if nobody holds it, else undefined. */
  tryLock(): Lock | undefined {
    if (this.#isLocked) return undefined;
    this.#isLocked = true;
    return new Lock(this.#unlock);
  }
}

/** Makes a mutex that nobody holds. */
export function mutex(): Mutex {
  return new Mutex();
}
