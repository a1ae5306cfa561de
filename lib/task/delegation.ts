// Delegation: which generators a body is made of while it is told to return: the chain of `yield*`
// from the body to what it waits for. JavaScript does not tell, and we must know: a generator whose
// `finally` has waited ends its `yield*` normally, and the outer one would go on behind it as if
// nothing had been cancelled. So the inner one is driven to its end by itself, and the outer ones
// are told to return after that.
// Owner: one step of a cancelled body. Invariants: `return` of generators is wrapped during that
// step only (delegation calls it by name); a realm that does not allow it has chains of length 1.
// Not here: when a body is told to return (execution.ts).

export type AnyGenerator = Generator<unknown, unknown, unknown>;

const prototype = Object.getPrototypeOf(function* () {}).prototype as {
  return: AnyGenerator['return'];
};
const original = prototype.return;

let chain: AnyGenerator[] = [];
let hasArrived = (): boolean => true;

/**
 * The name of the wrapper in stacks; a method, since those keep their names in a minified build.
 */
export const WRAPPER_NAME = 'nephriteReturn';

const wrapper = {
  nephriteReturn(this: AnyGenerator, value: unknown): IteratorResult<unknown, unknown> {
    // Beyond what the body waits for, it is user code that ends generators of its own.
    const at = hasArrived() ? -1 : chain.push(this) - 1;
    let isDone = true;
    try {
      const result = original.call(this, value);
      isDone = result.done === true;
      return result;
    } finally {
      if (at >= 0 && isDone) chain.length = at;
    }
  },
};

/** Until stopRecording(). `isAtEnd` tells that the innermost `yield*` has been reached. */
export function startRecording(isAtEnd: () => boolean): void {
  chain = [];
  hasArrived = isAtEnd;
  try {
    prototype.return = wrapper.nephriteReturn;
  } catch {
    // Frozen intrinsics.
  }
}

/** The generators that have not ended, outermost first; the last one is in a `finally` block. */
export function stopRecording(): AnyGenerator[] {
  try {
    prototype.return = original;
  } catch {
    // Frozen intrinsics.
  }
  const recorded = chain;
  chain = [];
  hasArrived = () => true;
  return recorded;
}
