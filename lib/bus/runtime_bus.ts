// RuntimeBus: the only way the state of a scheduler is changed (S-16), and where rights are checked
// (S-20), never in scheduling code. Each command has two lowerings with equal semantics: a method,
// and a generic entry { opcode, subcode, arguments } (execute, submit).
// Owner: one per scheduler, its thread. Invariants: a command is checked whole before it changes
// anything; every command and every decision is written to the tap while somebody listens.
// Not here: queues and budgets (scheduler/), what the ids are (commands.ts).
import { NephriteError } from '../base/errors.ts';
import { ManualOperation, type Operation } from '../base/operation.ts';
import { asyncContext, captureContext } from '../task/async_context.ts';
import type { CommandSink, TaskEngine, TaskRights, TaskSettings } from '../task/command_sink.ts';
import { currentTask } from '../task/current.ts';
import { isDescendant } from '../task/family.ts';
import { applySettings } from '../task/settings.ts';
import { CANCEL_REQUESTED } from '../task/state.ts';
import { Task } from '../task/task.ts';
import { checkBody, type TaskBody } from '../task/task_body.ts';
import { refreshTracing, taskTracing, traceSpawn } from '../task/tracing.ts';
import type { Clock } from '../time/timer_port.ts';
import { type Capabilities, requireCapability } from './capabilities.ts';
import { meet } from './capabilities_meet.ts';
import * as commands from './commands.ts';
import { type CommandEntry, executeEntry } from './generic_entry.ts';
import type { SchedulerPort } from './scheduler_port.ts';
import { Tap, type TapListener } from './tap.ts';

// Entries that wait to be drained.
const INBOX_MAX = 65536;

/** What surrounds the spawn: stores of the user, subscribers of the tracing channel. */
function captureFor(task: Task): void {
  const isFromOutside = task.parent === undefined;
  if (isFromOutside) refreshTracing();
  task.context = taskTracing.isActive
    ? traceSpawn(task, () => captureContext(isFromOutside))
    : captureContext(isFromOutside);
}

interface InboxItem {
  readonly entry: CommandEntry;
  readonly issuer: Task | undefined;
  readonly result: ManualOperation<unknown>;
}

export class RuntimeBus implements CommandSink {
  readonly port: SchedulerPort;
  /** Of code outside any task. */
  readonly rights: TaskRights;
  /** @internal */
  readonly taps = new Tap();
  #lastTaskId = 0;
  #inbox: InboxItem[] = [];

  constructor(port: SchedulerPort, rights: TaskRights) {
    this.port = port;
    this.rights = rights;
  }

  get clock(): Clock {
    return this.port.clock;
  }

  get defaultEngine(): TaskEngine {
    return this.port.defaultEngine;
  }

  /** What the issuer of a command may do here; one of another runtime: what both allow. */
  rightsOf(issuer: Task | undefined): TaskRights {
    if (issuer === undefined) return this.rights;
    if (issuer.sink === this) return issuer.rights;
    return meet(issuer.rights as Capabilities, this.rights as Capabilities);
  }

  /** Calls `listener` for every command and decision; returns a function that ends it. */
  tap(listener: TapListener): () => void {
    return this.taps.open(listener);
  }

  /** @internal */
  trace(opcode: number, subcode: number, taskId: number, detail: unknown): void {
    this.taps.write(this.port.lastNowMs, opcode, subcode, taskId, detail);
  }

  spawn<T, A extends unknown[]>(
    body: TaskBody<T, A>,
    args: A,
    settings: TaskSettings | undefined,
    parent: Task | undefined,
  ): Task<T> {
    checkBody(body);
    if (parent !== undefined && parent.sink !== this) {
      return this.#spawnFor(parent, body, args, settings);
    }
    const { port } = this;
    const rights = parent === undefined ? this.rights : parent.rights;
    if (!rights.spawn) requireCapability(rights as Capabilities, 'spawn');
    const engine = settings?.engine ?? (parent === undefined ? port.defaultEngine : parent.engine);
    port.checkAdmission(engine, parent !== undefined);
    const task = new Task<T>(
      ++this.#lastTaskId,
      this,
      body as TaskBody<T, never>,
      args,
      engine,
      settings?.rights ?? rights,
      parent,
      port.lastNowTicks,
    );
    if (parent === undefined || asyncContext.isActive || taskTracing.isActive) {
      captureFor(task as Task);
    }
    if (settings !== undefined || parent?.extras !== undefined) applySettings(task, settings);
    if (this.taps.isOpen) this.trace(commands.OP_SPAWN, 0, task.id, { name: task.name });
    port.admit(task as Task, parent !== undefined);
    return task;
  }

