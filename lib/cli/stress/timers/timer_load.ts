// TimerLoad: a task that keeps timers armed, cancels some, and follows each to its end.
// Flow: options -> [arm, cancel, settle] -> recorder, tallies
// Owner: one run. Invariants: a timer is judged by a clock read before it was armed and one read
// when its waiter is called, so "early" is never an error of measurement; it ends once, as fired or
// as cancelled; the task ends when all have, or are given up as lost.
// Not here: the bus's side of the story (run.ts).
import { Prng } from '../../../base/prng.ts';
import { checkpoint, type Operation, sleep, type TaskGenerator } from '../../../index.ts';
import type { Recorder } from '../../load/recorder.ts';
import type { StopControl } from '../../load/stop_control.ts';
import { Tally } from '../tally.ts';
import { drawDelayMs, type TimersOptions } from './options.ts';

export const TIMER_KINDS = ['fired', 'cancelled'] as const;
const FIRED = 0;
const CANCELLED = 1;

/** What is armed or cancelled between two looks at the clock. */
const BATCH_MAX = 500;
/** A timer that is so late is lost. */
const LOST_MS = 10_000;
/** More than any slice's budget: such a checkpoint gives way. */
const WHOLE_BUDGET = 1e6;

interface Timer {
  readonly sinceMs: number;
  readonly delayMs: number;
  operation: Operation<void>;
  isCancelled: boolean;
  endCount: number;
}

export class TimerLoad {
  readonly early = new Tally('no timer fires early');
  readonly once = new Tally('each timer ends once');
  /** Timers that fired, the task's own waits included. */
  expiredCount = 0;
  armed = 0;
  readonly #options: TimersOptions;
  readonly #recorder: Recorder;
  readonly #stop: StopControl;
  readonly #prng: Prng;
  readonly #doomed: Timer[] = [];
  #armedTotal = 0;
  #endMs = Infinity;

  constructor(options: TimersOptions, recorder: Recorder, stop: StopControl) {
    this.#options = options;
    this.#recorder = recorder;
    this.#stop = stop;
    this.#prng = new Prng(options.seed, 0x71e5);
  }

  /** The body of the task. Returns how many timers were lost. */
  *run(startMs: number): TaskGenerator<number> {
    this.#endMs = startMs + this.#options.rampMs + this.#options.durationMs;
    while (!this.#stop.isStopped && performance.now() < this.#endMs) {
      const changes = this.#armSome(startMs) + this.#cancelSome();
      if (changes > 0) yield* checkpoint(WHOLE_BUDGET);
      else yield* this.#pause();
    }
    // Those that were to fire within the run still do.
    const lostMs = performance.now() + LOST_MS;
    while (this.armed > 0 && performance.now() < lostMs) {
      if (this.#stop.isStopped) this.#endMs = 0;
      if (this.#cancelSome() > 0) yield* checkpoint(WHOLE_BUDGET);
      else yield* this.#pause();
    }
    if (this.armed > 0) this.once.violate(`${this.armed} timers did not end`);
    return this.armed;
  }

  *#pause(): TaskGenerator<void> {
    yield* sleep(1);
    this.expiredCount++;
  }

  #armSome(startMs: number): number {
    const { depth, ratePerSecond } = this.#options;
    const elapsedMs = performance.now() - startMs;
    const allowed = ratePerSecond === null ? Infinity : (elapsedMs / 1e3) * ratePerSecond;
    const count = Math.min(depth - this.armed, BATCH_MAX, Math.floor(allowed) - this.#armedTotal);
    for (let i = 0; i < count; i++) this.#arm();
    return Math.max(0, count);
  }

  #arm(): void {
    const delayMs = drawDelayMs(this.#options.delays, this.#prng);
    const sinceMs = performance.now();
    const operation = sleep(delayMs);
    const timer: Timer = { sinceMs, delayMs, operation, isCancelled: false, endCount: 0 };
    this.armed++;
    this.#armedTotal++;
    operation.then(
      () => this.#fired(timer),
      (error: unknown) => this.#failed(timer, error),
    );
    const isBeyondEnd = sinceMs + delayMs > this.#endMs;
    if (isBeyondEnd || this.#prng.nextBelow(100) < this.#options.cancelPercent) {
      this.#doomed.push(timer);
    }
  }

  /** In random order, an eighth of those that are to be cancelled at a time. */
  #cancelSome(): number {
    const count = Math.min(BATCH_MAX, Math.ceil(this.#doomed.length / 8));
    for (let i = 0; i < count; i++) {
      const at = this.#prng.nextBelow(this.#doomed.length);
      const timer = this.#doomed[at];
      const last = this.#doomed.pop();
      if (timer === undefined || last === undefined) break;
      if (last !== timer) this.#doomed[at] = last;
      // Fired before: cancelling must change nothing, and #ended counts on.
      timer.isCancelled = timer.endCount === 0;
      timer.operation.cancel();
      if (!timer.operation.isSettled) this.once.violate(describe(timer, 'goes on'));
    }
    return count;
  }

  #fired(timer: Timer): void {
    const latenessMs = performance.now() - timer.sinceMs - timer.delayMs;
    this.expiredCount++;
    this.#recorder.recordOperation(FIRED, latenessMs, 0);
    this.early.check(latenessMs >= 0, () => describe(timer, `fired ${-latenessMs} ms early`));
    if (timer.isCancelled) this.once.violate(describe(timer, 'fired after it was cancelled'));
    this.#ended(timer);
  }

  #failed(timer: Timer, error: unknown): void {
    if (timer.isCancelled) this.#recorder.countOperation(CANCELLED);
    else this.#recorder.recordError(error);
    this.#ended(timer);
  }

  #ended(timer: Timer): void {
    timer.endCount++;
    this.armed--;
    this.once.check(timer.endCount === 1, () => describe(timer, `ended ${timer.endCount} times`));
  }
}

function describe({ delayMs }: Timer, what: string): string {
  return `a timer of ${delayMs} ms ${what}`;
}
