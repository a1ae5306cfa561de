// The generic lowering: { opcode, subcode, arguments } to the method of the bus that means the same
// (seed 1, 5.2). Owner: none. Invariants: an entry is checked whole before anything is done; forged
// tasks are told by identity, never by shape.
// Not here: the commands' ids (commands.ts).
import { invalidArgType, invalidArgValue, NephriteError } from '../base/errors.ts';
import { Operation } from '../base/operation.ts';
import type { TaskSettings } from '../task/command_sink.ts';
import { RUNNING, stateOf } from '../task/state.ts';
import { Task } from '../task/task.ts';
import type { TaskBody } from '../task/task_body.ts';
import { WaitToken } from '../task/wait_token.ts';
import * as commands from './commands.ts';
import type { RuntimeBus } from './runtime_bus.ts';

export interface CommandEntry {
  readonly opcode: number;
  readonly subcode: number;
  readonly arguments: readonly unknown[];
}

export function executeEntry(
  bus: RuntimeBus,
  given: CommandEntry,
  issuer: Task | undefined,
): unknown {
  // Read once: an accessor must not answer differently after the check.
  const { opcode, subcode } = given;
  const values = [...given.arguments];
  const definition = commands.commandOf(opcode);
  const isKnown = definition?.subcodes[subcode] !== undefined && opcode < commands.TRACE_FIRST;
  if (!isKnown) {
    const text = `no command has opcode ${String(opcode)} and subcode ${String(subcode)}`;
    throw new NephriteError('ERR_COMMAND_UNKNOWN', text);
  }
  switch (opcode) {
    case commands.OP_SPAWN:
      return spawnEntry(bus, values, issuer);
    case commands.OP_WAIT: {
      const task = runningTask(bus, values[0]);
      if (!(values[1] instanceof Operation)) {
        throw invalidArgType('arguments.1', 'an instance of Operation', values[1]);
      }
      return bus.wait(task, values[1]);
    }
    case commands.OP_YIELD:
      return bus.yield(runningTask(bus, values[0]));
    case commands.OP_WAKE:
      return wakeEntry(bus, subcode, values);
    case commands.OP_RESUME:
      return bus.giveWay();
    case commands.OP_CANCEL:
      return bus.cancel(taskOf(bus, values[0]), values[1], issuer);
    case commands.OP_QUERY_CANCELLATION:
      return bus.queryCancellation(taskOf(bus, values[0]));
    case commands.OP_REGISTER_ENGINE:
      return bus.registerEngine(values[0], issuer);
    default:
      return bus.updateEngine(String(values[0]), values[1], issuer);
  }
}

function spawnEntry(
  bus: RuntimeBus,
  [body, args = [], settings]: unknown[],
  issuer: Task | undefined,
): Task {
  if (!Array.isArray(args)) throw invalidArgType('arguments.1', 'an array', args);
  const isObject = settings === undefined || (typeof settings === 'object' && settings !== null);
  if (!isObject) throw invalidArgType('arguments.2', 'of type object', settings);
  return bus.spawn(body as TaskBody<unknown, unknown[]>, args, settings as TaskSettings, issuer);
}

function wakeEntry(bus: RuntimeBus, subcode: number, values: unknown[]): unknown {
  if (subcode === commands.WAKE_TOKEN) {
    const token = values[0];
    if (!(token instanceof WaitToken)) {
      throw invalidArgType('arguments.0', 'an instance of WaitToken', token);
    }
    return token.wake(values[1]);
  }
  const task = taskOf(bus, values[0]);
  // What it waits for decides when it goes on; a forged wake must not.
  if (task.state !== 'waiting' || task.waitingFor?.isSettled !== true) {
    throw invalidArgValue('arguments.0', task.id, 'must be a task whose wait is over');
  }
  return bus.wake(task);
}

function taskOf(bus: RuntimeBus, given: unknown): Task {
  const id = given instanceof Task ? given.id : given;
  if (typeof id !== 'number') throw invalidArgType('arguments.0', 'a task or its id', given);
  const task = bus.port.taskById(id);
  const isForged = given instanceof Task && task !== undefined && task !== given;
  if (task === undefined || isForged) {
    throw invalidArgValue('arguments.0', id, 'must name a task of this runtime that has not ended');
  }
  return task;
}

function runningTask(bus: RuntimeBus, given: unknown): Task {
  const task = taskOf(bus, given);
  if (stateOf(task.word) === RUNNING) return task;
  throw invalidArgValue('arguments.0', task.id, 'must be the running task');
}
