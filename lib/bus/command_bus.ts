// CommandBus: the bus as users see it (`rt.bus`). Owner: its runtime.
// Invariants: the issuer of a command is the running task, whoever calls, and everything goes
// through entries, whose arguments are checked whole. What only the scheduler may say (wait, yield,
// wake of a task) is not a method; as an entry it is refused unless it is true.
// Not here: what commands do (runtime_bus.ts), checks of entries (generic_entry.ts).
import type { Operation } from '../base/operation.ts';
import type { Task } from '../task/task.ts';
import type { TaskBody } from '../task/task_body.ts';
import type { CapabilityOptions } from './capabilities.ts';
import * as commands from './commands.ts';
import type { CommandEntry } from './generic_entry.ts';
import type { RuntimeBus } from './runtime_bus.ts';
import type { TapListener } from './tap.ts';

/** Settings of a spawn by the bus; absent fields are inherited. */
export interface SpawnSettings {
  readonly name?: string | undefined;
  /** Id of a registered engine. */
  readonly engine?: string | undefined;
  /** Narrower than one's own. */
  readonly rights?: CapabilityOptions | undefined;
  /** Time of `rt.clock.now()` at which the task is cancelled. */
  readonly deadlineMs?: number | undefined;
  /** Aborting it cancels the task. */
  readonly signal?: AbortSignal | undefined;
}

export class CommandBus {
  static readonly name: string = 'CommandBus';
  readonly #bus: RuntimeBus;

  /** @internal */
  constructor(bus: RuntimeBus) {
    this.#bus = bus;
  }

  /** Calls `listener` for every command and decision; returns a function that ends it. */
  tap(listener: TapListener): () => void {
    return this.#bus.tap(listener);
  }

  /**
   * The generic lowering, carried out at once. @throws ERR_COMMAND_UNKNOWN and what the command
   * throws
   */
  execute(entry: CommandEntry): unknown {
    return this.#bus.execute(entry);
  }

  /**
   * The generic lowering, carried out in the drain-bus phase of the next turn, in order.
   * @throws ERR_QUEUE_FULL when 65,536 entries wait
   */
  submit(entry: CommandEntry): Operation<unknown> {
    return this.#bus.submit(entry);
  }

  /**
   * Starts a task, a child of the running one. @throws as Runtime.spawn; ERR_INVALID_ARG_*,
   * ERR_ENGINE_UNKNOWN, ERR_CAPABILITY_WIDER
   */
  spawn<T, A extends unknown[]>(
    body: TaskBody<T, A>,
    ...[args, settings]: A extends [] ? [A?, SpawnSettings?] : [A, SpawnSettings?]
  ): Task<T> {
    return this.#execute(commands.OP_SPAWN, body, args, settings) as Task<T>;
  }

  /** As task.cancel(). @throws ERR_CAPABILITY_DENIED; ERR_INVALID_ARG_* for what is no task */
  cancel(task: Task<unknown> | number, reason?: unknown): boolean {
    return this.#execute(commands.OP_CANCEL, task, reason) as boolean;
  }

  /** As task.cancellationRequested. @throws ERR_INVALID_ARG_* */
  queryCancellation(task: Task<unknown> | number): boolean {
    return this.#execute(commands.OP_QUERY_CANCELLATION, task) as boolean;
  }

  /** @throws as Engines.register */
  registerEngine(config: unknown): unknown {
    return this.#execute(commands.OP_REGISTER_ENGINE, config);
  }

  /** @throws as Engines.update */
  updateEngine(engineId: string, changes: unknown): unknown {
    return this.#execute(commands.OP_UPDATE_ENGINE, engineId, changes);
  }

  #execute(opcode: number, ...values: unknown[]): unknown {
    return this.#bus.execute({ opcode, subcode: 0, arguments: values });
  }
}
