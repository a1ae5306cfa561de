// Options of rm, as Node takes them. Owner: none, stateless.
// Invariants: checked before anything is submitted. Not here: removing (rm.ts).
import { invalidArgType, outOfRange } from '../../base/errors.ts';
import type { OperationOptions } from '../operation_options.ts';

export interface RmOptions extends OperationOptions {
  /** A path that does not exist is fine; default false. */
  force?: boolean;
  /** Directories with all they contain; default false. */
  recursive?: boolean;
  /** Attempts more on EBUSY, EMFILE, ENFILE, ENOTEMPTY and EPERM; default 0. */
  maxRetries?: number;
  /** Milliseconds before the first of them, twice that before the second, ...; default 100. */
  retryDelay?: number;
}

export interface CheckedRmOptions {
  readonly isForced: boolean;
  readonly isRecursive: boolean;
  readonly retriesMax: number;
  readonly retryDelayMs: number;
}

function checkedBoolean(name: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== 'boolean') throw invalidArgType(name, 'of type boolean', value);
  return value;
}

function checkedCount(name: string, value: unknown, fallback: number, most: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number') throw invalidArgType(name, 'of type number', value);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < 0 || value > most) throw outOfRange(name, `>= 0 && <= ${most}`, value);
  return value;
}

/** @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE */
export function checkedRmOptions(options: RmOptions | undefined): CheckedRmOptions {
  if (options !== undefined && (typeof options !== 'object' || options === null)) {
    throw invalidArgType('options', 'of type object', options);
  }
  return {
    isRecursive: checkedBoolean('options.recursive', options?.recursive),
    retryDelayMs: checkedCount('options.retryDelay', options?.retryDelay, 100, 2 ** 31 - 1),
    retriesMax: checkedCount('options.maxRetries', options?.maxRetries, 0, 2 ** 32 - 1),
    isForced: checkedBoolean('options.force', options?.force),
  };
}
