// Errors of code that is not ours (listeners, watchers, getters) and that must not end the loop it
// was called from. Owner: none. Invariants: none is swallowed: each is an uncaught exception.
// Not here: failures of tasks (unhandled.ts).

/** Throws it in a microtask of its own, from where it reaches Node's 'uncaughtException'. */
export function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** Calls `call`; what it throws is thrown later. */
export function callSafely(call: () => void): void {
  try {
    call();
  } catch (error) {
    throwLater(error);
  }
}
