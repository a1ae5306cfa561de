// Recording: the tap of a run as plain JSON, so that a test runtime can let it happen again.
// Owner: whoever recorded it. Invariants: holds nothing of the process it was made in (wait tokens
// are numbered anew); one that has passed parseRecording() has the shape its type says.
// Not here: recording (testing/record_run.ts), replaying (testing/replay_*.ts).
import { invalidArgType, invalidArgValue } from '../base/errors.ts';
import { COMMANDS_VERSION, commandOf, OP_WAIT } from './commands.ts';

/** Where an event came from: a turn of the scheduler, a timer that fired in it, or outside. */
export type EventSource = 'turn' | 'expiry' | 'outside';

export interface RecordedEvent {
  readonly atMs: number;
  readonly opcode: number;
  readonly subcode: number;
  readonly taskId: number;
  /** Absent where there is none. */
  readonly detail?: unknown;
  readonly source: EventSource;
}

/** What a test runtime was made with, when the run was one of its. */
export interface RecordedTest {
  readonly seed: number;
  readonly autoAdvance: boolean;
  readonly faults: unknown;
}

/** Plain data: JSON.stringify() it, keep it, JSON.parse() it. */
export interface Recording {
  /** COMMANDS_VERSION of the library that made it. */
  readonly version: number;
  readonly events: readonly RecordedEvent[];
  readonly test?: RecordedTest;
}

const TOKEN = /\btoken (\d+)/g;

/** Numbers wait tokens as they are first seen: the thread's numbers differ each time. */
export class PlainDetails {
  readonly #tokens = new Map<string, number>();

  of(opcode: number, detail: unknown): unknown {
    if (opcode !== OP_WAIT || typeof detail !== 'string' || !detail.includes('token ')) {
      return detail;
    }
    return detail.replace(TOKEN, (_, token: string) => {
      const known = this.#tokens.get(token);
      const number = known ?? this.#tokens.size + 1;
      if (known === undefined) this.#tokens.set(token, number);
      return `token ${number}`;
    });
  }
}

const SOURCES: readonly unknown[] = ['turn', 'expiry', 'outside'];

function checkEvent(name: string, event: unknown): void {
  if (typeof event !== 'object' || event === null) {
    throw invalidArgType(name, 'of type object', event);
  }
  const { atMs, opcode, subcode, taskId, source } = event as Record<string, unknown>;
  for (const [field, value] of Object.entries({ atMs, opcode, subcode, taskId })) {
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    throw invalidArgType(`${name}.${field}`, 'a finite number', value);
  }
  if (commandOf(opcode as number)?.subcodes[subcode as number] === undefined) {
    throw invalidArgValue(`${name}.opcode`, opcode, 'must be a command with that subcode');
  }
  if (!SOURCES.includes(source)) {
    throw invalidArgValue(`${name}.source`, source, `must be one of ${SOURCES.join(', ')}`);
  }
}

/** @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE */
export function parseRecording(name: string, given: unknown): Recording {
  if (typeof given !== 'object' || given === null) {
    throw invalidArgType(name, 'of type object', given);
  }
  const { version, events, test } = given as Partial<Recording>;
  if (version !== COMMANDS_VERSION) {
    const reason = `must be ${COMMANDS_VERSION}: commands mean something else in other versions`;
    throw invalidArgValue(`${name}.version`, version, reason);
  }
  if (!Array.isArray(events)) throw invalidArgType(`${name}.events`, 'an array', events);
  for (const [at, event] of events.entries()) checkEvent(`${name}.events.${at}`, event);
  if (test !== undefined && (typeof test !== 'object' || test === null)) {
    throw invalidArgType(`${name}.test`, 'of type object', test);
  }
  return { version, events, ...(test && { test }) };
}
