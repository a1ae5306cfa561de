// Errors: one table of codes, one constructor each for typed errors and for system errors.
// Owner: none, stateless. Invariants: every error that leaves the library has a `code`; system
// errors carry what Node's carry (code, errno, syscall, path, dest) with the same message.
// Not here: assertions (assert.ts).
import { getSystemErrorMap, inspect } from 'node:util';

/**
 * Every `ERR_*` code the library itself raises, with its meaning (docs/errors.md is made from it).
 */
export const ERROR_CODES = {
  ERR_INVALID_ARG_TYPE: 'an argument has the wrong type (as in Node)',
  ERR_INVALID_ARG_VALUE: 'an argument has a value that is not allowed (as in Node)',
  ERR_OUT_OF_RANGE: 'a number is outside its range (as in Node)',
  ERR_INVALID_STATE: 'the object is closed, or its buffer is detached',
  ERR_OPERATION_TIMEOUT: 'the operation did not complete within `timeout` milliseconds',
  ABORT_ERR: 'the operation was aborted through its signal or cancel()',
  ERR_BACKEND_UNAVAILABLE: 'the backend that was asked for by name cannot run here',
  ERR_BACKEND_STARTED: 'configure() came after the first operation of this thread',
  ERR_RING_CORRUPT: 'the cursors of the submission ring are out of range',
  ERR_POLLER_CLOSED: 'the poller of this thread is closed',
  ERR_BUFFER_POOL_EXHAUSTED: 'buffers.alloc() would exceed the pool limit',
  ERR_FS_EISDIR: 'rm() of a directory without `recursive` (as in Node)',
  ERR_FS_FILE_TOO_LARGE: 'the file is larger than `limit` or than a buffer can be (as in Node)',
  ERR_FOREIGN_YIELD: '`yield operation` without the star; write `yield* operation`',
  ERR_TASK_TRAPPED: 'a joined task ended in a trap; `info` says which',
  ERR_TASK_CANCELLED: 'a joined task was cancelled, or the running one is; `reason` says why',
  ERR_JOIN_CYCLE: 'a task would join itself',
  ERR_NOT_IN_TASK: 'the call makes sense inside a task only',
  ERR_RUNTIME_CLOSED: 'the runtime is closing or closed',
  ERR_QUEUE_FULL: 'as many tasks are queued, or wait for one thing, as is allowed',
  ERR_CHANNEL_CLOSED: 'the channel is closed; `cause` is what close() was given, if anything',
  ERR_CAPABILITY_DENIED: 'the running task was not granted this',
  ERR_CAPABILITY_WIDER: "a capability wider than one's own was asked for",
  ERR_ENGINE_NO_TIMER_WHEEL: 'the engine of the task has no timer wheel',
  ERR_ENGINE_LIMIT: 'a resource limit of the engine is reached',
  ERR_ENGINE_UNKNOWN: 'no engine of this id is registered',
  ERR_ENGINE_EXISTS: 'an engine of this id is registered already',
  ERR_COMMAND_UNKNOWN: 'the bus has no command of this opcode and subcode',
  ERR_REPLAY_DIVERGED: 'a replayed run did something else than the recorded one',
  ERR_DIRECT_ALIGNMENT:
    'O_DIRECT needs aligned buffers, offsets and lengths; the message names them',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Base of the library's own errors. `code` is one of ERROR_CODES. */
export class NephriteError extends Error {
  static override readonly name: string = 'NephriteError';
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    // As Node shows its own: `Error [CODE]: message`, `error.name` unchanged.
    this.name = 'NephriteError';
  }
}

