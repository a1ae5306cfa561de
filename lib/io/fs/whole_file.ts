// readFile, writeFile and appendFile as users call them: on a path or on an open FileHandle.
// Owner: none. Invariants: bad input becomes a failed operation, before anything is submitted.
// Not here: reading (read_file.ts), writing (write_file.ts).
import type { Operation } from '../../base/operation.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { FileHandle } from './file_handle.ts';
import { attempt } from './path_call.ts';
import { type ReadFileOptions, readWhole } from './read_file.ts';
import { type WriteData, type WriteFileOptions, writeWhole } from './write_file.ts';

/**
 * The whole file, as a Buffer or, with an encoding, a string. A FileHandle is read from its
 * position. `limit` stops after so many bytes.
 */
export function readFile(
  path: PathLike | FileHandle,
  options?: (ReadFileOptions & { encoding?: 'buffer' | null }) | 'buffer' | null,
): Operation<Buffer>;
export function readFile(
  path: PathLike | FileHandle,
  options: (ReadFileOptions & { encoding: BufferEncoding }) | BufferEncoding,
): Operation<string>;
export function readFile(
  path: PathLike | FileHandle,
  options?: ReadFileOptions | BufferEncoding | 'buffer' | null,
): Operation<Buffer | string>;
export function readFile(
  path: PathLike | FileHandle,
  options?: ReadFileOptions | BufferEncoding | 'buffer' | null,
): Operation<Buffer | string> {
  if (path instanceof FileHandle) return path.readFile(options);
  return attempt(() => readWhole({ path: checkedPath(path) }, options));
}

/**
 * Replaces the file's content (`flag` 'w'). `data`: string, Buffer, TypedArray, DataView or an
 * (async) iterable of them, a stream for one. A FileHandle is written at its position.
 */
export function writeFile(
  path: PathLike | FileHandle,
  data: WriteData,
  options?: WriteFileOptions | BufferEncoding | null,
): Operation<void> {
  if (path instanceof FileHandle) return path.writeFile(data, options);
  return attempt(() => writeWhole({ path: checkedPath(path) }, data, options, 'w'));
}

/** As writeFile(), with `flag` 'a'. */
export function appendFile(
  path: PathLike | FileHandle,
  data: WriteData,
  options?: WriteFileOptions | BufferEncoding | null,
): Operation<void> {
  if (path instanceof FileHandle) return path.appendFile(data, options);
  return attempt(() => writeWhole({ path: checkedPath(path) }, data, options, 'a'));
}
