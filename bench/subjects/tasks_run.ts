// The state of one run of a tasks case inside its subject's process: what is asked for, the clock,
// the checksum, and the arithmetic that all subjects share, so that they do the same work.
// Owner: one run. Invariants: only what lies between begin() and end() is measured, added up over
// several such stretches. Not here: what a subject does (tasks_nephrite.ts, tasks_effect.ts,
// tasks_platform.ts), the case (cases/tasks.ts).
import { performance } from 'node:perf_hooks';
import { type Message, numberField, textField, type WorkRequest } from '../harness/protocol.ts';
import { mix32 } from '../harness/work.ts';

/** What a tasks case adds to a request; WorkRequest.depth is the number of tasks. */
export interface TasksFields {
  /** Name of the work: a key of TasksDriver. */
  work: string;
  /** Generators between a task's body and its checkpoint. */
  levels: number;
  /** Where the peer effect is, as a URL. */
  effect: string;
}

export const HOG_SLICE_US = 100;
export const SLEEPER_MS = 1;
/** All sleep so long that the last is spawned before the first wakes. */
const SLEEP_MS_MIN = 500;
const SPAWNS_PER_MS_MIN = 200;
const SLEEP_SPREAD_MS = 256;
const SAMPLES_MAX = 4096;

export class TasksRun {
  readonly request: WorkRequest;
  readonly levels: number;
  checksum = 0;
  /** Operations that were done, where their number is not the one asked for. */
  ops: number;
  elapsedMs = 0;
  #cpuUs = 0;
  #beganMs = 0;
  #beganCpu = process.cpuUsage();
  readonly #samplesNs: number[] = [];

  constructor(request: WorkRequest, levels: number) {
    this.request = request;
    this.levels = levels;
    this.ops = request.ops;
  }

  begin(): void {
    this.#beganCpu = process.cpuUsage();
    this.#beganMs = performance.now();
  }

  end(): void {
    this.elapsedMs += performance.now() - this.#beganMs;
    const { user, system } = process.cpuUsage(this.#beganCpu);
    this.#cpuUs += user + system;
  }

  add(value: number): void {
    this.checksum = (this.checksum + value) >>> 0;
  }

  addSampleMs(durationMs: number): void {
    if (this.#samplesNs.length < SAMPLES_MAX) this.#samplesNs.push(Math.max(0, durationMs) * 1e6);
  }

  fields(): [string, string | number][] {
    return [
      ['ops', this.ops],
      ['elapsedNs', Math.round(this.elapsedMs * 1e6)],
      ['cpuNs', this.#cpuUs * 1000],
      ['checksum', this.checksum],
      ['samples', this.#samplesNs.map(Math.round).join(',')],
    ];
  }
}

/** One subject's way to do each work. */
export type TasksDriver = Readonly<Record<string, (run: TasksRun) => Promise<void>>>;

export function decodeTasks(fields: Message): TasksFields {
  return {
    work: textField(fields, 'work'),
    levels: numberField(fields, 'levels'),
    effect: textField(fields, 'effect'),
  };
}

// --- the work, as arithmetic ---

/** What a spawned child computes. */
export function childValue(index: number): number {
  return mix32(index);
}

/** How often each of the tasks passes a checkpoint. */
export function passesPerTask({ ops, depth }: Pick<WorkRequest, 'ops' | 'depth'>): number {
  return Math.max(1, Math.ceil(ops / depth));
}

/** Leaves of a skynet tree: the largest power of ten that is not above `ops`. */
export function skynetLeaves(ops: number): number {
  let leaves = 10;
  while (leaves * 10 <= ops) leaves *= 10;
  return leaves;
}

/** Nodes of the tree, the root included: each has a task. */
export function skynetNodes(leaves: number): number {
  let nodes = 1;
  for (let level = 10; level <= leaves; level *= 10) nodes += level;
  return nodes;
}

export function sleepMs(index: number, count: number): number {
  const leastMs = SLEEP_MS_MIN + count / SPAWNS_PER_MS_MIN;
  return leastMs + (mix32(index) % SLEEP_SPREAD_MS);
}

export function spinUs(durationUs: number): void {
  const endMs = performance.now() + durationUs / 1000;
  while (performance.now() < endMs);
}
