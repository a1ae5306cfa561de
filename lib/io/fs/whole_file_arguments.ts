// Arguments of whole-file functions, in Node's shapes.
// Owner: none but the gates, one per thread. Invariants: checked before anything is submitted.
// Not here: flags and modes (open.ts), paths (../path_bytes.ts).
import { invalidArgType, invalidArgValue, outOfRange } from '../../base/errors.ts';
import type { IoThread } from '../io_thread.ts';
import { OpenGate } from '../open_gate.ts';

const gates = new WeakMap<IoThread, OpenGate>();

/** The open gate of a thread: all its whole-file operations share one. */
export function gateOf(thread: IoThread): OpenGate {
  let gate = gates.get(thread);
  if (gate === undefined) {
    gate = new OpenGate();
    gates.set(thread, gate);
  }
  return gate;
}

/** Options object from Node's two shapes: an encoding or an object. */
export function optionsOf<O extends object>(options: O | string | null | undefined): O | undefined {
  if (options === undefined || options === null) return undefined;
  if (typeof options === 'string') return { encoding: options } as unknown as O;
  if (typeof options === 'object') return options;
  throw invalidArgType('options', 'one of type string or object', options);
}

/** @throws ERR_INVALID_ARG_VALUE */
export function checkedEncoding(encoding: unknown): BufferEncoding | undefined {
  if (encoding === undefined || encoding === null || encoding === 'buffer') return undefined;
  if (typeof encoding === 'string' && Buffer.isEncoding(encoding)) return encoding;
  throw invalidArgValue('encoding', encoding, 'is invalid encoding');
}

/** Bytes, default Infinity. @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE */
export function checkedLimit(limit: unknown): number {
  if (limit === undefined || limit === null) return Infinity;
  if (typeof limit !== 'number') throw invalidArgType('options.limit', 'of type number', limit);
  const isCount = limit === Infinity || (Number.isInteger(limit) && limit >= 0);
  if (!isCount) throw outOfRange('options.limit', 'an integer >= 0', limit);
  return limit;
}
