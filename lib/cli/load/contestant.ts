// A contestant runs rounds of the same workload and gives its counts: nephrite, Node or fio.
// Flow: stress/run.ts -> [contestant: ramp, round, round, ...] -> ContestantCounts
// Owner: the run. Invariants: rounds of different contestants never overlap; round r draws the same
// operations for every contestant.
// Not here: fio (fio.ts), statistics (stress/result.ts).
import type { BlockTable } from '../workload/block_table.ts';
import type { BlockPattern } from '../workload/pattern.ts';
import { Workload, type WorkloadShape } from '../workload/workload.ts';
import { closeBlockFiles, type DataSet, openBlockFiles } from './data_set.ts';
import { Executor, type Lane } from './executor.ts';
import { type PhaseOutcome, runPhase } from './lanes.ts';
import { Recorder } from './recorder.ts';
import type { StopControl } from './stop_control.ts';
import type { FileSubject, SubjectFile } from './subject.ts';

/** What rounds add up to besides the recorder's counts. */
export interface RoundTotals {
  /** Operations per second of each measured round. */
  readonly roundRates: number[];
  cpuUs: number;
  contextSwitches: number | null;
  systemCalls: number | null;
  notStarted: number;
  unfinished: number;
}

/** One participant of a run. */
export interface Contestant {
  readonly name: string;
  readonly backend: string;
  readonly why: string;
  readonly recorder: Recorder;
  readonly totals: RoundTotals;
  /** False when its reads are not checked. */
  readonly isVerified: boolean;
  /** False when its counts come at the end of a round only. */
  readonly isCountedLive: boolean;
  /** Load that is checked but not counted. */
  ramp(durationMs: number): Promise<void>;
  round(index: number, durationMs: number): Promise<void>;
  close(): Promise<void>;
}

/** What a library contestant shares with the run. */
export interface ContestantParts {
  readonly dataSet: DataSet;
  readonly table: BlockTable;
  readonly pattern: BlockPattern;
  readonly shape: WorkloadShape;
  readonly depth: number;
  readonly runDurationMs: number;
  readonly ratePerSecond: number | null;
  readonly isVerified: boolean;
  readonly stop: StopControl;
}

export function createTotals(): RoundTotals {
  return {
    roundRates: [],
    cpuUs: 0,
    contextSwitches: null,
    systemCalls: null,
    notStarted: 0,
    unfinished: 0,
  };
}

/** Opens the data set for a subject and gets its lanes ready. */
export async function createLibraryContestant(
  subject: FileSubject,
  parts: ContestantParts,
): Promise<Contestant> {
  const files = await openBlockFiles(subject, parts.dataSet);
  return new LibraryContestant(subject, files, parts);
}

class LibraryContestant implements Contestant {
  readonly recorder = new Recorder();
  readonly totals = createTotals();
  readonly isCountedLive = true;
  readonly #subject: FileSubject;
  readonly #files: readonly SubjectFile[];
  readonly #parts: ContestantParts;
  readonly #executor: Executor;
  readonly #lanes: readonly Lane[];

  constructor(subject: FileSubject, files: readonly SubjectFile[], parts: ContestantParts) {
    this.#subject = subject;
    this.#files = files;
    this.#parts = parts;
    this.#executor = new Executor({ ...parts, subject, files }, this.recorder);
    this.#lanes = Array.from({ length: parts.depth }, () => this.#executor.createLane());
  }

  get name(): string {
    return this.#subject.name;
  }

  get backend(): string {
    return this.#subject.backend;
  }

  get why(): string {
    return this.#subject.why;
  }

  get isVerified(): boolean {
    return this.#parts.isVerified;
  }

  async ramp(durationMs: number): Promise<void> {
    if (durationMs === 0) return;
    const warmUp = new Recorder();
    this.#executor.recorder = warmUp;
    const outcome = await this.#run(-1, durationMs);
    this.#executor.recorder = this.recorder;
    this.totals.unfinished += outcome.unfinished;
    // What the warm-up found wrong counts; how fast it was does not.
    this.recorder.adoptFindings(warmUp);
  }

  async round(index: number, durationMs: number): Promise<void> {
    const operationsBefore = this.recorder.operations;
    const cpuBefore = process.cpuUsage();
    const switchesBefore = contextSwitches();
    const callsBefore = this.#subject.systemCalls();
    const outcome = await this.#run(index, durationMs);
    const cpu = process.cpuUsage(cpuBefore);
    const callsAfter = this.#subject.systemCalls();
    const totals = this.totals;
    totals.cpuUs += cpu.user + cpu.system;
    totals.contextSwitches = (totals.contextSwitches ?? 0) + contextSwitches() - switchesBefore;
    if (callsBefore !== null && callsAfter !== null) {
      totals.systemCalls = (totals.systemCalls ?? 0) + callsAfter - callsBefore;
    }
    totals.notStarted += outcome.notStarted;
    totals.unfinished += outcome.unfinished;
    const operations = this.recorder.operations - operationsBefore;
    totals.roundRates.push((operations / outcome.elapsedMs) * 1e3);
  }

  async close(): Promise<void> {
    // A close waits for what is pending on the file; with a hanging operation it would hang too.
    if (this.totals.unfinished > 0) return;
    await closeBlockFiles(this.#files);
  }

  #run(index: number, durationMs: number): Promise<PhaseOutcome> {
    const { shape, table } = this.#parts;
    const workload = new Workload(shape, table, index + 1);
    return runPhase({
      executor: this.#executor,
      lanes: this.#lanes,
      workload,
      durationMs,
      runDurationMs: this.#parts.runDurationMs,
      ratePerSecond: this.#parts.ratePerSecond,
      stop: this.#parts.stop,
    });
  }
}

/** Of the whole process so far. */
export function contextSwitches(): number {
  const usage = process.resourceUsage();
  return usage.voluntaryContextSwitches + usage.involuntaryContextSwitches;
}
