// Late values: what an operation still gave after its task had been cancelled. Nobody will get it,
// so what can be closed is closed (a file, a socket, a lock).
// Owner: none. Invariants: a failure to close is reported as an unhandled rejection, not swallowed.

type Disposable = { [key: symbol]: unknown };

/** Disposes of a value that nobody will get, if it can be disposed of. */
export function disposeLate(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of [Symbol.asyncDispose, Symbol.dispose]) {
    if (key === undefined) continue;
    try {
      const dispose = (value as Disposable)[key];
      if (typeof dispose !== 'function') continue;
      dispose.call(value);
    } catch (error) {
      Promise.reject(error);
    }
    return;
  }
}
