// Names and paths that the system gives back, in the encoding that the caller asked for.
// Owner: none, stateless. Invariants: names travel as latin1 strings, one character per byte, until
// here, so names that are not UTF-8 are neither changed nor confused, and comparing two of them
// compares their bytes.
// Not here: paths that callers give (../path_bytes.ts).
import { invalidArgType, invalidArgValue } from '../../base/errors.ts';
import type { OperationOptions } from '../operation_options.ts';

export type PathEncoding = BufferEncoding | 'buffer';

export interface PathEncodingOptions extends OperationOptions {
  /** Of the names in the result; default 'utf8'; 'buffer' gives Buffers. */
  encoding?: PathEncoding | null;
}

/** Options from Node's two shapes, an encoding or an object. @throws ERR_INVALID_ARG_TYPE */
export function checkedPathOptions<O extends PathEncodingOptions = PathEncodingOptions>(
  options: O | PathEncoding | null | undefined,
): O & { encoding: PathEncoding } {
  if (typeof options === 'string') return checkedPathOptions({ encoding: options } as O);
  const given = options ?? ({} as O);
  if (typeof given !== 'object') {
    throw invalidArgType('options', 'one of type string or object', options);
  }
  return { ...given, encoding: checkedPathEncoding(given.encoding) };
}

function checkedPathEncoding(encoding: unknown): PathEncoding {
  if (encoding === undefined || encoding === null || encoding === '') return 'utf8';
  if (encoding === 'buffer') return encoding;
  if (typeof encoding === 'string' && Buffer.isEncoding(encoding)) return encoding;
  throw invalidArgValue('encoding', encoding, 'is invalid encoding');
}

const NOT_ASCII = /[\x80-\xff]/;

/** A latin1 name in the caller's encoding. */
export function encodeName(name: string, encoding: PathEncoding): string | Buffer {
  if (encoding === 'utf8' && !NOT_ASCII.test(name)) return name;
  const bytes = Buffer.from(name, 'latin1');
  return encoding === 'buffer' ? bytes : bytes.toString(encoding);
}

/** Bytes in the caller's encoding; a Buffer is a copy. */
export function encodePath(bytes: Buffer, encoding: PathEncoding): string | Buffer {
  return encoding === 'buffer' ? Buffer.from(bytes) : bytes.toString(encoding);
}

/** A caller's path as a latin1 string. */
export function latin1Path(path: string | Buffer): string {
  if (typeof path !== 'string') return path.toString('latin1');
  return Buffer.from(path, 'utf8').toString('latin1');
}
