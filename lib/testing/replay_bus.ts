// ReplayBus: the bus of a replay. Every command and decision is compared with the record, written
// out as recorded, and held back where it came early.
// Owner: one replaying runtime. Invariants: a wake waits until the record has it; parks and
// expiries are the record's own. Where the record did not wait because I/O had settled by then, and
// here it has not, the task waits unseen, and goes on in the middle of its recorded slice.
// Not here: what makes I/O, timers and turns happen (replay_host.ts).

import { ManualOperation, type Operation } from '../base/operation.ts';
import * as commands from '../bus/commands.ts';
import type { SchedulerPort } from '../bus/scheduler_port.ts';
import { IoOperation } from '../io/io_operation.ts';
import type { TaskRights } from '../task/command_sink.ts';
import type { Task } from '../task/task.ts';
import type { ReplayQueue } from './replay_queue.ts';
import { isSame, type ReplayScript } from './replay_script.ts';
import { type PlainEvent, TestBus } from './test_bus.ts';

// How I/O, and what is made of it, describes itself.
const ANY_IO = 'operation';

/** Who is told what the bus finds. */
export interface ReplayWatcher {
  /** The record has moved on to an event of that time. */
  passed(atMs: number): void;
  diverged(): void;
  /** Inside a turn or a timer. */
  readonly isInTurn: boolean;
}

export class ReplayBus extends TestBus {
  readonly #script: ReplayScript;
  readonly #queue: ReplayQueue;
  readonly #watcher: ReplayWatcher;
  /** Woken before the record says so. */
  readonly #held = new Map<number, Task>();
  /** Wait unseen; true: the record has preempted them there. */
  readonly #unseen = new Map<number, boolean>();
  /** Open operations of the running task when its slice began. */
  #ownedBefore: unknown;
  #expiredCount = 0;
  /** Begins to close the runtime. */
  #close: (() => void) | undefined;
  /** Async bodies at a checkpoint. */
  #givingWay: ManualOperation<void>[] = [];

  constructor(
    port: SchedulerPort,
    rights: TaskRights,
    script: ReplayScript,
    queue: ReplayQueue,
    watcher: ReplayWatcher,
  ) {
    super(port, rights);
    this.#script = script;
    this.#queue = queue;
    this.#watcher = watcher;
    // Everything is compared, whether or not anybody else listens.
    this.tap(() => {});
  }

  /** Tasks whose wait the record does not know. */
  get hasUnseen(): boolean {
    return this.#unseen.size > 0;
  }

  sliceBegins(task: Task): void {
    this.#ownedBefore = task.firstOwned;
  }

  protected override write(came: PlainEvent): void {
    const script = this.#script;
    if (script.divergence !== undefined) {
      super.write(came);
      return;
    }
    if (came.opcode === commands.OP_PARK) return;
    if (came.opcode === commands.OP_EXPIRE) {
      this.#expiredCount += Number(came.detail);
      this.#passOwn();
      return;
    }
    if (came.opcode === commands.OP_DISPATCH && this.#queue.isContinuing(came.taskId)) {
      this.#queue.continued();
      return;
    }
    this.#passOwn();
    const { next } = script;
    if (next !== undefined && isSame(next, came)) {
      this.#pass();
      this.#passOwn();
    } else if (this.#watcher.isInTurn || !script.keepEarly(came)) {
      this.#diverge(came);
    }
  }

