// The measurement card of a run: everything that is needed to judge or repeat its numbers.
// Facts that the machine does not tell (another system, no git) are recorded as 'unknown', never
// left out. Not here: what is particular to a case (its rows' notes).
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import type { BenchOptions } from './options.ts';
import type { Environment } from './report.ts';
import { MIB } from './work.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export function describeEnvironment(options: BenchOptions, plan: Environment): Environment {
  return {
    commit: commit(),
    node: process.version,
    v8: process.versions.v8,
    platform: `${process.platform}-${process.arch}`,
    cpuModel: cpus()[0]?.model ?? 'unknown',
    cpus: availableParallelism(),
    cpuQuota: cpuQuota(),
    memoryMiB: Math.round(totalmem() / MIB),
    heapLimitMiB: Math.round(getHeapStatistics().heap_size_limit / MIB),
    kernel: `${type()} ${release()}`,
    memlock: memlock(),
    tempFilesystem: filesystem(tmpdir()),
    forks: 'one process per subject and case, kept over its rounds; one active at a time',
    quick: String(options.quick),
    ...plan,
  };
}

function commit(): string {
  const head = git('rev-parse', '--short=12', 'HEAD');
  if (head === undefined) return 'unknown';
  return git('status', '--porcelain') === '' ? head : `${head} with local changes`;
}

function git(...args: string[]): string | undefined {
  const result = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function cpuQuota(): string {
  const v2 = readText('/sys/fs/cgroup/cpu.max');
  if (v2 !== undefined) return v2.startsWith('max') ? 'none' : `${v2} us`;
  const quota = readText('/sys/fs/cgroup/cpu/cpu.cfs_quota_us');
  if (quota === undefined) return 'none found';
  return quota === '-1'
    ? 'none'
    : `${quota} us of ${readText('/sys/fs/cgroup/cpu/cpu.cfs_period_us')}`;
}

function memlock(): string {
  const line = readText('/proc/self/limits')
    ?.split('\n')
    .find((entry) => entry.startsWith('Max locked memory'));
  if (line === undefined) return 'unknown';
  const [soft, hard] = line.slice('Max locked memory'.length).trim().split(/\s+/);
  return `${soft} of ${hard} bytes${process.getuid?.() === 0 ? ' (root: not enforced)' : ''}`;
}

/** The type of the filesystem that holds `path`: the longest mount point above it wins. */
function filesystem(path: string): string {
  let best = { point: '', kind: 'unknown' };
  for (const line of readText('/proc/mounts')?.split('\n') ?? []) {
    const [, point = '', kind = ''] = line.split(' ');
    const above = point === '/' || path === point || path.startsWith(`${point}/`);
    if (above && point.length >= best.point.length) best = { point, kind };
  }
  return best.kind;
}
