// Error numbers by name, as this platform's libuv knows them: on Linux and macOS the kernel's own,
// on Windows libuv's (so that a result means the same whoever produced it).
// Owner: none; the table is built at first use and never changes.
// Not here: errors that users see (errors.ts), names of numbers (util.getSystemErrorName).
import { getSystemErrorMap } from 'node:util';
import { invariant } from './assert.ts';

let numberByName: Map<string, number> | null = null;

/** The negative number of `name` (`'ENOENT'` gives -2 on Linux), or undefined if there is none. */
export function findErrno(name: string): number | undefined {
  numberByName ??= new Map(Array.from(getSystemErrorMap(), ([number, [known]]) => [known, number]));
  return numberByName.get(name);
}

/**
 * The negative number of `name`, which the platform must know.
 * @throws InvariantError
 */
export function errnoOf(name: string): number {
  const number = findErrno(name);
  invariant(number !== undefined, 'error name is known', name);
  return number;
}
