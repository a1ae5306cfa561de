// SurvivalTrace: tells a `finally` block that waits from a body that survived its cancellation
// (`finally { continue }`). Both look the same from outside: generator.return() came back with a
// suspension. But the survivor comes to the very `yield*` again that it was told to leave.
// Owner: one step of a cancelled body. Invariants: nothing is captured unless a body is unwinding;
// formatting a stack is left to the rare case that return() did not end the body.
// Not here: when a body is told to return (scheduler/).
import type { UnwindTrace } from '../base/suspension.ts';
import { WRAPPER_NAME } from './delegation.ts';
import { UNWINDING } from './state.ts';
import type { Task } from './task.ts';

type Callable = (...given: never[]) => unknown;

export class SurvivalTrace implements UnwindTrace {
  readonly #leftAt: string | undefined;
  readonly #isInner: boolean;
  readonly #left: { stack?: unknown } = {};
  readonly #arrived: { stack?: unknown } = {};
  hasLeft = false;
  #hasArrived = false;
  // Where Error is frozen, stacks are cut off, and nothing can be told from them.
  #isWhole = true;

  /**
   * `leftAt`: where the body was told to return, in a later step; `isInner`: an inner generator is
   * driven by itself, without those outside of it.
   */
  constructor(leftAt: string | undefined, isInner = false) {
    this.#leftAt = leftAt;
    this.#isInner = isInner;
  }

  left(below: Callable): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.#capture(this.#left, below);
  }

  arrived(below: Callable): void {
    this.#hasArrived = true;
    this.#capture(this.#arrived, below);
  }

  /**
   * The step is over: a survivor may be cancelled again from now on. To be called by the function
   * that drove the body: the frames from there on are not the body's.
   */
  keep(task: Task): void {
    if (!this.#hasArrived || !this.#isWhole) return;
    const here: { stack?: unknown } = {};
    this.#capture(here, this.keep);
    const ownCount = linesOf(here).length;
    const leftAt = this.hasLeft ? chain(this.#left, ownCount) : this.#leftAt;
    if (leftAt === undefined) return;
    const arrivedAt = chain(this.#arrived, ownCount);
    const isSurvivor =
      leftAt === arrivedAt || (this.#isInner && leftAt.startsWith(`${arrivedAt}\n`));
    if (isSurvivor) task.word &= ~UNWINDING;
    task.ensureExtras().leftAt = leftAt;
  }

  #capture(holder: { stack?: unknown }, below: Callable): void {
    const limit = Error.stackTraceLimit;
    // Whole: the chain of generators between a body and what it waits for may be long, and two
    // chains that differ far from their ends only must not be taken for one.
    try {
      Error.stackTraceLimit = Infinity;
    } catch {
      this.#isWhole = false;
      return;
    }
    try {
      Error.captureStackTrace(holder, below);
    } finally {
      Error.stackTraceLimit = limit;
    }
  }
}

function linesOf(holder: { stack?: unknown }): string[] {
  const prepare = Error.prepareStackTrace;
  // Somebody's own may give no text.
  const canReplace = Reflect.set(Error, 'prepareStackTrace', undefined);
  try {
    return String(holder.stack).split('\n').slice(1);
  } finally {
    if (canReplace) Error.prepareStackTrace = prepare;
  }
}

/** The chain of bodies, innermost first; without what is between them (next, return). */
function chain(holder: { stack?: unknown }, ownCount: number): string {
  const lines = linesOf(holder);
  const bodies = lines.slice(0, lines.length - ownCount);
  const isBody = (line: string) => !line.endsWith('(<anonymous>)') && !line.includes(WRAPPER_NAME);
  return bodies.filter(isBody).join('\n');
}
