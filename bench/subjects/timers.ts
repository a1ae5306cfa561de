// Timers: arm a number of them and let all fire, or cancel all.
// The wait between arming and firing is spent in a loop and not measured: whoever is measured finds
// all deadlines passed, and the time is what handing them out costs. Delays are 1 to 256 ms, the
// same seeded sequence for all, a second longer where they are to be cancelled.
// A verified run gives every timer a target of its own and tells which fired, and how many early.
import { performance } from 'node:perf_hooks';
import { TimerWheel } from '../../lib/time/timer_wheel.ts';
import { type Message, textField, type WorkRequest } from '../harness/protocol.ts';
import { blockSequence, mix32 } from '../harness/work.ts';

export const DELAYS = 256;
const CANCEL_DELAY_MS = 1000;
const FIRE_COUNT_MAX = 4096;
// Node's timers and the wheel have whole milliseconds.
const SLACK_MS = 2;

/** One way to have timers. `arm` and `cancelAll` are what is measured; the loops are their own. */
interface Timers {
  /** One timer per delay, `delayMs` from now; `onFired` is called for each that fires. */
  arm(delaysMs: Uint32Array, onFired: () => void): void;
  /** The same, telling which. */
  armEach(delaysMs: Uint32Array, onFired: (index: number) => void): void;
  /** Cancels those that were armed, in that order, from the first on, every `step`-th. */
  cancel(step: number): void;
  /** Returns when all that are due have fired. */
  fire(areAllFired: () => boolean): Promise<void> | void;
}

class WheelTimers implements Timers {
  readonly #wheel = new TimerWheel({ nowMs: performance.now() });
  #handles = new Float64Array(0);

  arm(delaysMs: Uint32Array, onFired: () => void): void {
    const target = { timerExpired: onFired };
    const nowMs = this.#begin(delaysMs);
    for (let i = 0; i < delaysMs.length; i++) {
      this.#handles[i] = this.#wheel.arm(nowMs + delaysMs[i], target);
    }
  }

  armEach(delaysMs: Uint32Array, onFired: (index: number) => void): void {
    const nowMs = this.#begin(delaysMs);
    for (let i = 0; i < delaysMs.length; i++) {
      this.#handles[i] = this.#wheel.arm(nowMs + delaysMs[i], { timerExpired: () => onFired(i) });
    }
  }