class CodedTypeError extends TypeError {
  static override readonly name: string = 'TypeError';
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

class CodedRangeError extends RangeError {
  static override readonly name: string = 'RangeError';
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

// What was given, in Node's words, so that a message reads the same whoever checked the argument.
function showType(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === 'function' && value.name !== '') return `function ${value.name}`;
  if (typeof value === 'object') {
    const name = value.constructor?.name;
    return name ? `an instance of ${name}` : inspect(value, { depth: -1 });
  }
  const text = inspect(value, { colors: false });
  return `type ${typeof value} (${text.length > 28 ? `${text.slice(0, 25)}...` : text})`;
}

function showValue(value: unknown): string {
  const text = inspect(value);
  return text.length > 128 ? `${text.slice(0, 128)}...` : text;
}

const SEPARATOR_MIN = 2 ** 32;

function showNumber(value: unknown): string {
  const isLarge =
    (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) > SEPARATOR_MIN) ||
    (typeof value === 'bigint' && (value > SEPARATOR_MIN || value < -SEPARATOR_MIN));
  return isLarge ? inspect(value, { numericSeparator: true }) : inspect(value);
}

const kindOf = (name: string): string => (name.includes('.') ? 'property' : 'argument');

/** `name` was expected to be `expected`, a phrase such as "a string, a Buffer or a URL". */
export function invalidArgType(name: string, expected: string, actual: unknown): TypeError {
  const what = `The "${name}" ${kindOf(name)} must be ${expected}. Received ${showType(actual)}`;
  return new CodedTypeError('ERR_INVALID_ARG_TYPE', what);
}

export function invalidArgValue(name: string, actual: unknown, reason: string): TypeError {
  const what = `The ${kindOf(name)} '${name}' ${reason}. Received ${showValue(actual)}`;
  return new CodedTypeError('ERR_INVALID_ARG_VALUE', what);
}

export function outOfRange(name: string, range: string, actual: unknown): RangeError {
  const what = `The value of "${name}" is out of range. It must be ${range}.`;
  return new CodedRangeError('ERR_OUT_OF_RANGE', `${what} Received ${showNumber(actual)}`);
}

/** The operation was aborted. `cause` is the signal's reason, as in Node. */
export class AbortError extends Error {
  static override readonly name: string = 'AbortError';
  readonly code = 'ABORT_ERR' satisfies ErrorCode;
  override readonly name = 'AbortError';
  constructor(cause?: unknown) {
    super('The operation was aborted', cause === undefined ? undefined : { cause });
  }
}

/** The operation's own `timeout` ran out. */
export class TimeoutError extends Error {
  static override readonly name: string = 'TimeoutError';
  readonly code = 'ERR_OPERATION_TIMEOUT' satisfies ErrorCode;
  override readonly name = 'TimeoutError';
  readonly timeoutMs: number;
  constructor(timeoutMs: number) {
    super(`The operation did not complete within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** A system error as node:fs throws it. `errno` is negative. */
export interface SystemError extends Error {
  code: string;
  errno: number;
  syscall: string;
  path?: string;
  dest?: string;
  /** Bytes that were written before the failure (write, writeFile, appendFile). */
  bytesWritten?: number;
}

let systemErrors: Map<number, [string, string]> | undefined;

// What libuv has no name for keeps the kernel's.
const UNMAPPED: Record<number, [string, string]> = {
  [-62]: ['ETIME', 'timer expired'],
};

/**
 * Builds Node's message: `ENOENT: no such file or directory, open '/nope'`. Paths are shown as
 * UTF-8 text, also those given as bytes, as Node does it.
 */
export function systemError(
  errno: number,
  syscall: string,
  path?: string | Buffer,
  dest?: string | Buffer,
): SystemError {
  systemErrors ??= getSystemErrorMap();
  const [code, text] = systemErrors.get(errno) ??
    UNMAPPED[errno] ?? [`Unknown system error ${errno}`, 'unknown error'];
  let message = `${code}: ${text}, ${syscall}`;
  if (path !== undefined) message += ` '${path}'`;
  if (dest !== undefined) message += ` -> '${dest}'`;
  const error = new Error(message) as SystemError;
  error.errno = errno;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = String(path);
  if (dest !== undefined) error.dest = String(dest);
  return error;
}