  /** For a task of another runtime, which is no parent here but gives away its own rights only. */
  #spawnFor<T, A extends unknown[]>(
    issuer: Task,
    body: TaskBody<T, A>,
    args: A,
    settings: TaskSettings | undefined,
  ): Task<T> {
    const own = this.rightsOf(issuer);
    requireCapability(own as Capabilities, 'spawn');
    return this.spawn(body, args, { ...settings, rights: settings?.rights ?? own }, undefined);
  }

  /** @internal */
  wait(task: Task, waitable: Operation<unknown>): void {
    if (this.taps.isOpen) this.trace(commands.OP_WAIT, 0, task.id, waitable.describeWait());
    this.port.suspend(task, waitable);
  }

  /** @internal */
  yield(task: Task): void {
    if (this.taps.isOpen) this.trace(commands.OP_YIELD, 0, task.id, undefined);
    this.port.requeue(task);
  }

  wake(task: Task): void {
    if (this.taps.isOpen) {
      this.trace(commands.OP_WAKE, commands.WAKE_SETTLED, task.id, undefined);
    }
    this.port.makeRunnable(task);
  }

  cancel(task: Task, reason: unknown, issuer: Task | undefined): boolean {
    if (issuer !== undefined && issuer !== task && !isDescendant(task, issuer)) {
      requireCapability(issuer.rights as Capabilities, 'cancelOthers');
    }
    if (this.taps.isOpen) this.trace(commands.OP_CANCEL, 0, task.id, undefined);
    return this.port.requestCancel(task, reason);
  }

  queryCancellation(task: Task): boolean {
    if (this.taps.isOpen) this.trace(commands.OP_QUERY_CANCELLATION, 0, task.id, undefined);
    return (task.word & CANCEL_REQUESTED) !== 0;
  }

  giveWay(): PromiseLike<void> {
    if (this.taps.isOpen) this.trace(commands.OP_RESUME, 0, 0, undefined);
    return this.port.giveWay();
  }

  registerEngine(config: unknown, issuer: Task | undefined = currentTask()): unknown {
    this.#requireConfigure(issuer);
    const engine = this.port.registerEngine(config) as TaskEngine;
    if (this.taps.isOpen) this.trace(commands.OP_REGISTER_ENGINE, 0, 0, engine.engineId);
    return engine;
  }

  updateEngine(
    engineId: string,
    changes: unknown,
    issuer: Task | undefined = currentTask(),
  ): unknown {
    this.#requireConfigure(issuer);
    const engine = this.port.updateEngine(engineId, changes);
    if (this.taps.isOpen) this.trace(commands.OP_UPDATE_ENGINE, 0, 0, engineId);
    return engine;
  }

  #requireConfigure(issuer: Task | undefined): void {
    requireCapability(this.rightsOf(issuer) as Capabilities, 'configure');
  }

  /**
   * The generic lowering, carried out at once. @throws ERR_COMMAND_UNKNOWN and what the command
   * throws
   */
  execute(entry: CommandEntry): unknown {
    return executeEntry(this, entry, currentTask());
  }

  /**
   * The generic lowering, carried out in the drain-bus phase of the next turn, in order.
   * @throws ERR_QUEUE_FULL when 65,536 entries wait
   */
  submit(entry: CommandEntry): Operation<unknown> {
    if (this.#inbox.length >= INBOX_MAX) {
      throw new NephriteError('ERR_QUEUE_FULL', `the bus holds ${INBOX_MAX} entries already`);
    }
    const result = new ManualOperation<unknown>();
    this.#inbox.push({ entry, issuer: currentTask(), result });
    this.port.requestTurn();
    return result;
  }

  /** Carries out what was submitted before the call. @internal */
  drain(): void {
    if (this.#inbox.length === 0) return;
    const items = this.#inbox;
    this.#inbox = [];
    for (const { entry, issuer, result } of items) {
      try {
        result.resolveWith(executeEntry(this, entry, issuer));
      } catch (error) {
        result.rejectWith(error);
      }
    }
  }

  get hasEntries(): boolean {
    return this.#inbox.length > 0;
  }
}
