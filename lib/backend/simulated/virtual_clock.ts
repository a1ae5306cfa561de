// Virtual clock: time that moves only from event to event. What would take time is scheduled on it;
// when nothing else can happen it moves to the next event and runs it.
// Owner: whoever made it, one thread; several users (pollers, timer wheels) may share it.
// Invariants: events run in the order (time, order key, schedule order) whatever real time does;
// the clock stands still while held, and after a touch() until the settling turns have passed.
// Not here: real time. A clock that is not automatic keeps no event loop alive.
import { invariant } from '../../base/assert.ts';

/**
 * Turns of the event loop that users get to react before the clock moves on. One is for what runs
 * right after a delivery (microtasks, nextTick); the second for a reaction that goes through one
 * setImmediate of its own.
 */
const SETTLE_TURNS = 2;
// 292 years. Beyond 2^53 (104 days) the clock moves in steps of 2 ns and more.
const TIME_MAX_NS = 2 ** 63;

export interface VirtualEvent {
  readonly atNs: number;
  readonly orderKey: number;
  readonly sequence: number;
  /** False: it waits for the time to come and does not make the clock move to it. */
  readonly isDriving: boolean;
  readonly run: () => void;
}

export interface VirtualClockOptions {
  /** True (default): moves by itself. False: only as far as advance() allows. */
  readonly isAutomatic?: boolean;
}

export class VirtualClock {
  readonly isAutomatic: boolean;
  #nowNs = 0;
  #limitNs: number;
  /** Sorted, the next event last. */
  readonly #events: VirtualEvent[] = [];
  #drivingCount = 0;
  readonly #instantEndListeners = new Set<() => void>();
  #sequence = 0;
  #holdCount = 0;
  #turnsToSettle = 0;
  #immediate: NodeJS.Immediate | null = null;
  /** Some events of the present time have run, and the listeners have not been told. */
  #isInstantOpen = false;
  #isRunning = false;

  constructor({ isAutomatic = true }: VirtualClockOptions = {}) {
    this.isAutomatic = isAutomatic;
    this.#limitNs = isAutomatic ? TIME_MAX_NS : 0;
  }

  get nowNs(): number {
    return this.#nowNs;
  }

  /** Runs `run` in `delayNs` of virtual time; ties are ordered by `orderKey`, then by call. */
  schedule(delayNs: number, orderKey: number, run: () => void): VirtualEvent {
    invariant(delayNs >= 0, 'delay', delayNs);
    return this.#scheduleAt(this.#nowNs + delayNs, orderKey, true, run);
  }

  /** The same for what is run when the clock comes by, but does not make it move: timers. */
  scheduleIdle(delayNs: number, orderKey: number, run: () => void): VirtualEvent {
    invariant(delayNs >= 0, 'delay', delayNs);
    return this.#scheduleAt(this.#nowNs + delayNs, orderKey, false, run);
  }

  /** True if the event was still pending; it will not run. */
  cancel(event: VirtualEvent): boolean {
    const index = this.#events.indexOf(event);
    if (index < 0) return false;
    this.#events.splice(index, 1);
    if (event.isDriving) this.#drivingCount--;
    return true;
  }

  /**
   * Lets `ns` more pass, event by event, and settles when the clock has come there. An automatic
   * clock would have moved anyway; there it only tells when.
   */
  advance(ns: number): Promise<void> {
    invariant(ns >= 0, 'time to advance', ns);
    const untilNs = (this.isAutomatic ? this.#nowNs : this.#limitNs) + ns;
    if (!this.isAutomatic) this.#limitNs = Math.min(untilNs, TIME_MAX_NS);
    return new Promise((resolve) => this.#scheduleAt(untilNs, Infinity, true, resolve));
  }

  /** Stops the clock until release(): something goes on that takes no virtual time. */
  hold(): void {
    this.#holdCount++;
  }

  /** Ends one hold(). */
  release(): void {
    invariant(this.#holdCount > 0, 'hold count', this.#holdCount);
    this.#holdCount--;
    if (this.#isRunning) return;
    if (this.#isInstantOpen && this.#turnsToSettle === 0) this.#runInstant();
    else this.#arm();
  }

  /** Users have been told or have started something: time waits for the settling turns. */
  touch(): void {
    this.#turnsToSettle = SETTLE_TURNS;
    this.#arm();
  }

  /** Calls `listener` whenever all events of one instant have run. Gives the function to stop. */
  onInstantEnd(listener: () => void): () => void {
    this.#instantEndListeners.add(listener);
    return () => this.#instantEndListeners.delete(listener);
  }

  #scheduleAt(timeNs: number, orderKey: number, isDriving: boolean, run: () => void): VirtualEvent {
    const atNs = Math.min(Math.round(timeNs), TIME_MAX_NS);
    const event: VirtualEvent = { atNs, orderKey, sequence: this.#sequence++, isDriving, run };
    if (isDriving) this.#drivingCount++;
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(event, this.#events[middle])) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
    this.#arm();
    return event;
  }

  #arm(): void {
    if (this.#immediate !== null || this.#holdCount > 0) return;
    if (!this.#isInstantOpen && !this.#mayMove()) return;
    this.#immediate = setImmediate(() => {
      this.#immediate = null;
      if (this.#holdCount > 0) return;
      if (this.#turnsToSettle > 0) {
        this.#turnsToSettle--;
        this.#arm();
      } else this.#runInstant();
    });
  }

  #mayMove(): boolean {
    return this.#drivingCount > 0 && this.#nextAtNs() <= this.#limitNs;
  }

  #nextAtNs(): number {
    return this.#events.at(-1)?.atNs ?? Number.POSITIVE_INFINITY;
  }

  /** Runs the events of one instant; when held between two of them, release() goes on. */
  #runInstant(): void {
    if (!this.#isInstantOpen) {
      if (!this.#mayMove()) return; // was cancelled meanwhile
      this.#nowNs = this.#nextAtNs();
      this.#isInstantOpen = true;
    }
    this.#isRunning = true;
    try {
      while (this.#holdCount === 0 && this.#nextAtNs() <= this.#nowNs) {
        const event = this.#events.pop();
        if (event?.isDriving === true) this.#drivingCount--;
        event?.run();
      }
    } finally {
      this.#isRunning = false;
    }
    if (this.#holdCount > 0) return;
    this.#isInstantOpen = false;
    for (const listener of this.#instantEndListeners) listener();
    this.#arm();
  }
}

function isBefore(left: VirtualEvent, right: VirtualEvent): boolean {
  if (left.atNs !== right.atNs) return left.atNs < right.atNs;
  if (left.orderKey !== right.orderKey) return left.orderKey < right.orderKey;
  return left.sequence < right.sequence;
}
