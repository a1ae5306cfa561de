// Ledger: every task of the run, what it must come to and what became of it, kept twice: by the
// program that spawned it, and from the bus of the runtime.
// Flow: spawn -> [expect] -> settled -> [compare]; bus tap -> [follow] -> [close: compare both]
// Owner: one run. Invariants: bounded by the tasks that live; both sides count apart from each
// other.
// Not here: what tasks do (leaves.ts, tree.ts).
import type { Operation, Outcome, Runtime, Task } from '../../../index.ts';
import type { Recorder } from '../../load/recorder.ts';
import type { Check } from '../result.ts';
import { Tally } from '../tally.ts';
import { LEAF_KINDS } from './mix.ts';

export type Status = Outcome<unknown>['status'];

/** Kinds of tasks, as they are counted. */
export const TASK_KINDS = [
  'tree',
  'inner',
  ...LEAF_KINDS,
  'producer',
  'consumer',
  'victim',
] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

const STATUSES: readonly Status[] = ['success', 'failure', 'trap', 'cancelled'];

export class Ledger {
  readonly outcomes = new Tally('each task has one outcome, the one it must have');
  readonly onBus = new Tally('on the bus each task is spawned once and completes once');
  readonly values = new Tally('values, errors and reasons arrive as they are');
  readonly cleanups = new Tally('`finally` runs once in each task that was entered');
  readonly bytes = new Tally('blocks read have the bytes they must have');
  readonly rest = new Tally('nothing is left at the end');
  readonly recorder: Recorder;
  /** Spawned and not ended, as the program sees it. */
  openCount = 0;
  readonly #counts: Record<Status, number> = { success: 0, failure: 0, trap: 0, cancelled: 0 };
  readonly #busCounts: Record<Status, number> = { success: 0, failure: 0, trap: 0, cancelled: 0 };
  readonly #busOpen = new Set<number>();
  #isFollowing = false;

  constructor(recorder: Recorder) {
    this.recorder = recorder;
  }

  /** Follows `task`, spawned at `spawnedMs`, to its outcome. */
  expect<T>(task: Task<T>, kind: TaskKind, status: Status, spawnedMs: number): Task<T> {
    this.openCount++;
    const settled: Operation<Outcome<T>> = task.settled();
    settled.then((outcome) => {
      this.openCount--;
      this.#counts[outcome.status]++;
      const latencyMs = performance.now() - spawnedMs;
      this.recorder.recordOperation(TASK_KINDS.indexOf(kind), latencyMs, 0);
      const isRight = outcome.status === status;
      this.outcomes.check(isRight, () => describe(kind, status, outcome));
      if (!isRight && outcome.status === 'failure') this.recorder.recordError(outcome.error);
    });
    return task;
  }

  /** Counts from the bus as well; returns the function that ends it. */
  follow(runtime: Runtime): () => void {
    this.#isFollowing = true;
    return runtime.bus.tap(({ command, taskId, subcode }) => {
      if (command === 'spawn') {
        this.onBus.check(!this.#busOpen.has(taskId), () => `task ${taskId} was spawned twice`);
        this.#busOpen.add(taskId);
      } else if (command === 'complete') {
        const isOpen = this.#busOpen.delete(taskId);
        this.onBus.check(isOpen, () => `task ${taskId} completed, but was not running`);
        const status = STATUSES[subcode];
        if (status !== undefined) this.#busCounts[status]++;
      }
    });
  }

  /** The last checks, when no task is to be left. */
  close(runtime: Runtime): void {
    const left = runtime.dump();
    this.rest.check(left.length === 0, () => `${left.length} tasks live: ${left[0]?.name}`);
    this.rest.check(this.openCount === 0, () => `${this.openCount} tasks never ended`);
    if (!this.#isFollowing) return;
    this.rest.check(this.#busOpen.size === 0, () => `${this.#busOpen.size} open on the bus`);
    for (const status of STATUSES) {
      const [own, bus] = [this.#counts[status], this.#busCounts[status]];
      this.onBus.check(own === bus, () => `${status}: ${bus} on the bus, ${own} in the program`);
    }
  }

  checks(): Check[] {
    const all = [this.outcomes, this.onBus, this.values, this.cleanups, this.bytes, this.rest];
    return all.filter(({ count }) => count > 0).map((tally) => tally.result());
  }
}

function describe(kind: TaskKind, expected: Status, outcome: Outcome<unknown>): string {
  const detail = outcome.status === 'failure' ? ` (${String(outcome.error)})` : '';
  const info = outcome.status === 'trap' ? ` (${outcome.info.kind}: ${outcome.info.message})` : '';
  return `${kind}: ${outcome.status}${detail}${info}, ${expected} expected`;
}
