// Scheduler: the loop of one worker. Phases of a turn, as in traces: drain completions, expire
// timers, drain bus, run tasks, submit, park. Each has a budget, none starves another.
// Owner: one thread. Invariants: its state is changed by commands of its bus only (S-16), which
// call the SchedulerPort; no heartbeat (S-4): a turn happens because somebody asked for one; the
// event loop gets its turn at least every TURN_MS.
// Not here: one slice (dispatch.ts), queues (run_queue.ts), what ends with a task (completion.ts).
import { invariant } from '../base/assert.ts';
import { NephriteError } from '../base/errors.ts';
import type { Operation } from '../base/operation.ts';
import { operationOwner } from '../base/operation_owner.ts';
import { budget, type Waitable } from '../base/suspension.ts';
import { ALL_CAPABILITIES } from '../bus/capabilities.ts';
import * as commands from '../bus/commands.ts';
import type { RuntimeBus } from '../bus/runtime_bus.ts';
import type { SchedulerPort } from '../bus/scheduler_port.ts';
import type { Engine } from '../engine/engine.ts';
import type { EngineRegistry } from '../engine/engine_registry.ts';
import { JoinOperation } from '../task/join.ts';
import type { Outcome } from '../task/outcome.ts';
import {
  CANCEL_REQUESTED,
  COMPLETED,
  dispatched,
  isCancellable,
  LISTED,
  preempted,
  stateOf,
  suspended,
  WAIT_CANCELLED,
  WAITING,
  woken,
} from '../task/state.ts';
import type { Task } from '../task/task.ts';
import { refreshTracing } from '../task/tracing.ts';
import type { Clock } from '../time/timer_port.ts';
import { AsyncTurns } from './async_turns.ts';
import { CancelWaits } from './cancel_waits.ts';
import { completeTask, unobservedFailure } from './completion.ts';
import { runTask, SLICE_GIVES_WAY, SLICE_SUCCESS, SLICE_WAITS, type Slice } from './dispatch.ts';
import { LiveTasks } from './live_tasks.ts';
import type { TaskQueue } from './run_queue.ts';
import type { SchedulerHost } from './scheduler_host.ts';
import type { StallWatch } from './stall_watch.ts';
import { TurnBudget } from './turn_budget.ts';
import { Wheels } from './wheels.ts';

/** Tasks that may be queued; beyond it spawn throws ERR_QUEUE_FULL. */
export const QUEUED_MAX_DEFAULT = 4_194_304;

// Children that run inside the slice of whoever joins them: each takes some of the machine's stack.
const JOINED_DEPTH_MAX = 16;

const STATUS: readonly Outcome<unknown>['status'][] = ['success', 'failure', 'trap', 'cancelled'];

