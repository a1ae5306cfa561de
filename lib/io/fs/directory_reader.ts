// Directory reader: the entries of an open directory, one buffer of the kernel's records at a time.
// Owner: the operation that opened the descriptor. Invariants: "." and ".." are left out; names are
// latin1 strings, one character per byte (path_encoding.ts); a kind that the file system does not
// tell is looked up.
// Not here: opening (descriptors.ts), Node's shapes of entries (readdir.ts).
import { constants } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import type { SystemError } from '../../base/errors.ts';
import type { CompositeScope } from '../composite.ts';
import type { Decode } from '../path_operation.ts';
import { forEachBounded } from '../work_stack.ts';
import { decodeStats } from './stats.ts';

/** How directories are opened to be read: not waiting for a FIFO that was put in its place. */
export const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK;

// What glibc's scandir uses: one call for most directories, and a chunk class of the pool.
const BUFFER_BYTES = 32 * 1024;
const LOOK_UP_WIDTH = 16;

// DT_* of the kernel's records.
export const KIND_UNKNOWN = 0;
export const KIND_FIFO = 1;
export const KIND_CHARACTER = 2;
export const KIND_DIRECTORY = 4;
export const KIND_BLOCK = 6;
export const KIND_REGULAR = 8;
export const KIND_LINK = 10;
export const KIND_SOCKET = 12;

export interface DirectoryEntry {
  /** latin1: one character per byte. */
  readonly name: string;
  /** One of KIND_*. */
  kind: number;
}

// The kernel pads a record to 8 bytes and does not clear the padding behind the name's NUL.
function nameEnd(bytes: Buffer, start: number, end: number): number {
  for (let at = Math.max(start, end - 8); at < end; at++) {
    if (bytes[at] === 0) return at;
  }
  return end;
}

const toEntries: Decode<DirectoryEntry[]> = (byteCount, _flags, { output }) => {
  const entries: DirectoryEntry[] = [];
  if (output === undefined) return entries;
  for (let at = 0; at < byteCount; ) {
    const sizeAt = at + abi.DIRENT_RECORD_BYTES_OFFSET;
    const recordBytes = output[sizeAt] | (output[sizeAt + 1] << 8);
    const start = at + abi.DIRENT_NAME_OFFSET;
    const name = output.toString('latin1', start, nameEnd(output, start, at + recordBytes));
    if (name !== '.' && name !== '..') {
      entries.push({ name, kind: output[at + abi.DIRENT_KIND_OFFSET] });
    }
    at += recordBytes;
  }
  return entries;
};

// The end is told by a read of 0 bytes: a buffer of "." and ".." alone is not the end.
const toBatch: Decode<DirectoryEntry[] | undefined> = (byteCount, flags, source) =>
  byteCount === 0 ? undefined : toEntries(byteCount, flags, source);

export interface EntryBatch {
  readonly entries: DirectoryEntry[];
  readonly isEnd: boolean;
}

/**
 * The next entries, in no order. `path` is what errors show. Two reads go out together: they share
 * the position of the descriptor, so for most directories one of them brings the entries and the
 * other the end, in one round.
 */
export async function readEntries(
  scope: CompositeScope,
  fd: number,
  path: string | Buffer,
): Promise<EntryBatch> {
  const request = { opcode: abi.OP_READDIR, syscall: 'scandir', fd, errorPath: path };
  const read = () => scope.decoded({ ...request, outputBytes: BUFFER_BYTES }, toBatch);
  const [first, second] = await Promise.all([read(), read()]);
  const isEnd = first === undefined || second === undefined;
  const entries = first ?? second ?? [];
  if (first !== undefined && second !== undefined) {
    for (const entry of second) entries.push(entry);
  }
  return { entries, isEnd };
}

/** The path of an entry; `directory` and `name` are latin1, and so is the result. */
export function joinEntry(directory: string, name: string): string {
  if (directory === '' || directory.endsWith('/')) return directory + name;
  return `${directory}/${name}`;
}

const S_IFMT_SHIFT = 12;

/** Reads a stat's result as KIND_*. */
export const kindOf: Decode<number> = (_result, _flags, source) =>
  (decodeStats(source).mode & constants.S_IFMT) >> S_IFMT_SHIFT;

export interface LookUp {
  /** One of KIND_*; KIND_UNKNOWN when it is gone or leads nowhere. */
  readonly kind: number;
  /** The same for the same object of the same file system, by whatever name. */
  readonly identity: string;
}

const NOTHING: LookUp = { kind: KIND_UNKNOWN, identity: '' };

/** What the latin1 `path` names or, `follow`ed, leads to. */
export async function lookUp(
  scope: CompositeScope,
  path: string,
  follow: boolean,
): Promise<LookUp> {
  const flags = follow ? 0 : abi.ENTRY_NO_FOLLOW;
  const bytes = Buffer.from(path, 'latin1');
  const request = { opcode: abi.OP_STAT, syscall: 'lstat', path: bytes, flags };
  try {
    const stats = await scope.decoded(request, (_result, _flags, source) => decodeStats(source));
    const kind = (stats.mode & constants.S_IFMT) >> S_IFMT_SHIFT;
    return { kind, identity: `${stats.dev}:${stats.ino}` };
  } catch (error) {
    scope.check();
    if (follow || (error as SystemError).code === 'ENOENT') return NOTHING;
    throw error;
  }
}

/** Looks up the kinds that the file system did not tell. */
export async function resolveKinds(
  scope: CompositeScope,
  directory: string,
  entries: readonly DirectoryEntry[],
): Promise<void> {
  const unknown = entries.filter(({ kind }) => kind === KIND_UNKNOWN);
  if (unknown.length === 0) return;
  await forEachBounded(unknown, LOOK_UP_WIDTH, async (entry) => {
    entry.kind = (await lookUp(scope, joinEntry(directory, entry.name), false)).kind;
  });
}
