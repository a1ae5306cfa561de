// Error numbers by name, as libuv gives them on this platform: on Linux and macOS the kernel's own,
// negative; on Windows libuv's (so that a result means the same whoever produced it).
// Owner: none; the table is built at first use and never changes.
// Not here: errors that users see (errors.ts), names of numbers (util.getSystemErrorName).
import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { invariant } from './assert.ts';

let numberByName: Map<string, number> | null = null;

function readNumbers(): Map<string, number> {
  const numbers = new Map<string, number>();
  // libuv has no name for some of the kernel's (EDQUOT) and passes them on as they are.
  if (process.platform !== 'win32') {
    for (const [name, number] of Object.entries(constants.errno)) numbers.set(name, -number);
  }
  for (const [number, [name]] of getSystemErrorMap()) numbers.set(name, number);
  return numbers;
}

/** The negative number of `name` (`'ENOENT'` gives -2 on Linux), or undefined if there is none. */
export function findErrno(name: string): number | undefined {
  numberByName ??= readNumbers();
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