  #pass(): void {
    const { atMs, opcode, subcode, taskId, detail } = this.#script.pass();
    this.#watcher.passed(atMs);
    this.taps.write(atMs, opcode, subcode, taskId, detail);
  }

  /** What the record decides alone, and what has come before: none of it is waited for. */
  #passOwn(): void {
    const script = this.#script;
    for (let { next } = script; next !== undefined; next = script.next) {
      if (next.opcode === commands.OP_EXPIRE) {
        const count = Number(next.detail);
        if (this.#expiredCount < count) return;
        this.#expiredCount -= count;
      } else if (next.opcode === commands.OP_GO_ON) {
        const count = Number(next.detail);
        if (this.#givingWay.length < count) return;
        for (const turn of this.#givingWay.splice(0, count)) turn.resolveWith();
      } else if (next.opcode !== commands.OP_PARK && !script.takeEarly()) {
        break;
      }
      this.#pass();
    }
    if (script.isOver || script.isNext(commands.OP_CLOSE, 0)) this.closeNow();
    if (script.isOver) for (const turn of this.#givingWay.splice(0)) turn.resolveWith();
    this.#releaseWake();
  }

  #releaseWake(): void {
    const { next } = this.#script;
    if (next?.opcode !== commands.OP_WAKE) return;
    const task = this.#held.get(next.taskId);
    if (task === undefined) return;
    this.#held.delete(next.taskId);
    super.wake(task);
  }

  #diverge(came: PlainEvent | undefined): void {
    this.#script.diverged(came);
    for (const turn of this.#givingWay.splice(0)) turn.resolveWith();
    const held = [...this.#held.values()];
    this.#held.clear();
    for (const task of held) super.wake(task);
    this.#watcher.diverged();
  }

  /** The run is over: so must be the record. */
  ended(): void {
    this.#passOwn();
    if (!this.#script.isOver) this.#diverge(undefined);
  }

  override wake(task: Task): void {
    const script = this.#script;
    const wasPreempted = this.#unseen.get(task.id);
    if (wasPreempted !== undefined) {
      this.#unseen.delete(task.id);
      this.port.makeRunnable(task);
      if (!wasPreempted) this.#queue.continueWith(task);
      return;
    }
    this.#passOwn();
    if (script.isOver || script.isNext(commands.OP_WAKE, task.id)) super.wake(task);
    else this.#held.set(task.id, task);
  }

  /** Calls `close` when the record has come to it. */
  closeInTime(close: () => void): void {
    this.#close = close;
    this.#passOwn();
  }

  /** Nothing that the record waits for can come any more. */
  closeNow(): void {
    const close = this.#close;
    this.#close = undefined;
    close?.();
  }

  override giveWay(): PromiseLike<void> {
    if (this.#script.isOver) return super.giveWay();
    this.trace(commands.OP_RESUME, 0, 0, undefined);
    const turn = new ManualOperation<void>();
    this.#givingWay.push(turn);
    this.#passOwn();
    return turn;
  }

  override wait(task: Task, waitable: Operation<unknown>): void {
    const script = this.#script;
    this.#passOwn();
    const isNext = script.isNext(commands.OP_WAIT, task.id);
    const isRecorded = script.isOver || (isNext && this.#isRecordedWait(waitable));
    if (isRecorded || !this.#mayHaveSettled(task, waitable)) {
      super.wait(task, waitable);
      return;
    }
    const wasPreempted = script.isNext(commands.OP_PREEMPT, task.id);
    if (wasPreempted) {
      task.reductionCount = Number(script.next?.detail);
      this.#pass();
      if (script.isNext(commands.OP_YIELD, task.id)) this.#pass();
    }
    this.#unseen.set(task.id, wasPreempted);
    this.port.suspend(task, waitable);
    this.#passOwn();
  }

  #isRecordedWait(waitable: Operation<unknown>): boolean {
    const wasForIo = this.#script.next?.detail === ANY_IO;
    return wasForIo === (waitable.describeWait() === ANY_IO);
  }

  /** I/O that was started in an earlier slice: by now it may be over, or not. */
  #mayHaveSettled(task: Task, waitable: Operation<unknown>): boolean {
    if (!(waitable instanceof IoOperation) && waitable.describeWait() !== ANY_IO) return false;
    for (let own = task.firstOwned; own !== undefined; own = own.nextOwned) {
      if (own === this.#ownedBefore) return true;
      if (own === waitable) return false;
    }
    return true;
  }
}
