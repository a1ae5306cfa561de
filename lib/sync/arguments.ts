// Checks of the numbers that channel, mutex and semaphore are given.
// Owner: none, stateless. Invariants: Node's words and codes.
// Not here: checks of state (each class does its own).
import { invalidArgType, outOfRange } from '../base/errors.ts';

/**
 * A whole number from `min` to `max`.
 * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE
 */
export function checkCount(name: string, value: number, min: number, max: number): void {
  if (typeof value !== 'number') throw invalidArgType(name, 'of type number', value);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < min || value > max) throw outOfRange(name, `>= ${min} && <= ${max}`, value);
}