export class Scheduler implements SchedulerPort {
  readonly clock: Clock;
  readonly wheels: Wheels;
  readonly live: LiveTasks;
  /** Set right after construction: the two need each other. @internal */
  bus!: RuntimeBus;
  queuedMax = QUEUED_MAX_DEFAULT;
  /** No new tasks: the runtime is closing. */
  isClosed = false;
  waitingCount = 0;
  readonly #host: SchedulerHost;
  readonly #queue: TaskQueue;
  readonly #turnBudget: TurnBudget;
  readonly #stalls: StallWatch;
  readonly #asyncTurns = new AsyncTurns();
  readonly #cancelWaits = new CancelWaits();
  #joinedDepth = 0;
  // Of the slice whose joined child has not ended.
  #leftAtJoin = 0;
  #isTurning = false;
  // At most one turn is on its way: with two, each would arm the next, and so on for ever.
  #isArmed = false;
  readonly #turn = (): void => this.turn();
  readonly #onFired = (count: number): void => {
    if (this.bus.taps.isOpen) this.bus.trace(commands.OP_EXPIRE, 0, 0, count);
  };

  constructor(host: SchedulerHost, queue: TaskQueue, stalls: StallWatch) {
    this.#host = host;
    this.clock = host.clock;
    this.#queue = queue;
    this.live = new LiveTasks(queue, () => this.bus);
    this.#stalls = stalls;
    stalls.findTasks = (ids) => this.live.findAll(ids);
    this.#turnBudget = new TurnBudget(host.clock, (elapsedMs) => stalls.clockRead(elapsedMs));
    this.wheels = new Wheels(host);
  }

  get engines(): EngineRegistry {
    return this.wheels.engines;
  }

  get defaultEngine(): Engine {
    return this.engines.default;
  }

  get lastNowMs(): number {
    return this.#turnBudget.nowMs;
  }

  get lastNowTicks(): number {
    return this.#turnBudget.nowTicks;
  }

  /** Inside a turn. */
  get isRunning(): boolean {
    return this.#isTurning;
  }

  get runnableCount(): number {
    return this.#queue.length;
  }

  // --- commands of the bus -----------------------------------------------------------------------

  checkAdmission(engine: Engine, isChild: boolean): void {
    // What runs may still use scopes and time limits for its cleanup.
    if (this.isClosed && !isChild) {
      throw new NephriteError('ERR_RUNTIME_CLOSED', 'the runtime is closed: it takes no tasks');
    }
    if (this.#queue.length >= this.queuedMax) {
      throw new NephriteError('ERR_QUEUE_FULL', `${this.queuedMax} tasks are queued already`);
    }
    if (engine.liveCount >= engine.tasksMax) {
      const text = `engine "${engine.engineId}" has ${engine.tasksMax} tasks, its limit`;
      throw new NephriteError('ERR_ENGINE_LIMIT', text);
    }
  }

  admit(task: Task, isChild: boolean): void {
    this.live.count++;
    (task.engine as Engine).liveCount++;
    if (isChild) this.#queue.pushChild(task);
    else this.#queue.pushLast(task);
    this.requestTurn();
  }

  suspend(task: Task, waitable: Waitable): void {
    task.waitingFor = waitable;
    task.word = suspended(task.word);
    this.waitingCount++;
    if ((task.word & LISTED) === 0) this.live.list(task);
    // Cancelled while it ran, by itself or another: seen at this suspension.
    const isStopped = isCancellable(task.word);
    if (isStopped) task.word |= WAIT_CANCELLED;
    (waitable as Operation<unknown>).subscribe(task);
    if (isStopped && !waitable.isSettled) waitable.cancel(task.extras?.cancelReason);
  }

  requeue(task: Task): void {
    task.word = preempted(task.word);
    this.#queue.pushLast(task);
  }

  makeRunnable(task: Task): void {
    task.word = woken(task.word);
    this.waitingCount--;
    this.#queue.pushWoken(task);
    this.requestTurn();
  }

  requestCancel(task: Task, reason: unknown): boolean {
    if (stateOf(task.word) === COMPLETED || (task.word & CANCEL_REQUESTED) !== 0) return false;
    task.word |= CANCEL_REQUESTED;
    task.ensureExtras().cancellationRequested(reason);
    if (stateOf(task.word) === WAITING && isCancellable(task.word)) {
      task.word |= WAIT_CANCELLED;
      this.#cancelWaits.ask(task);
    }
    return true;
  }

  taskById(id: number): Task | undefined {
    return this.live.find(id);
  }

  giveWay(): PromiseLike<void> {
    this.requestTurn();
    return this.#asyncTurns.wait();
  }

  engineById(engineId: string): Engine {
    return this.engines.get(engineId);
  }

  registerEngine(config: unknown): Engine {
    return this.engines.register(config);
  }

  updateEngine(engineId: string, changes: unknown): Engine {
    return this.engines.update(engineId, changes);
  }

  requestTurn(): void {
    if (this.#isArmed || this.#isTurning) return;
    this.#isArmed = true;
    this.#host.arm(this.#turn);
  }

  /** The alarm has gone off. A turn that is armed already looks at the timers too. */
  alarmExpired(): void {
    if (!this.#isArmed) this.turn();
  }

  // --- the loop ----------------------------------------------------------------------------------

  /** One turn: all phases, TURN_MS at most. Called by the event loop. */
  turn(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    this.wheels.isInTurn = true;
    this.#isArmed = false;
    const turnBudget = this.#turnBudget;
    const host = this.#host;
    try {
      host.enterTurn();
      turnBudget.beginTurn();
      refreshTracing();
      host.drainCompletions();
      this.#resumeAsync();
      do {
        this.wheels.expire(turnBudget.nowMs, this.#onFired);
        this.bus.drain();
        this.#runTasks();
        host.submit();
      } while (this.#hasTasks() && !turnBudget.isSpent);
    } finally {
      turnBudget.endTurn();
      // By an exception of the user's (a listener): the next turn starts clean.
      operationOwner.current = undefined;
      this.#joinedDepth = 0;
      this.#isTurning = false;
      this.wheels.isInTurn = false;
      host.leaveTurn();
      this.#park();
    }
  }

  #hasTasks(): boolean {
    return this.#queue.length > 0 || this.bus.hasEntries;
  }

  #hasWork(): boolean {
    return this.#hasTasks() || this.#asyncTurns.hasWaiting;
  }

  /** Async bodies at a checkpoint go on; their code runs in microtasks, after this turn. */
  #resumeAsync(): void {
    if (!this.#asyncTurns.hasWaiting) return;
    const turns = this.#asyncTurns.take(this.#turnBudget.nowMs);
    if (this.bus.taps.isOpen) this.bus.trace(commands.OP_GO_ON, 0, 0, turns.length);
    for (const turn of turns) turn.resolveWith();
  }

  #runTasks(): void {
    const queue = this.#queue;
    const turnBudget = this.#turnBudget;
    while (!turnBudget.isSpent) {
      const task = queue.take();
      if (task === undefined) return;
      this.#dispatch(task);
    }
  }

  #dispatch(task: Task): void {
    const { bus } = this;
    if (bus.taps.isOpen) bus.trace(commands.OP_DISPATCH, 0, task.id, { name: task.name });
    task.word = dispatched(task.word);
    operationOwner.current = task;
    const { reductionLimit } = task.engine;
    // The resume itself is the first one.
    budget.reductionsLeft = reductionLimit - 1;
    this.#turnBudget.unusedReductions = 0;
    budget.checksToClock = budget.checksAtStart;
    this.#stalls.dispatched(task);
    const isRestricted = task.rights !== ALL_CAPABILITIES;
    if (isRestricted) this.#host.enterTask(task);
    let slice = runTask(task);
    while (slice === SLICE_WAITS && this.#takesJoined(task)) {
      if (!this.#runJoined(task)) {
        // Its own reductions: those before the join.
        task.reductionCount += reductionLimit - this.#leftAtJoin;
        return;
      }
      slice = this.#isOver(task) ? SLICE_GIVES_WAY : runTask(task);
    }
    operationOwner.current = undefined;
    if (isRestricted) this.#host.leaveTask();
    const left = budget.reductionsLeft;
    task.reductionCount += left > 0 ? reductionLimit - left : reductionLimit;
    if (slice === SLICE_WAITS) bus.wait(task, task.waitingFor as Operation<unknown>);
    else if (slice === SLICE_GIVES_WAY) this.#giveWay(task);
    else this.#complete(task, slice);
    if (--budget.stepsToClock <= 0) this.#turnBudget.readClock();
  }

  /**
   * Whether what the task waits for is the child that would run next anyway. It then runs at once,
   * and the task goes on when it has ended, without the ways through queue and bus: a third of a
   * spawn and join. Nobody can tell the difference, so not while the bus is tapped.
   */
  #takesJoined(task: Task): boolean {
    const join = task.waitingFor;
    if (!(join instanceof JoinOperation) || this.#joinedDepth >= JOINED_DEPTH_MAX) return false;
    const child = join.target;
    const isPlain =
      task.rights === ALL_CAPABILITIES &&
      child.rights === ALL_CAPABILITIES &&
      (task.word & CANCEL_REQUESTED) === 0 &&
      child.sink === task.sink;
    return isPlain && !this.bus.taps.isOpen && this.#queue.takeChild(child);
  }

  /** Runs it. False: it has not ended, and the task waits. */
  #runJoined(task: Task): boolean {
    const join = task.waitingFor as JoinOperation<unknown>;
    const reductionsLeft = budget.reductionsLeft;
    task.word = suspended(task.word);
    this.waitingCount++;
    if ((task.word & LISTED) === 0) this.live.list(task);
    // The task looks at it, though it has not subscribed.
    join.markObserved();
    this.#joinedDepth++;
    this.#dispatch(join.target);
    this.#joinedDepth--;
    this.#turnBudget.unusedReductions = 0;
    if (join.isSettled) {
      task.word = dispatched(woken(task.word));
      this.waitingCount--;
      operationOwner.current = task;
      budget.reductionsLeft = reductionsLeft - 1;
      this.#stalls.dispatched(task);
      return true;
    }
    join.subscribe(task);
    this.#leftAtJoin = Math.max(0, reductionsLeft);
    return false;
  }

  /** Its slice is: what it waited for is delivered in the next one. */
  #isOver(task: Task): boolean {
    // A cancelled one goes on to unwind.
    if ((task.word & CANCEL_REQUESTED) !== 0) return false;
    return budget.reductionsLeft <= 0 || this.#turnBudget.isSpent;
  }

  #giveWay(task: Task): void {
    // The time was over before the reductions were: what is left of them was not used.
    if (this.#turnBudget.isSpent) task.reductionCount -= this.#turnBudget.unusedReductions;
    if (this.bus.taps.isOpen) {
      const subcode = this.#turnBudget.isSpent
        ? commands.PREEMPT_TIME
        : commands.PREEMPT_REDUCTIONS;
      this.bus.trace(commands.OP_PREEMPT, subcode, task.id, task.reductionCount);
    }
    this.bus.yield(task);
  }

  #complete(task: Task, slice: Slice): void {
    if (this.bus.taps.isOpen) {
      this.bus.trace(commands.OP_COMPLETE, slice - SLICE_SUCCESS, task.id, undefined);
    }
    this.live.count--;
    if ((task.word & LISTED) !== 0) this.live.unlist(task);
    if (this.#stalls.isWatching) this.#stalls.completed(task);
    (task.engine as Engine).liveCount--;
    const isOwed = completeTask(task, STATUS[slice - SLICE_SUCCESS]);
    if (isOwed) {
      const unobserved = unobservedFailure(task);
      if (unobserved !== undefined) this.#host.reportLater(unobserved);
    }
    const orphans = task.extras?.failedChildren;
    if (orphans !== undefined) for (const child of orphans) this.#host.reportLater(child);
    if (this.live.count === 0) this.#host.becameIdle();
  }

  /** Nothing runnable: back to the event loop, with an alarm for the next timer. */
  #park(): void {
    if (this.#hasWork()) {
      this.#isArmed = true;
      this.#host.armAfterEventLoop(this.#turn);
      return;
    }
    // Timers beyond this turn's share are due already.
    const nextMs = this.wheels.nextDeadlineMs();
    if (nextMs !== Infinity) this.#host.setAlarm(nextMs);
    if (this.bus.taps.isOpen) this.bus.trace(commands.OP_PARK, 0, 0, undefined);
    invariant(!this.#isTurning, 'parked outside a turn');
  }
}
