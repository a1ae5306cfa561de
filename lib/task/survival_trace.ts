// SurvivalTrace: tells a `finally` block that waits from a body that survived its cancellation
// (`finally { continue }`). Both look the same from outside: generator.return() came back with a
// suspension. But the survivor comes to the very `yield*` again that it was told to leave.
// Owner: one step of a cancelled body. Invariants: nothing is captured unless a body is unwinding;
// formatting a stack is left to the rare case that return() did not end the body.
// Not here: when a body is told to return (scheduler/).
import type { UnwindTrace } from '../base/suspension.ts';
import { UNWINDING } from './state.ts';
import type { Task } from './task.ts';

// Deep enough for the chain of generators between a body and what it waits for.
const FRAMES_MAX = 64;

type Callable = (...given: never[]) => unknown;

export class SurvivalTrace implements UnwindTrace {
  readonly #leftAt: string | undefined;
  readonly #left: { stack?: unknown } = {};
  readonly #arrived: { stack?: unknown } = {};
  #hasLeft = false;
  #hasArrived = false;

  /** `leftAt`: where the body was told to return, in a later step. */
  constructor(leftAt: string | undefined) {
    this.#leftAt = leftAt;
  }

  left(below: Callable): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    capture(this.#left, below);
  }

  arrived(below: Callable): void {
    this.#hasArrived = true;
    capture(this.#arrived, below);
  }

  /** The step is over: a survivor may be cancelled again from now on. */
  keep(task: Task): void {
    if (!this.#hasArrived) return;
    const leftAt = this.#hasLeft ? frames(this.#left) : this.#leftAt;
    if (leftAt === undefined) return;
    if (leftAt === frames(this.#arrived)) task.word &= ~UNWINDING;
    task.ensureExtras().leftAt = leftAt;
  }
}

function capture(holder: { stack?: unknown }, below: Callable): void {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES_MAX;
  Error.captureStackTrace(holder, below);
  Error.stackTraceLimit = limit;
}

/** The chain of bodies, innermost first; without what drives them (next, return, our own frames). */
function frames(holder: { stack?: unknown }): string {
  const lines = String(holder.stack).split('\n').slice(1);
  const end = lines.findIndex((line) => / (Object\.)?(unwind|resumeUnwinding) /.test(line));
  const chain = end < 0 ? lines : lines.slice(0, end);
  return chain.filter((line) => !line.includes('<anonymous>')).join('\n');
}
