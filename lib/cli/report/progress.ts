// Live progress, once a second: one rewritten line on a terminal, plain lines elsewhere.
// Flow: run observer + recorder -> [progress] -> standard error
// Owner: the command, for the length of the run. Invariants: reads counters, changes none; its
// timer never keeps the process alive; a closed standard error ends it silently.
// Not here: the final report (text.ts).
import type { Contestant } from '../load/contestant.ts';
import type { RunObserver } from '../stress/run.ts';
import { formatBytes, formatCount, formatUs, trimNumber } from '../units.ts';

const PERIOD_MS = 1000;

/** Whose counts are shown. */
export type ProgressSource = Pick<Contestant, 'name' | 'backend' | 'recorder' | 'isCountedLive'>;

/** Where progress goes: standard error. */
export interface ProgressSink {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Reports the phases of a run as they happen. */
export class Progress implements RunObserver {
  readonly #sink: ProgressSink;
  readonly #isLive: boolean;
  #timer: NodeJS.Timeout | undefined;
  #contestant: ProgressSource | null = null;
  #label = '';
  #startMs = 0;
  #lastMs = 0;
  #lastOperations = 0;
  #lastBytes = 0;
  #layoutMs = 0;
  #hasLine = false;

  constructor(sink: ProgressSink) {
    this.#sink = sink;
    this.#isLive = sink.isTTY === true && process.env.TERM !== 'dumb';
  }

  onLayout(bytes: number, totalBytes: number): void {
    const nowMs = performance.now();
    const isFirst = this.#layoutMs === 0;
    if (!isFirst && nowMs - this.#layoutMs < PERIOD_MS) return;
    this.#layoutMs = nowMs;
    const done = isFirst ? '' : `, ${formatBytes(bytes)} done`;
    this.#show(`laying out ${formatBytes(totalBytes)}${done}`);
  }

  onStart(folder: string): void {
    this.#line(`running in ${folder}`);
    this.start();
  }

  /** Shows counts from now on; for runs without a folder. */
  start(): void {
    this.#timer = setInterval(() => this.#tick(), PERIOD_MS);
    this.#timer.unref();
  }

  onRound(contestant: ProgressSource, round: number, rounds: number): void {
    this.#contestant = contestant;
    const which = rounds === 1 ? '' : ` round ${round + 1} of ${rounds}`;
    this.#label = `${contestant.name} (${contestant.backend})${which}`;
    this.#startMs = performance.now();
    this.#lastMs = this.#startMs;
    this.#lastOperations = contestant.recorder.operations;
    this.#lastBytes = contestant.recorder.bytes;
  }

  onRoundEnd(): void {
    this.#contestant = null;
  }

  onFinalCheck(): void {
    this.#show('reading back everything that was written');
  }

  /** Ends the live line, so that what follows starts on its own. */
  finish(): void {
    clearInterval(this.#timer);
    if (this.#isLive && this.#hasLine) this.#sink.write('\r\u001b[K');
    this.#hasLine = false;
  }

  /** A line that stays. */
  note(text: string): void {
    this.#line(text);
  }

  #tick(): void {
    const contestant = this.#contestant;
    if (contestant === null) return;
    const { recorder } = contestant;
    const nowMs = performance.now();
    if (!contestant.isCountedLive) {
      this.#show(`${this.#label}  running`);
      return;
    }
    const seconds = (nowMs - this.#lastMs) / 1e3;
    const operations = (recorder.operations - this.#lastOperations) / seconds;
    const mib = (recorder.bytes - this.#lastBytes) / 2 ** 20 / seconds;
    const last = recorder.samples.at(-1);
    const latency =
      last === undefined ? '' : `  p50 ${formatUs(last.p50Us)} us  p99 ${formatUs(last.p99Us)} us`;
    const errors = recorder.errors === 0 ? '' : `  errors ${formatCount(recorder.errors)}`;
    const bad = recorder.mismatchCount === 0 ? '' : `  MISMATCHES ${recorder.mismatchCount}`;
    const elapsed = `${((nowMs - this.#startMs) / 1e3).toFixed(1)} s`;
    const moved = recorder.bytes === 0 ? '' : `  ${trimNumber(mib)} MiB/s`;
    this.#show(
      `${this.#label}  ${elapsed}  ${formatCount(operations)}/s${moved}${latency}${errors}${bad}`,
    );
    this.#lastMs = nowMs;
    this.#lastOperations = recorder.operations;
    this.#lastBytes = recorder.bytes;
  }

  #show(text: string): void {
    if (!this.#isLive) {
      this.#line(text);
      return;
    }
    this.#sink.write(`\r\u001b[K${text.slice(0, (this.#sink.columns ?? 80) - 1)}`);
    this.#hasLine = true;
  }

  #line(text: string): void {
    if (this.#isLive && this.#hasLine) this.#sink.write('\r\u001b[K');
    this.#hasLine = false;
    this.#sink.write(`${text}\n`);
  }
}

/** Says nothing: --quiet. */
export const SILENT_OBSERVER: RunObserver = {
  onLayout: () => undefined,
  onStart: () => undefined,
  onRound: () => undefined,
  onRoundEnd: () => undefined,
  onFinalCheck: () => undefined,
};
