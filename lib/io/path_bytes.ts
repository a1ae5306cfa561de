// Paths: from what callers give (string, Buffer, URL) to NUL-terminated bytes in shared memory.
// Owner: none, stateless. Invariants: a NUL inside is refused before any system call (it would name
// another file); names that are not UTF-8 pass unchanged as Buffers.
// Not here: which operation uses them (path_operation.ts).
import { fileURLToPath } from 'node:url';
import * as abi from '../abi/layout.ts';
import { invalidArgType, invalidArgValue } from '../base/errors.ts';

export type PathLike = string | Buffer | Uint8Array | URL;

const NUL_REASON = 'must be a string, Uint8Array, or URL without null bytes';

/** The path as string or Buffer. @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE */
export function checkedPath(path: unknown, name = 'path'): string | Buffer {
  if (typeof path === 'string') {
    if (path.includes('\0')) throw invalidArgValue(name, path, NUL_REASON);
    return path;
  }
  if (path instanceof Uint8Array) {
    if (path.includes(0)) throw invalidArgValue(name, path, NUL_REASON);
    return Buffer.isBuffer(path)
      ? path
      : Buffer.from(path.buffer, path.byteOffset, path.byteLength);
  }
  if (isUrl(path)) return checkedPath(fileURLToPath(path), name);
  throw invalidArgType(name, 'of type string or an instance of Buffer or URL', path);
}

// As Node: by shape, since URLs of other realms are none of ours.
function isUrl(value: unknown): value is URL {
  return typeof value === 'object' && value !== null && 'href' in value && 'protocol' in value;
}

/** Upper bound of a path's bytes without encoding it. */
export function pathBytesBound(path: string | Buffer): number {
  return typeof path === 'string' ? path.length * 3 : path.length;
}

/** Bytes the path takes, exactly. */
export function pathBytes(path: string | Buffer): number {
  return typeof path === 'string' ? Buffer.byteLength(path) : path.length;
}

/** Writes path and NUL; returns the path's bytes. The caller has checked that they fit. */
export function writePath(target: Buffer, offset: number, path: string | Buffer): number {
  const bytes =
    typeof path === 'string'
      ? target.write(path, offset, target.length - offset - 1, 'utf8')
      : path.copy(target, offset);
  target[offset + bytes] = 0;
  return bytes;
}

/** Longest path that the slot's scratch holds, two NULs included. */
export const SCRATCH_PATH_MAX = abi.SCRATCH_PATH_BYTES - 2;
