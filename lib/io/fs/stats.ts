// Stats: node:fs.Stats and BigIntStats from the StatRecord that every backend fills.
// Owner: none; the record is read while the slot's scratch still holds it.
// Invariants: objects are instances of Node's own fs.Stats, so isFile() and friends, instanceof and
// the Date getters are Node's. Not here: the request (paths.ts, file_handle.ts).
import { Stats, statSync } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import type { ResultSource } from '../path_operation.ts';

const TWO_32 = 4294967296;

type BigIntStatsLike = Stats & Record<string, unknown>;

// Node 22 and later have lazy Date getters on the prototype; before, Dates are own properties.
// Those of BigIntStats are the same.
const HAS_DATE_GETTERS = 'atime' in Stats.prototype;
// Node 26 and later have Instants too, and keep the nanoseconds for them under symbols of their
// own.
const HAS_INSTANTS = 'atimeInstant' in Stats.prototype;
const INSTANT_NAMES = ['atime', 'mtime', 'ctime', 'birthtime'];
let instantKeys: readonly (symbol | undefined)[] | undefined;

function setInstants(stats: Stats, nanoseconds: readonly number[]): void {
  instantKeys ??= INSTANT_NAMES.map((name) =>
    Object.getOwnPropertySymbols(statSync('/')).find((key) =>
      key.description?.toLowerCase().endsWith(`partial${name}ns`),
    ),
  );
  for (const [index, key] of instantKeys.entries()) {
    if (key !== undefined) (stats as unknown as Record<symbol, number>)[key] = nanoseconds[index];
  }
}

// The public constructor is deprecated (DEP0180), so instances of fs.Stats are made by a function
// of ours that shares its prototype; a constructor gives them one hidden class.
interface StatsShape {
  [name: string]: unknown;
}
type StatsConstructor = new (fields: readonly number[]) => Stats;

function setNumbers(stats: StatsShape, fields: readonly number[]): void {
  stats.dev = fields[0];
  stats.mode = fields[1];
  stats.nlink = fields[2];
  stats.uid = fields[3];
  stats.gid = fields[4];
  stats.rdev = fields[5];
  stats.blksize = fields[6];
  stats.ino = fields[7];
  stats.size = fields[8];
  stats.blocks = fields[9];
  stats.atimeMs = fields[10];
  stats.mtimeMs = fields[11];
  stats.ctimeMs = fields[12];
  stats.birthtimeMs = fields[13];
}

function StatsShape(this: StatsShape, fields: readonly number[]): void {
  setNumbers(this, fields);
  if (HAS_DATE_GETTERS) return;
  this.atime = new Date(Math.round(fields[10]));
  this.mtime = new Date(Math.round(fields[11]));
  this.ctime = new Date(Math.round(fields[12]));
  this.birthtime = new Date(Math.round(fields[13]));
}
StatsShape.prototype = Stats.prototype;
const NewStats = StatsShape as unknown as StatsConstructor;

// For statMany, which has no counterpart in Node 20 to look like: its Dates are made when asked
// for, as Node 22 does. Four Dates cost 1.3 us of a stat's 5.
function LazyStatsShape(this: StatsShape, fields: readonly number[]): void {
  setNumbers(this, fields);
}
LazyStatsShape.prototype = HAS_DATE_GETTERS ? Stats.prototype : withDateGetters(Stats.prototype);
const NewLazyStats = LazyStatsShape as unknown as StatsConstructor;

function withDateGetters(prototype: object): object {
  const getters: PropertyDescriptorMap = {};
  for (const name of ['atime', 'mtime', 'ctime', 'birthtime']) {
    getters[name] = {
      enumerable: true,
      configurable: true,
      get(this: Record<string, number>) {
        return new Date(Math.round(this[`${name}Ms`]));
      },
    };
  }
  return Object.create(prototype, getters) as object;
}

// Linux's dev_t: glibc's makedev(), as libuv computes st_dev from statx.
function device(major: number, minor: number): number {
  const low = (minor & 0xff) + (major & 0xfff) * 256 + (minor >>> 8) * 1048576;
  return low + Math.floor(major / 4096) * TWO_32 * 4096;
}

/** Reads the stat record of a completed request. */
export function decodeStats(source: ResultSource): Stats {
  return decodeAs(NewStats, source);
}

/** As decodeStats(), with Dates that are made when they are asked for. */
export function decodeLazyStats(source: ResultSource): Stats {
  return decodeAs(NewLazyStats, source);
}

