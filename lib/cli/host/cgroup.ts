// CPU time and memory that the control group of this process allows: what a container really has.
// Owner: nobody; reads /proc and /sys at the moment of the call. Invariants: never throws; the
// tightest limit on the way up wins; null means no limit, or nothing that can be read.
// Not here: limits of the process itself (limits.ts).
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const CGROUP_ROOT = '/sys/fs/cgroup';
const DEPTH_MAX = 64;

/** Limits of the control group. */
export interface CgroupLimits {
  /** Processors' worth of CPU time, such as 1.5. */
  readonly cpuQuota: number | null;
  readonly memoryBytes: number | null;
}

/** Reads the limits of this process's control group, version 2 or 1. */
export function readCgroupLimits(root = CGROUP_ROOT, selfPath = '/proc/self/cgroup'): CgroupLimits {
  const groups = readText(selfPath)?.trim().split('\n') ?? [];
  let cpuQuota: number | null = null;
  let memoryBytes: number | null = null;
  for (const line of groups) {
    const [, controllers = '', path = '/'] = line.split(':');
    const isUnified = controllers === '';
    const names = controllers.split(',');
    if (!isUnified && !names.includes('cpu') && !names.includes('memory')) continue;
    const base = isUnified ? root : join(root, controllers);
    for (const folder of foldersUpTo(base, path)) {
      cpuQuota = smaller(cpuQuota, isUnified ? quotaV2(folder) : quotaV1(folder));
      const memoryFile = isUnified ? 'memory.max' : 'memory.limit_in_bytes';
      memoryBytes = smaller(memoryBytes, readLimit(join(folder, memoryFile)));
    }
  }
  return { cpuQuota, memoryBytes };
}

/** `max 100000` or `150000 100000`. */
function quotaV2(folder: string): number | null {
  const [quota = 'max', period = '100000'] =
    readText(join(folder, 'cpu.max'))?.trim().split(/\s+/) ?? [];
  return quota === 'max' ? null : ratio(Number(quota), Number(period));
}

function quotaV1(folder: string): number | null {
  const quota = Number(readText(join(folder, 'cpu.cfs_quota_us')) ?? -1);
  const period = Number(readText(join(folder, 'cpu.cfs_period_us')) ?? 0);
  return quota <= 0 ? null : ratio(quota, period);
}

function ratio(quota: number, period: number): number | null {
  const value = quota / period;
  return Number.isFinite(value) && value > 0 ? value : null;
}

/** Version 1 writes "no limit" as a huge number. */
function readLimit(path: string): number | null {
  const text = readText(path)?.trim();
  if (text === undefined || text === 'max') return null;
  const value = Number(text);
  return Number.isFinite(value) && value > 0 && value < 2 ** 62 ? value : null;
}

function smaller(left: number | null, right: number | null): number | null {
  if (left === null) return right;
  return right === null ? left : Math.min(left, right);
}

function foldersUpTo(base: string, path: string): string[] {
  const folders: string[] = [];
  let folder = join(base, path);
  for (let depth = 0; depth < DEPTH_MAX && folder.length >= base.length; depth++) {
    folders.push(folder);
    if (folder === base || dirname(folder) === folder) break;
    folder = dirname(folder);
  }
  return folders;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
