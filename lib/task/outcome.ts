// Outcome: how a task ended, as data, apart from its scheduling state (S-11); and what join() makes
// of it. Owner: none, immutable values.
// Invariants: Failure carries what the body threw, unchanged; Trap and Cancelled are no throws of
// the task (S-12, S-13), so join() wraps them in errors of their own.
// Not here: when an outcome is decided (task.ts, scheduler/).
import { NephriteError } from '../base/errors.ts';

/**
 * stack-overflow: the body ran out of stack. foreign-yield: it yielded something that is no
 * suspension (`yield op` without the star). join-cycle: it joined a task that waits for it.
 * limit: a consumption limit of its engine. worker-lost, module-load: of tasks on other threads.
 */
export type TrapKind =
  | 'stack-overflow'
  | 'foreign-yield'
  | 'join-cycle'
  | 'limit'
  | 'worker-lost'
  | 'module-load';

/** What broke the task, where it is no error of its body's own. */
export interface TrapInfo {
  readonly kind: TrapKind;
  readonly message: string;
  /** The error behind it, if there was one. */
  readonly cause?: unknown;
}

/** Exactly one per task (S-11). */
export type Outcome<T> =
  | { readonly status: 'success'; readonly value: T }
  | { readonly status: 'failure'; readonly error: unknown }
  | { readonly status: 'trap'; readonly info: TrapInfo }
  | { readonly status: 'cancelled'; readonly reason: unknown };

/** join() of a task that ended in a trap. It is an ordinary error of the joiner. */
export class TaskTrapError extends NephriteError {
  static override readonly name: string = 'TaskTrapError';
  readonly info: TrapInfo;
  constructor(taskLabel: string, info: TrapInfo) {
    super('ERR_TASK_TRAPPED', `${taskLabel} ended in a trap (${info.kind}): ${info.message}`, {
      cause: info.cause,
    });
    this.name = 'TaskTrapError';
    this.info = info;
  }
}

/**
 * join() of a task that was cancelled; and what operations reject with in the cancelled async body
 * itself. `reason` is what cancel() was given.
 */
export class TaskCancelledError extends NephriteError {
  static override readonly name: string = 'TaskCancelledError';
  readonly reason: unknown;
  constructor(taskLabel: string, reason: unknown) {
    super('ERR_TASK_CANCELLED', `${taskLabel} was cancelled`, { cause: reason });
    this.name = 'TaskCancelledError';
    this.reason = reason;
  }
}

/** An error thrown while another was on its way; Node has the class from version 24 on. */
export interface SuppressedErrorLike extends Error {
  error: unknown;
  suppressed: unknown;
}

/** `error` came up while `suppressed` was being dealt with. */
export function suppress(error: unknown, suppressed: unknown, message: string): Error {
  const native = (
    globalThis as { SuppressedError?: new (e: unknown, s: unknown, m: string) => Error }
  ).SuppressedError;
  if (native !== undefined) return new native(error, suppressed, message);
  const made = new Error(message) as SuppressedErrorLike;
  made.name = 'SuppressedError';
  made.error = error;
  made.suppressed = suppressed;
  return made;
}
