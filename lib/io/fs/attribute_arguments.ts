// Arguments of chmod, chown, utimes and truncate, by path and by handle, as Node takes them.
// Owner: none, stateless. Invariants: checked before anything is submitted.
// Not here: open's flags and mode (open.ts), offsets (handle_arguments.ts).
import { invalidArgType, invalidArgValue, outOfRange } from '../../base/errors.ts';
import { checkedMode } from './open.ts';

/** Seconds since 1970 as a number or a string of one, or a Date. */
export type TimeLike = number | string | Date;

const USER_ID_MAX = 2 ** 32 - 1;

/** Permission bits that must be given. @throws ERR_INVALID_ARG_*, ERR_OUT_OF_RANGE */
export function requiredMode(mode: unknown): number {
  if (mode === undefined || mode === null) throw invalidArgType('mode', 'of type number', mode);
  return checkedMode(mode, 0);
}

/** A user's or group's id as 32 bits; -1 leaves it as it is. @throws ERR_OUT_OF_RANGE, ... */
export function checkedUserId(id: unknown, name: string): number {
  if (typeof id !== 'number') throw invalidArgType(name, 'of type number', id);
  if (!Number.isInteger(id)) throw outOfRange(name, 'an integer', id);
  if (id < -1 || id > USER_ID_MAX) throw outOfRange(name, `>= -1 && <= ${USER_ID_MAX}`, id);
  return id >>> 0;
}

/**
 * Seconds. As in Node, a negative number is now; a Date before 1970 is what it says.
 * @throws ERR_INVALID_ARG_TYPE; ERR_INVALID_ARG_VALUE for an invalid Date
 */
export function checkedSeconds(time: unknown, name = 'time'): number {
  if (typeof time === 'number' && Number.isFinite(time)) {
    return time < 0 ? Date.now() / 1000 : time;
  }
  let seconds: number;
  if (typeof time === 'string' && !Number.isNaN(+time)) seconds = +time;
  else if (time instanceof Date) seconds = time.getTime() / 1000;
  else throw invalidArgType(name, 'an instance of Date or an Time in seconds', time);
  if (!Number.isFinite(seconds)) throw invalidArgValue(name, time, 'must be a point in time');
  return seconds;
}

/** A file's length in bytes; a negative one is 0, as in Node. */
export function checkedFileLength(length: unknown): number {
  if (length === undefined) return 0;
  if (typeof length !== 'number') throw invalidArgType('len', 'of type number', length);
  if (!Number.isInteger(length)) throw outOfRange('len', 'an integer', length);
  if (!Number.isSafeInteger(length)) {
    const most = Number.MAX_SAFE_INTEGER;
    throw outOfRange('len', `>= ${-most} && <= ${most}`, length);
  }
  return Math.max(0, length);
}
