// GenericLowering: a bus whose methods all go through entries { opcode, subcode, arguments }, as
// they would when commands cross threads; it means the same as the direct one, which the tests
// show. Owner: as RuntimeBus. Invariants: a method makes an entry, the entry is carried out by the
// direct method of the class above. Not here: what entries are checked for (generic_entry.ts).
import type { Operation } from '../base/operation.ts';
import type { TaskSettings } from '../task/command_sink.ts';
import { currentTask } from '../task/current.ts';
import type { Task } from '../task/task.ts';
import type { TaskBody } from '../task/task_body.ts';
import * as commands from './commands.ts';
import { type CommandEntry, type DirectBus, executeEntry } from './generic_entry.ts';
import { RuntimeBus } from './runtime_bus.ts';

export class GenericLowering extends RuntimeBus {
  readonly #direct: DirectBus = {
    port: this.port,
    rightsOf: (issuer) => this.rightsOf(issuer),
    spawn: (body, args, settings, parent) => super.spawn(body, args, settings, parent),
    wait: (task, waitable) => super.wait(task, waitable),
    yield: (task) => super.yield(task),
    wake: (task) => super.wake(task),
    cancel: (task, reason, issuer) => super.cancel(task, reason, issuer),
    queryCancellation: (task) => super.queryCancellation(task),
    giveWay: () => super.giveWay(),
    registerEngine: (config, issuer) => super.registerEngine(config, issuer),
    updateEngine: (engineId, changes, issuer) => super.updateEngine(engineId, changes, issuer),
  };

  #lower(opcode: number, values: readonly unknown[], issuer: Task | undefined): unknown {
    const entry: CommandEntry = { opcode, subcode: 0, arguments: values };
    return executeEntry(this.#direct, entry, issuer, true);
  }

  override execute(entry: CommandEntry): unknown {
    return executeEntry(this.#direct, entry, currentTask());
  }

  override spawn<T, A extends unknown[]>(
    body: TaskBody<T, A>,
    args: A,
    settings: TaskSettings | undefined,
    parent: Task | undefined,
  ): Task<T> {
    return this.#lower(commands.OP_SPAWN, [body, args, settings], parent) as Task<T>;
  }

  override wait(task: Task, waitable: Operation<unknown>): void {
    this.#lower(commands.OP_WAIT, [task, waitable], undefined);
  }

  override yield(task: Task): void {
    this.#lower(commands.OP_YIELD, [task], undefined);
  }

  override wake(task: Task): void {
    this.#lower(commands.OP_WAKE, [task.id], undefined);
  }

  override cancel(task: Task, reason: unknown, issuer: Task | undefined): boolean {
    return this.#lower(commands.OP_CANCEL, [task, reason], issuer) as boolean;
  }

  override queryCancellation(task: Task): boolean {
    return this.#lower(commands.OP_QUERY_CANCELLATION, [task], undefined) as boolean;
  }

  override giveWay(): PromiseLike<void> {
    return this.#lower(commands.OP_RESUME, [], undefined) as PromiseLike<void>;
  }

  override registerEngine(config: unknown, issuer: Task | undefined = currentTask()): unknown {
    return this.#lower(commands.OP_REGISTER_ENGINE, [config], issuer);
  }

  override updateEngine(
    engineId: string,
    changes: unknown,
    issuer: Task | undefined = currentTask(),
  ): unknown {
    return this.#lower(commands.OP_UPDATE_ENGINE, [engineId, changes], issuer);
  }
}
