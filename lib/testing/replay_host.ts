// ReplayHost: makes happen what the record wants next: one completion at a time, one timer at a
// time, and turns; when it wants what only the program can do, nothing.
// Owner: one replaying runtime. Invariants: I/O goes on only while the record waits for it, in the
// order in which it was started; a slice that was preempted in the record gets exactly the
// reductions that it used up. Not here: who compares (replay_bus.ts).
import * as abi from '../abi/layout.ts';
import { opcodeName } from '../backend/simulated/opcode_names.ts';
import type { DecisionSource } from '../backend/simulated/simulated_backend.ts';
import type { Decision } from '../backend/simulated/simulation_trace.ts';
import { VirtualClock } from '../backend/simulated/virtual_clock.ts';
import { budget } from '../base/suspension.ts';
import * as commands from '../bus/commands.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { StallWatch } from '../scheduler/stall_watch.ts';
import type { Task } from '../task/task.ts';
import type { ReplayBus } from './replay_bus.ts';
import type { ReplayClock } from './replay_clock.ts';
import type { ReplayScript } from './replay_script.ts';
import type { SimulatedIo } from './simulated_io.ts';
import { TestHost } from './test_host.ts';

const STEP_NS = 1000;
// Turns of the event loop in which the program may react before the next thing is made to happen.
const SETTLE_TURNS = 4;
// The record knows the time at the begin of a turn; timers fire a little later in it.
const EXPIRY_MS = 2;
// More than a slice has steps.
const NO_CLOCK = 2 ** 30;

/** I/O in the order of its start, a step of the clock apart. */
export class InOrder implements DecisionSource {
  readonly clock = new VirtualClock({ isAutomatic: false });
  #lastNs = 0;

  decide(slot: number, opcode: number): Decision {
    const { nowNs } = this.clock;
    this.#lastNs = Math.max(this.#lastNs, nowNs) + (opcode === abi.OP_CANCEL ? 0 : STEP_NS);
    const effectDelayNs = this.#lastNs - nowNs;
    const name = opcodeName(opcode);
    return {
      slot,
      opcode: name,
      errno: 0,
      bytesMax: null,
      effectDelayNs,
      completionDelayNs: 0,
      orderKey: 0,
    };
  }
}

/** Watches for no stalls: it is the scheduler's one call before each slice. */
export class SliceWatch extends StallWatch {
  readonly #host: ReplayHost;

  constructor(host: ReplayHost) {
    super(Infinity, () => {});
    this.#host = host;
  }

  override dispatched(task: Task): void {
    this.#host.sliceBegins(task);
  }

  override clockRead(): void {}
}

export class ReplayHost extends TestHost {
  readonly #clock: ReplayClock;
  readonly #io: SimulatedIo;
  readonly #order: InOrder;
  readonly #script: ReplayScript;
  /** Set right after construction: they need each other. */
  scheduler!: Scheduler;
  bus!: ReplayBus;
  #isClosed = false;
  #isTurnArmed = false;
  #settleTurns = 0;
  #isStepping = false;
  #immediate: NodeJS.Immediate | undefined;
  readonly #deadlines: (() => void)[] = [];

  constructor(clock: ReplayClock, io: SimulatedIo, order: InOrder, script: ReplayScript) {
    super(clock, io, { endTurn() {} });
    this.#clock = clock;
    this.#io = io;
    this.#order = order;
    this.#script = script;
  }

  override arm(turn: () => void): void {
    this.#isTurnArmed = true;
    setImmediate(() => {
      this.#isTurnArmed = false;
      turn();
    });
  }

  override armAfterEventLoop(turn: () => void): void {
    this.arm(turn);
  }

  /** The record says when. */
  override setAlarm(): void {}

  override driveTimers(): void {}

  override leaveTurn(): void {
    super.leaveTurn();
    this.poke();
  }

  /** Before each slice, its budget being set. */
  sliceBegins(task: Task): void {
    this.bus.sliceBegins(task);
    if (this.#script.divergence !== undefined) return;
    // The record alone preempts.
    budget.stepsToClock = NO_CLOCK;
    budget.checksToClock = NO_CLOCK;
    const end = this.#script.sliceEndOf(task.id);
    if (end?.opcode !== commands.OP_PREEMPT) return;
    const used = Math.max(1, Number(end.detail) - task.reductionCount);
    budget.reductionsLeft = used - 1;
    // Afterwards the scheduler adds the limit, less what is left.
    task.reductionCount -= task.engine.reductionLimit - used;
  }

  override callAfter(_delayMs: number, call: () => void): () => void {
    this.#deadlines.push(call);
    this.poke();
    return () => {
      const at = this.#deadlines.indexOf(call);
      if (at >= 0) this.#deadlines.splice(at, 1);
    };
  }

  override close(): void {
    this.#isClosed = true;
    clearImmediate(this.#immediate);
    super.close();
  }

  /** Something has happened: see what the record wants, once the program has had its turns. */
  poke(): void {
    this.#settleTurns = SETTLE_TURNS;
    if (this.#isClosed || this.#isStepping || this.#immediate !== undefined) return;
    this.#immediate = setImmediate(() => this.#look());
  }

  #look(): void {
    this.#immediate = undefined;
    if (this.#isClosed) return;
    if (this.#isTurnArmed || this.#settleTurns-- > 0) {
      this.#immediate = setImmediate(() => this.#look());
      return;
    }
    if (this.scheduler.runnableCount > 0) this.scheduler.turn();
    else void this.#step();
  }

  async #step(): Promise<void> {
    const { next } = this.#script;
    const deadlineMs = this.scheduler.wheels.nextDeadlineMs();
    const isTimer = next?.source === 'expiry' || next?.opcode === commands.OP_EXPIRE;
    const wantsIo = this.#io.thread.isBusy;
    if (deadlineMs !== Infinity && (isTimer || next === undefined) && !this.bus.hasUnseen) {
      this.#fireTimers(deadlineMs);
    } else if (wantsIo) {
      this.#isStepping = true;
      this.#io.pump();
      await this.#order.clock.advance(STEP_NS);
      this.#isStepping = false;
      this.poke();
    } else {
      this.bus.closeNow();
      this.#deadlines.shift()?.();
    }
  }

  /**
   * The next timer, and those that fired with it: async bodies go on after all of them, as they did
   * when the record was made.
   */
  #fireTimers(firstMs: number): void {
    let deadlineMs = firstMs;
    do {
      this.#clock.reach(deadlineMs);
      this.scheduler.turn();
      deadlineMs = this.scheduler.wheels.nextDeadlineMs();
    } while (deadlineMs <= this.#expiryEndMs());
  }

  /** Until when timers fire in the expiry that the record is in. */
  #expiryEndMs(): number {
    const { next } = this.#script;
    const isExpiry = next?.source === 'expiry' || next?.opcode === commands.OP_EXPIRE;
    return isExpiry && next !== undefined ? next.atMs + EXPIRY_MS : -Infinity;
  }
}
