// The generic lowering: { opcode, subcode, arguments } to the method of the bus that means the same
// (seed 1, 5.2). Owner: none. Invariants: an entry is read once and checked whole before anything
// is done; forged tasks and tokens are told by identity, never by shape; what only the end of a
// slice may do (wait, yield) is refused to everybody else.
// Not here: the commands' ids (commands.ts), a bus that does everything this way
// (generic_lowering.ts).
import { invalidArgType, invalidArgValue, NephriteError } from '../base/errors.ts';
import { Operation } from '../base/operation.ts';
import type { TaskSettings } from '../task/command_sink.ts';
import { RUNNING, stateOf } from '../task/state.ts';
import { Task } from '../task/task.ts';
import type { TaskBody } from '../task/task_body.ts';
import { WaitToken } from '../task/wait_token.ts';
import * as commands from './commands.ts';
import { checkSettings } from './entry_settings.ts';
import type { RuntimeBus } from './runtime_bus.ts';

export interface CommandEntry {
  readonly opcode: number;
  readonly subcode: number;
  readonly arguments: readonly unknown[];
}

/** The direct lowering, as entries use it. */
export type DirectBus = Pick<
  RuntimeBus,
  | 'port'
  | 'rightsOf'
  | 'spawn'
  | 'wait'
  | 'yield'
  | 'wake'
  | 'cancel'
  | 'queryCancellation'
  | 'giveWay'
  | 'registerEngine'
  | 'updateEngine'
>;

interface ReadEntry {
  readonly opcode: number;
  readonly subcode: number;
  readonly values: readonly unknown[];
}

/** A copy: an accessor must not answer differently after the check. */
function readEntry(given: unknown): ReadEntry {
  if (typeof given !== 'object' || given === null) {
    throw invalidArgType('entry', 'of type object', given);
  }
  const { opcode, subcode, arguments: values } = given as Partial<CommandEntry>;
  if (!Array.isArray(values)) throw invalidArgType('entry.arguments', 'an array', values);
  // Not by iterating: an array may bring its own iterator.
  const copy: unknown[] = Array.from({ length: values.length }, (_, at) => values[at]);
  const isKnown =
    typeof opcode === 'number' &&
    opcode < commands.TRACE_FIRST &&
    Number.isInteger(subcode) &&
    commands.commandOf(opcode)?.subcodes[subcode as number] !== undefined;
  if (isKnown) return { opcode, subcode: subcode as number, values: copy };
  const text = `no command has opcode ${show(opcode)} and subcode ${show(subcode)}`;
  throw new NephriteError('ERR_COMMAND_UNKNOWN', text);
}

/** For messages: never runs code of what is shown. */
function show(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? `${value}` : typeof value;
}

/**
 * Carries out an entry. `isOwn`: it comes from the scheduler through the bus's own methods, so it
 * may end a slice.
 */
export function executeEntry(
  bus: DirectBus,
  given: unknown,
  issuer: Task | undefined,
  isOwn = false,
): unknown {
  const { opcode, subcode, values } = readEntry(given);
  switch (opcode) {
    case commands.OP_SPAWN:
      return spawnEntry(bus, values, issuer, isOwn);
    case commands.OP_WAIT: {
      const task = taskAtItsEnd(bus, values[0], isOwn);
      if (values[1] instanceof Operation) return bus.wait(task, values[1]);
      throw invalidArgType('arguments.1', 'an instance of Operation', values[1]);
    }
    case commands.OP_YIELD:
      return bus.yield(taskAtItsEnd(bus, values[0], isOwn));
    case commands.OP_WAKE:
      return subcode === commands.WAKE_TOKEN ? wakeToken(values) : wakeTask(bus, values);
    case commands.OP_RESUME:
      return bus.giveWay();
    case commands.OP_CANCEL:
      return bus.cancel(taskOf(bus, values[0], true), values[1], issuer);
    case commands.OP_QUERY_CANCELLATION:
      return bus.queryCancellation(taskOf(bus, values[0], true));
    case commands.OP_REGISTER_ENGINE:
      return bus.registerEngine(values[0], issuer);
    default:
      return updateEntry(bus, values, issuer);
  }
}

function spawnEntry(
  bus: DirectBus,
  [body, args = [], settings]: readonly unknown[],
  issuer: Task | undefined,
  isOwn: boolean,
): Task {
  if (!Array.isArray(args)) throw invalidArgType('arguments.1', 'an array', args);
  const checked = isOwn
    ? (settings as TaskSettings | undefined)
    : checkSettings(bus, settings, bus.rightsOf(issuer));
  return bus.spawn(body as TaskBody<unknown, unknown[]>, args, checked, issuer);
}

function updateEntry(
  bus: DirectBus,
  [engineId, changes]: readonly unknown[],
  issuer: Task | undefined,
): unknown {
  if (typeof engineId !== 'string') {
    throw invalidArgType('arguments.0', 'of type string', engineId);
  }
  return bus.updateEngine(engineId, changes, issuer);
}

function wakeToken([token, value]: readonly unknown[]): unknown {
  if (WaitToken.isGenuine(token)) return token.wake(value);
  throw invalidArgType('arguments.0', 'an instance of WaitToken', token);
}

function wakeTask(bus: DirectBus, [given]: readonly unknown[]): unknown {
  const task = taskOf(bus, given, false);
  const awaited = task.state === 'waiting' ? task.waitingFor : undefined;
  // What it waits for decides when it goes on; a forged wake must not.
  if (awaited?.isSettled !== true) {
    throw invalidArgValue('arguments.0', task.id, 'must be a task whose wait is over');
  }
  // It may still be in line to be told, and would be woken twice.
  if (awaited instanceof Operation) awaited.unsubscribe(task);
  return bus.wake(task);
}

/** `mayHaveEnded`: the command means something for a task that has ended, too. */
function taskOf(bus: DirectBus, given: unknown, mayHaveEnded: boolean): Task {
  const isTask = given instanceof Task;
  if (isTask && mayHaveEnded && given.outcomeStatus !== undefined) return given;
  const id = isTask ? given.id : given;
  if (typeof id !== 'number') throw invalidArgType('arguments.0', 'a task or its id', given);
  const task = bus.port.taskById(id);
  const isForged = isTask && task !== undefined && task !== given;
  if (task !== undefined && !isForged) return task;
  throw invalidArgValue('arguments.0', id, 'must name a task of this runtime that has not ended');
}

function taskAtItsEnd(bus: DirectBus, given: unknown, isOwn: boolean): Task {
  if (isOwn && given instanceof Task && stateOf(given.word) === RUNNING) return given;
  const task = taskOf(bus, given, false);
  throw invalidArgValue('arguments.0', task.id, 'must be a task at the end of its slice');
}
