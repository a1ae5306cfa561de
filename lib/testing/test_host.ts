// TestHost: the world around the scheduler of a test runtime: virtual time, simulated I/O, turns in
// an order that real time has no part in.
// Owner: one test runtime. Invariants: while a turn is armed or running the clock stands still, so
// what is runnable runs before anything later happens; turns come from setImmediate, after the
// microtasks of async bodies and of those who joined; a run of TURNS_MAX turns without a step of
// the clock, and a turn of SLICES_MAX slices, cost TURN_MS of virtual time, so that nobody who
// spins stops the clock. Not here: which task runs (seeded_run_queue.ts), replay (replay_host.ts).

import type { VirtualEvent } from '../backend/simulated/virtual_clock.ts';
import { ALL_CAPABILITIES, type Capabilities, fileAuthorityOf } from '../bus/capabilities.ts';
import { setFileAuthority } from '../io/authority.ts';
import type { RuntimeHost } from '../runtime_parts.ts';
import { TURN_MS } from '../scheduler/turn_budget.ts';
import { OBSERVED } from '../task/state.ts';
import type { Task } from '../task/task.ts';
import type { SeededRunQueue } from './seeded_run_queue.ts';
import type { SimulatedIo } from './simulated_io.ts';
import type { TestClock } from './test_clock.ts';

const TURNS_MAX = 10_000;

export class TestHost implements RuntimeHost {
  readonly clock: TestClock;
  onUnobserved: (task: Task) => void = () => {};
  onIdle: () => void = () => {};
  onAlarm: () => void = () => {};
  readonly #io: SimulatedIo;
  readonly #queue: Pick<SeededRunQueue, 'endTurn'>;
  #alarmMs = Infinity;
  #alarm: VirtualEvent | undefined;
  #turnsAtMs = -1;
  #turns = 0;
  #isRestricted = false;
  #unobserved: Task[] = [];

  constructor(clock: TestClock, io: SimulatedIo, queue: Pick<SeededRunQueue, 'endTurn'>) {
    this.clock = clock;
    this.#io = io;
    this.#queue = queue;
  }

  arm(turn: () => void): void {
    const nowMs = this.clock.now();
    if (nowMs !== this.#turnsAtMs) this.#turns = 0;
    this.#turnsAtMs = nowMs;
    if (++this.#turns >= TURNS_MAX) this.armAfterEventLoop(turn);
    else this.#soon(turn);
  }

  armAfterEventLoop(turn: () => void): void {
    const { virtual } = this.clock;
    virtual.schedule(TURN_MS * 1e6, 0, turn);
  }

  /** Before the clock moves, after microtasks and ticks. */
  #soon(call: () => void): void {
    const { virtual } = this.clock;
    virtual.hold();
    setImmediate(() => {
      try {
        call();
      } finally {
        virtual.release();
      }
    });
  }

  setAlarm(deadlineMs: number): void {
    if (deadlineMs >= this.#alarmMs) return;
    this.#stopAlarm();
    this.#alarmMs = deadlineMs;
    this.#alarm = this.clock.at(deadlineMs, () => {
      this.#alarm = undefined;
      this.#alarmMs = Infinity;
      this.onAlarm();
    });
  }

  #stopAlarm(): void {
    if (this.#alarm !== undefined) this.clock.virtual.cancel(this.#alarm);
    this.#alarm = undefined;
    this.#alarmMs = Infinity;
  }

  /** From now on the clock moves to the next timer when nothing else is under way. */
  driveTimers(): void {
    this.clock.isDrivenByTimers = true;
    const deadlineMs = this.#alarmMs;
    this.#stopAlarm();
    if (deadlineMs !== Infinity) this.setAlarm(deadlineMs);
  }

  /** Virtual time keeps no process alive; real work of the backend below does. */
  keepAlive(): void {}

  enterTurn(): void {
    this.#io.enterTurn();
  }

  leaveTurn(): void {
    this.#io.leaveTurn();
    this.#queue.endTurn();
  }

  enterTask({ rights }: Task): void {
    this.#isRestricted = rights !== ALL_CAPABILITIES;
    if (this.#isRestricted) setFileAuthority(fileAuthorityOf(rights as Capabilities));
  }

  leaveTask(): void {
    if (this.#isRestricted) setFileAuthority(undefined);
    this.#isRestricted = false;
  }

  drainCompletions(): void {
    this.#io.pump();
  }

  submit(): void {
    this.#io.pump();
  }

  reportLater(task: Task): void {
    if (this.#unobserved.length === 0) this.#soon(() => this.#report());
    this.#unobserved.push(task);
  }

  #report(): void {
    const tasks = this.#unobserved;
    this.#unobserved = [];
    for (const task of tasks) if ((task.word & OBSERVED) === 0) this.onUnobserved(task);
  }

  becameIdle(): void {
    this.onIdle();
  }

  callAfter(delayMs: number, call: () => void): () => void {
    const { virtual } = this.clock;
    const event = virtual.schedule(Math.ceil(delayMs * 1e6), 0, call);
    return () => virtual.cancel(event);
  }

  close(): void {
    this.#stopAlarm();
    this.#io.close();
  }
}