  cancel(step: number): void {
    for (let i = 0; i < this.#handles.length; i += step) {
      if (!this.#wheel.cancel(this.#handles[i])) throw new Error('a timer was not armed');
    }
  }

  fire(): void {
    const nowMs = performance.now();
    while (this.#wheel.nextDeadlineMs() <= nowMs) this.#wheel.advance(nowMs, FIRE_COUNT_MAX);
  }

  // As a runtime does once a turn.
  #begin(delaysMs: Uint32Array): number {
    if (this.#handles.length !== delaysMs.length) this.#handles = new Float64Array(delaysMs.length);
    const nowMs = performance.now();
    this.#wheel.advance(nowMs, 0);
    return nowMs;
  }
}

// What a turn of Node's event loop fires is Node's to decide.
async function turns(areAllFired: () => boolean): Promise<void> {
  while (!areAllFired()) await new Promise((resolve) => setImmediate(resolve));
}

class NodeTimers implements Timers {
  #handles: NodeJS.Timeout[] = [];

  arm(delaysMs: Uint32Array, onFired: () => void): void {
    const handles = new Array<NodeJS.Timeout>(delaysMs.length);
    for (let i = 0; i < delaysMs.length; i++) handles[i] = setTimeout(onFired, delaysMs[i]);
    this.#handles = handles;
  }

  armEach(delaysMs: Uint32Array, onFired: (index: number) => void): void {
    this.#handles = Array.from(delaysMs, (delayMs, i) => setTimeout(() => onFired(i), delayMs));
  }

  cancel(step: number): void {
    for (let i = 0; i < this.#handles.length; i += step) clearTimeout(this.#handles[i]);
  }

  fire(areAllFired: () => boolean): Promise<void> {
    return turns(areAllFired);
  }
}

class SignalTimers implements Timers {
  /** A signal that nobody holds is collected, and never aborts. */
  signals: AbortSignal[] = [];

  arm(delaysMs: Uint32Array, onFired: () => void): void {
    this.armEach(delaysMs, onFired);
  }

  armEach(delaysMs: Uint32Array, onFired: (index: number) => void): void {
    this.signals = Array.from(delaysMs, (delayMs, i) => {
      const signal = AbortSignal.timeout(delayMs);
      signal.onabort = () => onFired(i);
      return signal;
    });
  }

  cancel(): void {
    throw new Error('AbortSignal.timeout cannot be cancelled');
  }

  fire(areAllFired: () => boolean): Promise<void> {
    return turns(areAllFired);
  }
}

const DRIVERS: Readonly<Record<string, () => Timers>> = {
  nephrite: () => new WheelTimers(),
  setTimeout: () => new NodeTimers(),
  'AbortSignal.timeout': () => new SignalTimers(),
};

// One for the process: what it holds is warm, as in a program that runs.
let timers: Timers | undefined;

export async function runTimers(
  request: WorkRequest,
  fields: Message,
): Promise<[string, string | number][]> {
  const make = DRIVERS[textField(fields, 'timers')];
  if (make === undefined) throw new Error(`no timers '${textField(fields, 'timers')}'`);
  timers ??= make();
  const isCancel = textField(fields, 'ends') === 'cancel';
  const delaysMs = delaysOf(request, isCancel ? CANCEL_DELAY_MS + 1 : 1);
  if (request.verify) return verify(timers, delaysMs, isCancel);
  let firedCount = 0;
  const onFired = (): void => {
    firedCount++;
  };
  const beganMs = performance.now();
  timers.arm(delaysMs, onFired);
  const armedMs = performance.now();
  if (!isCancel) spinUntil(armedMs + DELAYS + SLACK_MS);
  const endBeganMs = performance.now();
  if (isCancel) timers.cancel(1);
  else await timers.fire(() => firedCount >= request.ops);
  const endedMs = performance.now();
  const expected = isCancel ? 0 : request.ops;
  if (firedCount !== expected) throw new Error(`${firedCount} fired, not ${expected}`);
  return [
    ['ops', request.ops],
    ['armNs', Math.round((armedMs - beganMs) * 1e6)],
    ['endNs', Math.round((endedMs - endBeganMs) * 1e6)],
  ];
}

function delaysOf({ seed, ops }: WorkRequest, leastMs: number): Uint32Array {
  return blockSequence(seed, ops, DELAYS, false).map((delay) => delay + leastMs);
}

function spinUntil(timeMs: number): void {
  while (performance.now() < timeMs);
}

/** Which timers fire: all, or those that are not cancelled, which are every other one. */
async function verify(
  driver: Timers,
  delaysMs: Uint32Array,
  isCancel: boolean,
): Promise<[string, string | number][]> {
  const beganMs = performance.now();
  const firedTimes = new Uint8Array(delaysMs.length);
  let firedCount = 0;
  let earlyCount = 0;
  driver.armEach(delaysMs, (index) => {
    firedCount++;
    firedTimes[index]++;
    if (performance.now() < beganMs + delaysMs[index]) earlyCount++;
  });
  if (isCancel) driver.cancel(2);
  const expectedCount = isCancel ? delaysMs.length >> 1 : delaysMs.length;
  while (firedCount < expectedCount) {
    await driver.fire(() => true);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  let checksum = 0;
  for (const [index, times] of firedTimes.entries()) {
    checksum = (checksum + times * mix32(index)) >>> 0;
  }
  return [
    ['ops', delaysMs.length],
    ['checksum', checksum],
    ['early', earlyCount],
  ];
}

/** The checksum of a verified run. */
export function expectedTimersChecksum(ops: number, isCancel: boolean): number {
  let checksum = 0;
  for (let i = isCancel ? 1 : 0; i < ops; i += isCancel ? 2 : 1) {
    checksum = (checksum + mix32(i)) >>> 0;
  }
  return checksum;
}
