// Entry shapes: directory entries as names or as Node's own Dirents.
// Owner: none. Invariants: Dirents are instances of fs.Dirent; the parent is in the caller's form,
// a string or, for a path given as bytes, a Buffer.
// Not here: reading (directory_reader.ts).
import { Dirent } from 'node:fs';
import { posix } from 'node:path';
import {
  type DirectoryEntry,
  joinEntry,
  KIND_BLOCK,
  KIND_CHARACTER,
  KIND_DIRECTORY,
  KIND_FIFO,
  KIND_LINK,
  KIND_REGULAR,
  KIND_SOCKET,
} from './directory_reader.ts';
import { encodeName, latin1Path, type PathEncoding } from './path_encoding.ts';

export type AnyDirent = Dirent | Dirent<Buffer>;
/**
 * Entries of the directory `relative` (latin1, '' is the one that was asked for) in their shape.
 */
export type EntryShaper<E> = (entries: readonly DirectoryEntry[], relative: string) => E[];

// Node's constructor is public by class, its parameters by use alone: name, type, parent.
const NewDirent = Dirent as unknown as new (
  name: string | Buffer,
  type: number,
  parentPath: string | Buffer,
) => AnyDirent;

// libuv's uv_dirent_type_t, which Dirents hold.
const TYPE_UNKNOWN = 0;
const TYPES: Readonly<Record<number, number>> = {
  [KIND_REGULAR]: 1,
  [KIND_DIRECTORY]: 2,
  [KIND_LINK]: 3,
  [KIND_FIFO]: 4,
  [KIND_SOCKET]: 5,
  [KIND_CHARACTER]: 6,
  [KIND_BLOCK]: 7,
};

/** Names relative to the directory that was asked for. */
export function nameShaper(encoding: PathEncoding): EntryShaper<string | Buffer> {
  return (entries, relative) =>
    entries.map(({ name }) => encodeName(joinEntry(relative, name), encoding));
}

/** Dirents; `path` is the caller's. */
export function direntShaper(
  path: string | Buffer,
  encoding: PathEncoding,
): EntryShaper<AnyDirent> {
  return (entries, relative) => {
    const parent = parentPath(path, relative);
    return entries.map(
      ({ name, kind }) =>
        new NewDirent(encodeName(name, encoding), TYPES[kind] ?? TYPE_UNKNOWN, parent),
    );
  };
}

function parentPath(path: string | Buffer, relative: string): string | Buffer {
  if (relative === '') return path;
  if (typeof path === 'string') return posix.join(path, encodeName(relative, 'utf8').toString());
  return Buffer.from(joinEntry(latin1Path(path), relative), 'latin1');
}
