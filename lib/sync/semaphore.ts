// Semaphore: a number of permits that are taken and given back.
// Owner: one thread. Invariants: 0 <= available <= permits; first come, first served: one that asks
// for many is not passed by those who ask for few, and nobody waits when the first in line could
// be served.
// Not here: who holds permits (nobody is noted; release() trusts its caller within the bound).
import { outOfRange } from '../base/errors.ts';
import { type Operation, rejectedOperation } from '../base/operation.ts';
import { WaitOperation, WaitQueue } from '../task/wait_operation.ts';
import { checkCount } from './arguments.ts';

const PERMITS_MAX = 2 ** 31 - 1;

/** What a waiting acquire asks of its semaphore. */
interface PermitSource {
  grantWaiting(): void;
  giveBack(count: number): void;
}

class AcquireWait extends WaitOperation<void> {
  readonly count: number;
  readonly #source: PermitSource;

  constructor(source: PermitSource, count: number) {
    super();
    this.#source = source;
    this.count = count;
  }

  override describeWait(): string {
    return this.count === 1 ? 'semaphore' : `semaphore (${this.count} permits)`;
  }

  /** It may have been the one that those behind it were waiting for. */
  protected override leftQueue(): void {
    this.#source.grantWaiting();
  }

  protected override undoGrant(): void {
    this.#source.giveBack(this.count);
  }
}

/** Made by semaphore(). At most 1,048,576 wait at a time; then it is ERR_QUEUE_FULL. */
export class Semaphore {
  static readonly name: string = 'Semaphore';
  /** How many permits there are. */
  readonly permits: number;
  readonly #waiting = new WaitQueue<AcquireWait>();
  readonly #source: PermitSource = {
    grantWaiting: () => this.#grantWaiting(),
    // Within the bound also when somebody has released what was not theirs.
    giveBack: (count) => this.#add(Math.min(count, this.permits - this.#available)),
  };
  #available: number;

  /** @internal */
  constructor(permits: number) {
    this.permits = permits;
    this.#available = permits;
  }

  /** How many permits nobody holds. Those who wait may be waiting for more than that. */
  get available(): number {
    return this.#available;
  }

  get waitingCount(): number {
    return this.#waiting.count;
  }

  /**
   * Waits for its turn and then for `count` permits (1 to `permits`).
   * Fails with ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_QUEUE_FULL.
   */
  acquire(count = 1): Operation<void> {
    try {
      checkCount('count', count, 1, this.permits);
    } catch (error) {
      return rejectedOperation(error);
    }
    const acquiring = new AcquireWait(this.#source, count);
    if (!this.#take(count)) return this.#waiting.wait(acquiring);
    acquiring.resolveWith();
    return acquiring;
  }

  /**
   * Takes `count` permits if nobody has to wait for them; false when somebody would, also because
   * others wait already.
   * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE
   */
  tryAcquire(count = 1): boolean {
    checkCount('count', count, 1, this.permits);
    return this.#take(count);
  }

  /**
   * Gives back `count` permits, at most as many as are held.
   * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE; then nothing is given back
   */
  release(count = 1): void {
    checkCount('count', count, 1, this.permits);
    const heldCount = this.permits - this.#available;
    if (count > heldCount) {
      throw outOfRange('count', `<= ${heldCount}, the permits that are held`, count);
    }
    this.#add(count);
  }

  #take(count: number): boolean {
    if (this.#waiting.count > 0 || count > this.#available) return false;
    this.#available -= count;
    return true;
  }

  #add(count: number): void {
    this.#available += count;
    this.#grantWaiting();
  }

  // Reads the head anew each time: who is served may come back from inside.
  #grantWaiting(): void {
    let head = this.#waiting.head;
    for (; head !== undefined && head.count <= this.#available; head = this.#waiting.head) {
      this.#waiting.remove(head);
      this.#available -= head.count;
      head.resolveWith();
    }
  }
}

/**
 * A semaphore with `permits` permits (a whole number from 1 to 2,147,483,647), all of them free.
 * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE
 */
export function semaphore(permits: number): Semaphore {
  checkCount('permits', permits, 1, PERMITS_MAX);
  return new Semaphore(permits);
}
