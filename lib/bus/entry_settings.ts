// Settings of a spawn entry, as anybody may write them. Owner: none, stateless.
// Invariants: fields are read once; rights are only ever narrowed; a watcher, which the scheduler
// calls, cannot be given. Not here: what settings do (task/settings.ts).
import { invalidArgType, invalidArgValue, outOfRange } from '../base/errors.ts';
import type { TaskEngine, TaskRights, TaskSettings } from '../task/command_sink.ts';
import { followAsyncAuthority } from './async_authority.ts';
import { type Capabilities, type CapabilityOptions, narrow } from './capabilities.ts';
import type { SchedulerPort } from './scheduler_port.ts';

const FIELDS: ReadonlySet<unknown> = new Set(['name', 'engine', 'rights', 'deadlineMs', 'signal']);
const NAME = 'arguments.2';

/**
 * `engine` is an id, `rights` what capabilities are asked for.
 * @throws ERR_INVALID_ARG_*, ERR_OUT_OF_RANGE, ERR_ENGINE_UNKNOWN, ERR_CAPABILITY_WIDER
 */
export function checkSettings(
  { port }: { readonly port: SchedulerPort },
  given: unknown,
  own: TaskRights,
): TaskSettings | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'object' || given === null) {
    throw invalidArgType(NAME, 'of type object', given);
  }
  const { name, engine, rights, deadlineMs, signal, ...others }: Record<string, unknown> = {
    ...given,
  };
  for (const field of Reflect.ownKeys(others)) {
    const reason = `is none of ${[...FIELDS].join(', ')}`;
    throw invalidArgValue(`${NAME}.${String(field)}`, others[field as string], reason);
  }
  if (name !== undefined && typeof name !== 'string') {
    throw invalidArgType(`${NAME}.name`, 'of type string', name);
  }
  if (deadlineMs !== undefined && typeof deadlineMs !== 'number') {
    throw invalidArgType(`${NAME}.deadlineMs`, 'of type number', deadlineMs);
  }
  if (Number.isNaN(deadlineMs)) throw outOfRange(`${NAME}.deadlineMs`, 'a number', deadlineMs);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidArgType(`${NAME}.signal`, 'an instance of AbortSignal', signal);
  }
  if (rights !== undefined) followAsyncAuthority();
  return {
    name,
    engine: engine === undefined ? undefined : engineOf(port, engine),
    rights:
      rights === undefined
        ? undefined
        : narrow(own as Capabilities, rights as CapabilityOptions, `${NAME}.rights`),
    deadlineMs,
    signal,
  };
}

function engineOf(port: SchedulerPort, engine: unknown): TaskEngine {
  if (typeof engine === 'string') return port.engineById(engine);
  throw invalidArgType(`${NAME}.engine`, 'the id of an engine', engine);
}
