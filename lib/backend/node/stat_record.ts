// Stat record: fs.Stats written as the StatRecord of the shared layout (the kernel's struct statx).
// Owner: stateless; the bytes are the slot's scratch. Invariants: every field of the record is
// written, what node:fs does not tell is 0 and absent from the mask.
// Not here: the reading side (io/).
import type { BigIntStats } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import type { RingMemory } from '../../ring/ring_memory.ts';

/** STATX_BASIC_STATS | STATX_BTIME of uapi/linux/stat.h. */
const MASK_BASIC_AND_BTIME = 0xfff;
const NS_PER_SECOND = 1_000_000_000n;
const MASK_32 = 0xffff_ffffn;

/**
 * Splits a device number as glibc's makedev composes it. The other side composes it the same way
 * on every platform, so the number comes out as node:fs gave it, whatever its parts mean.
 */
export function splitDevice(device: bigint): { major: number; minor: number } {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xffff_f000n);
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffff_ff00n);
  return { major: Number(major), minor: Number(minor) };
}

export function writeStatRecord(memory: RingMemory, slot: number, stats: BigIntStats): void {
  const at = memory.scratchOffset + memory.scratchOffsetOf(slot);
  const view = new DataView(memory.buffer, at, abi.STAT_BYTES);
  memory.bytes.fill(0, at, at + abi.STAT_BYTES);
  view.setUint32(abi.STAT_MASK_OFFSET, MASK_BASIC_AND_BTIME, true);
  view.setUint32(abi.STAT_BLKSIZE_OFFSET, Number(stats.blksize & MASK_32), true);
  view.setUint32(abi.STAT_NLINK_OFFSET, Number(stats.nlink & MASK_32), true);
  view.setUint32(abi.STAT_UID_OFFSET, Number(stats.uid & MASK_32), true);
  view.setUint32(abi.STAT_GID_OFFSET, Number(stats.gid & MASK_32), true);
  view.setUint16(abi.STAT_MODE_OFFSET, Number(stats.mode & 0xffffn), true);
  view.setBigUint64(abi.STAT_INO_OFFSET, stats.ino, true);
  view.setBigUint64(abi.STAT_SIZE_OFFSET, stats.size, true);
  view.setBigUint64(abi.STAT_BLOCKS_OFFSET, stats.blocks, true);
  writeTime(view, abi.STAT_ATIME_SEC_OFFSET, abi.STAT_ATIME_NSEC_OFFSET, stats.atimeNs);
  writeTime(view, abi.STAT_BTIME_SEC_OFFSET, abi.STAT_BTIME_NSEC_OFFSET, stats.birthtimeNs);
  writeTime(view, abi.STAT_CTIME_SEC_OFFSET, abi.STAT_CTIME_NSEC_OFFSET, stats.ctimeNs);
  writeTime(view, abi.STAT_MTIME_SEC_OFFSET, abi.STAT_MTIME_NSEC_OFFSET, stats.mtimeNs);
  const rdev = splitDevice(stats.rdev);
  view.setUint32(abi.STAT_RDEV_MAJOR_OFFSET, rdev.major, true);
  view.setUint32(abi.STAT_RDEV_MINOR_OFFSET, rdev.minor, true);
  const dev = splitDevice(stats.dev);
  view.setUint32(abi.STAT_DEV_MAJOR_OFFSET, dev.major, true);
  view.setUint32(abi.STAT_DEV_MINOR_OFFSET, dev.minor, true);
}

/** Seconds round down, so that the nanoseconds of times before 1970 stay positive. */
function writeTime(view: DataView, secAt: number, nsecAt: number, timeNs: bigint): void {
  const rest = timeNs % NS_PER_SECOND;
  const nsec = rest < 0n ? rest + NS_PER_SECOND : rest;
  view.setBigInt64(secAt, (timeNs - nsec) / NS_PER_SECOND, true);
  view.setUint32(nsecAt, Number(nsec), true);
}
