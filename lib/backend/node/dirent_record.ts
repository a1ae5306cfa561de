// Dirent record: fs.Dirent written as the kernel's linux_dirent64, the DirentRecord of the layout.
// Owner: stateless. Invariants: records are multiples of 8 bytes, names are raw bytes with a NUL.
// Not here: which entries go into which READDIR (directories.ts).
import type { Dirent } from 'node:fs';
import * as abi from '../../abi/layout.ts';

// DT_* of dirent.h.
const KIND_UNKNOWN = 0;
const KIND_FIFO = 1;
const KIND_CHARACTER_DEVICE = 2;
const KIND_DIRECTORY = 4;
const KIND_BLOCK_DEVICE = 6;
const KIND_FILE = 8;
const KIND_LINK = 10;
const KIND_SOCKET = 12;

function kindOf(entry: Dirent<Buffer>): number {
  if (entry.isFile()) return KIND_FILE;
  if (entry.isDirectory()) return KIND_DIRECTORY;
  if (entry.isSymbolicLink()) return KIND_LINK;
  if (entry.isFIFO()) return KIND_FIFO;
  if (entry.isSocket()) return KIND_SOCKET;
  if (entry.isCharacterDevice()) return KIND_CHARACTER_DEVICE;
  if (entry.isBlockDevice()) return KIND_BLOCK_DEVICE;
  return KIND_UNKNOWN;
}

/**
 * Writes one record at `offset` of `target`; `next` is the position after it. Gives the record's
 * bytes, or 0 when it does not fit.
 */
export function writeDirentRecord(
  target: Uint8Array,
  offset: number,
  entry: Dirent<Buffer>,
  next: number,
): number {
  const name = entry.name;
  const recordBytes = (abi.DIRENT_NAME_OFFSET + name.length + 1 + 7) & ~7;
  if (offset + recordBytes > target.length) return 0;
  const record = target.subarray(offset, offset + recordBytes);
  record.fill(0);
  const view = new DataView(record.buffer, record.byteOffset, recordBytes);
  view.setUint32(8, next, true); // `next` of the record; its high word stays 0
  view.setUint16(abi.DIRENT_RECORD_BYTES_OFFSET, recordBytes, true);
  view.setUint8(abi.DIRENT_KIND_OFFSET, kindOf(entry));
  record.set(name, abi.DIRENT_NAME_OFFSET);
  return recordBytes;
}
