// Assertions for programmer errors; on in release. Operating errors and bad input never come here:
// they are typed errors (errors.ts). Owner: none, stateless.

/** Thrown when an invariant of the library itself is broken; always a bug in Nephrite. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
  readonly code = 'ERR_INVARIANT';
}

/**
 * Checks an invariant. `left` and `right` are the compared values, printed when it is broken.
 * @throws InvariantError
 */
export function invariant(
  condition: boolean,
  what: string,
  left?: unknown,
  right?: unknown,
): asserts condition {
  if (!condition) {
    throw new InvariantError(`invariant broken: ${what} (${String(left)}, ${String(right)})`);
  }
}
