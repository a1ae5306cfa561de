// SurvivalTrace: tells a `finally` block that waits from a body that survived its cancellation
// (`finally { continue }`). Both look the same from outside: generator.return() came back with a
// suspension. But the survivor comes to the very `yield*` again that it was told to leave.
// Owner: one step of a cancelled body. Invariants: nothing is captured unless a body is unwinding;
// formatting a stack is left to the rare case that return() did not end the body.
// Not here: when a body is told to return (scheduler/).
import type { UnwindTrace } from '../base/suspension.ts';
import { UNWINDING } from './state.ts';
import type { Task } from './task.ts';

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

  /**
   * The step is over: a survivor may be cancelled again from now on. To be called by the function
   * that drove the body: the frames from there on are not the body's.
   */
  keep(task: Task): void {
    if (!this.#hasArrived) return;
    const here: { stack?: unknown } = {};
    capture(here, this.keep);
    const ownCount = linesOf(here).length;
    const leftAt = this.#hasLeft ? chain(this.#left, ownCount) : this.#leftAt;
    if (leftAt === undefined) return;
    if (leftAt === chain(this.#arrived, ownCount)) task.word &= ~UNWINDING;
    task.ensureExtras().leftAt = leftAt;
  }
}

function capture(holder: { stack?: unknown }, below: Callable): void {
  const limit = Error.stackTraceLimit;
  // Whole: the chain of generators between a body and what it waits for may be long, and two chains
  // that differ far from their ends only must not be taken for one.
  Error.stackTraceLimit = Infinity;
  Error.captureStackTrace(holder, below);
  Error.stackTraceLimit = limit;
}

function linesOf(holder: { stack?: unknown }): string[] {
  const prepare = Error.prepareStackTrace;
  // Somebody's own may give no text.
  Error.prepareStackTrace = undefined as unknown as typeof prepare;
  const lines = String(holder.stack).split('\n').slice(1);
  Error.prepareStackTrace = prepare;
  return lines;
}

/** The chain of bodies, innermost first; without the built-ins between them (next, return). */
function chain(holder: { stack?: unknown }, ownCount: number): string {
  const lines = linesOf(holder);
  const bodies = lines.slice(0, lines.length - ownCount);
  return bodies.filter((line) => !line.endsWith('(<anonymous>)')).join('\n');
}