function decodeAs(Shape: StatsConstructor, source: ResultSource): Stats {
  const { words, signedWords } = source.thread.memory;
  const base = source.statOffset / 4;
  const u32 = (offset: number): number => words[base + offset / 4];
  const u64 = (offset: number): number => u32(offset) + u32(offset + 4) * TWO_32;
  const ms = (sec: number, nsec: number): number =>
    (u32(sec) + signedWords[base + sec / 4 + 1] * TWO_32) * 1000 + u32(nsec) / 1e6;
  const mode = u32(abi.STAT_MODE_OFFSET) & 0xffff;
  const stats = new Shape([
    device(u32(abi.STAT_DEV_MAJOR_OFFSET), u32(abi.STAT_DEV_MINOR_OFFSET)),
    mode,
    u32(abi.STAT_NLINK_OFFSET),
    u32(abi.STAT_UID_OFFSET),
    u32(abi.STAT_GID_OFFSET),
    device(u32(abi.STAT_RDEV_MAJOR_OFFSET), u32(abi.STAT_RDEV_MINOR_OFFSET)),
    u32(abi.STAT_BLKSIZE_OFFSET),
    u64(abi.STAT_INO_OFFSET),
    u64(abi.STAT_SIZE_OFFSET),
    u64(abi.STAT_BLOCKS_OFFSET),
    ms(abi.STAT_ATIME_SEC_OFFSET, abi.STAT_ATIME_NSEC_OFFSET),
    ms(abi.STAT_MTIME_SEC_OFFSET, abi.STAT_MTIME_NSEC_OFFSET),
    ms(abi.STAT_CTIME_SEC_OFFSET, abi.STAT_CTIME_NSEC_OFFSET),
    ms(abi.STAT_BTIME_SEC_OFFSET, abi.STAT_BTIME_NSEC_OFFSET),
  ]);
  if (HAS_INSTANTS) {
    setInstants(stats, [
      u32(abi.STAT_ATIME_NSEC_OFFSET),
      u32(abi.STAT_MTIME_NSEC_OFFSET),
      u32(abi.STAT_CTIME_NSEC_OFFSET),
      u32(abi.STAT_BTIME_NSEC_OFFSET),
    ]);
  }
  return stats;
}

let bigIntPrototype: object | undefined;

/** As decodeStats(), with `{ bigint: true }`. */
export function decodeBigIntStats(source: ResultSource): Stats {
  // Node exports no BigIntStats class; its prototype is that of any bigint stat.
  bigIntPrototype ??= Object.getPrototypeOf(statSync('/', { bigint: true })) as object;
  const { words, signedWords } = source.thread.memory;
  const base = source.statOffset / 4;
  const u32 = (offset: number): bigint => BigInt(words[base + offset / 4]);
  const u64 = (offset: number): bigint => u32(offset) | (u32(offset + 4) << 32n);
  const ns = (sec: number, nsec: number): bigint =>
    (u32(sec) | (BigInt(signedWords[base + sec / 4 + 1]) << 32n)) * 1000000000n + u32(nsec);
  const dev = (major: number, minor: number): bigint =>
    BigInt(device(words[base + major / 4], words[base + minor / 4]));
  const stats = Object.create(bigIntPrototype) as BigIntStatsLike;
  const times = {
    atime: ns(abi.STAT_ATIME_SEC_OFFSET, abi.STAT_ATIME_NSEC_OFFSET),
    mtime: ns(abi.STAT_MTIME_SEC_OFFSET, abi.STAT_MTIME_NSEC_OFFSET),
    ctime: ns(abi.STAT_CTIME_SEC_OFFSET, abi.STAT_CTIME_NSEC_OFFSET),
    birthtime: ns(abi.STAT_BTIME_SEC_OFFSET, abi.STAT_BTIME_NSEC_OFFSET),
  };
  Object.assign(stats, {
    dev: dev(abi.STAT_DEV_MAJOR_OFFSET, abi.STAT_DEV_MINOR_OFFSET),
    mode: u32(abi.STAT_MODE_OFFSET) & 0xffffn,
    nlink: u32(abi.STAT_NLINK_OFFSET),
    uid: u32(abi.STAT_UID_OFFSET),
    gid: u32(abi.STAT_GID_OFFSET),
    rdev: dev(abi.STAT_RDEV_MAJOR_OFFSET, abi.STAT_RDEV_MINOR_OFFSET),
    blksize: u32(abi.STAT_BLKSIZE_OFFSET),
    ino: u64(abi.STAT_INO_OFFSET),
    size: u64(abi.STAT_SIZE_OFFSET),
    blocks: u64(abi.STAT_BLOCKS_OFFSET),
  });
  for (const [name, value] of Object.entries(times)) stats[`${name}Ms`] = value / 1000000n;
  for (const [name, value] of Object.entries(times)) stats[`${name}Ns`] = value;
  if (HAS_DATE_GETTERS) return stats;
  for (const [name, value] of Object.entries(times)) {
    stats[name] = new Date(Number(value / 1000000n));
  }
  return stats;
}
