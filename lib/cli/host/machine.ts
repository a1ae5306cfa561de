// The machine and the program: what a measurement is worthless without.
// Owner: nobody; reads at the moment of the call. Invariants: no network, no child process.
// Not here: the backend (backend selection of the library), limits (limits.ts).
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { detectLibc } from '../../addon/libc.ts';
import { readCgroupLimits } from './cgroup.ts';

/** Facts that go into every result. */
export interface MachineFacts {
  readonly nephrite: string;
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly kernel: string;
  readonly libc: string;
  readonly cpuModel: string;
  readonly cpus: number;
  /** Processors' worth of time the control group allows; null is no limit. */
  readonly cpuQuota: number | null;
  readonly memoryBytes: number;
  readonly heapLimitBytes: number;
}

export function readMachine(): MachineFacts {
  const cgroup = readCgroupLimits();
  const cpus = os.cpus();
  return {
    nephrite: packageVersion(),
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    kernel: os.release(),
    libc: detectLibc(),
    cpuModel: cpus[0]?.model.trim() ?? 'unknown',
    cpus: cpus.length,
    cpuQuota: cgroup.cpuQuota,
    memoryBytes: Math.min(os.totalmem(), cgroup.memoryBytes ?? Number.POSITIVE_INFINITY),
    heapLimitBytes: getHeapStatistics().heap_size_limit,
  };
}

/** The folder of this package: the nearest one above with nephrite's package.json, or null. */
export function packageFolder(): string | null {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < 6; level++) {
    if (readPackage(folder)?.name === 'nephrite') return folder;
    folder = dirname(folder);
  }
  return null;
}

/** The version in package.json. */
export function packageVersion(): string {
  const folder = packageFolder();
  const version = folder === null ? undefined : readPackage(folder)?.version;
  return typeof version === 'string' ? version : 'unknown';
}

function readPackage(folder: string): { name?: unknown; version?: unknown } | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
