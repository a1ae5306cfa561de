// ThreadHost: the thread around a scheduler: its event loop, its alarm, its poller.
// Owner: one scheduler. Invariants: turns go through process.nextTick while they have taken less
// than a turn's time in a row, then through setImmediate, so that timers and sockets get theirs; an
// idle scheduler has nothing armed.
// Not here: the loop (scheduler.ts), the poller's own pump (io/io_thread.ts).
import { callSafely } from '../base/throw_later.ts';
import { type Capabilities, fileAuthorityOf } from '../bus/capabilities.ts';
import { setFileAuthority } from '../io/authority.ts';
import { openedThread } from '../io/current_thread.ts';
import type { IoThread } from '../io/io_thread.ts';
import { runWithoutStores } from '../task/async_context.ts';
import { OBSERVED } from '../task/state.ts';
import type { Task } from '../task/task.ts';
import { type AlarmClient, alarm } from '../time/alarm.ts';
import { armDeadline, cancelDeadline } from '../time/deadlines.ts';
import { RuntimeClock } from '../time/runtime_clock.ts';
import type { SchedulerHost } from './scheduler_host.ts';
import { TURN_MS } from './turn_budget.ts';

export class ThreadHost implements SchedulerHost, AlarmClient {
  readonly clock = new RuntimeClock();
  /** Called for a failure that nobody has asked for by the next turn of the event loop. */
  onUnobserved: (task: Task) => void = () => {};
  onIdle: () => void = () => {};
  onAlarm: () => void = () => {};
  #io: IoThread | undefined;
  #alarmMs = Infinity;
  #isKept = false;
  #isClosed = false;
  #burstStartMs = 0;
  #isBurstOver = false;
  #unobserved: Task[] = [];

  constructor() {
    alarm.attach(this);
  }

  arm(turn: () => void): void {
    if (this.#isBurstOver) this.armAfterEventLoop(turn);
    else process.nextTick(runWithoutStores, turn);
  }

  armAfterEventLoop(turn: () => void): void {
    setImmediate(() => {
      this.#isBurstOver = false;
      this.#burstStartMs = this.clock.nowMs();
      runWithoutStores(turn);
    });
  }

  setAlarm(deadlineMs: number): void {
    if (deadlineMs >= this.#alarmMs) return;
    this.#alarmMs = deadlineMs;
    alarm.rearm(this);
  }

  nextDeadlineMs(): number {
    return this.#alarmMs;
  }

  alarmExpired(): void {
    this.#alarmMs = Infinity;
    runWithoutStores(this.onAlarm);
  }

  keepAlive(isKept: boolean): void {
    if (isKept === this.#isKept || this.#isClosed) return;
    this.#isKept = isKept;
    if (isKept) alarm.ref();
    else alarm.unref();
  }

  enterTurn(): void {
    this.#io = openedThread();
    this.#io?.hold();
  }

  leaveTurn(): void {
    // A task may have opened it in this turn: then it has armed itself.
    this.#io?.release();
    this.#io = undefined;
    if (!this.#isBurstOver) {
      this.#isBurstOver = this.clock.nowMs() - this.#burstStartMs >= TURN_MS;
    }
  }

  enterTask({ rights }: Task): void {
    setFileAuthority(fileAuthorityOf(rights as Capabilities));
  }

  /** What is called back from the slice's end on is not the task's code. */
  leaveTask(): void {
    setFileAuthority(undefined);
  }

  drainCompletions(): void {
    const io = this.#io;
    if (io?.isBusy === true) io.pump();
  }

  submit(): void {
    this.drainCompletions();
  }

  reportLater(task: Task): void {
    if (this.#unobserved.length === 0) setImmediate(() => this.#report());
    this.#unobserved.push(task);
  }

  #report(): void {
    const tasks = this.#unobserved;
    this.#unobserved = [];
    for (const task of tasks) {
      if ((task.word & OBSERVED) === 0) callSafely(() => this.onUnobserved(task));
    }
  }

  becameIdle(): void {
    if (this.#isClosed) alarm.detach(this);
    this.onIdle();
  }

  callAfter(delayMs: number, call: () => void): () => void {
    // A timer of Node's own holds 31 bits of milliseconds.
    const deadline = armDeadline(delayMs, call);
    return () => cancelDeadline(deadline);
  }

  close(hasTasks: boolean): void {
    // Tasks that were left behind come to the end of their `finally` blocks, if the process lives.
    if (!hasTasks) alarm.detach(this);
    this.keepAlive(false);
    this.#isClosed = true;
  }
}
