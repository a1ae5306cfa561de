// What stands between this process and io_uring: seccomp, a sysctl, a container, a security module.
// Owner: nobody; reads /proc and /sys at the moment of the call. Invariants: never throws;
// undefined means that the system does not say.
// Not here: what to do about it (doctor/remedies.ts), limits (limits.ts).
import { existsSync, readFileSync } from 'node:fs';

/** Facts about the surroundings of the process. */
export interface SandboxFacts {
  /** `none`, `strict` or `filter`. */
  readonly seccomp: 'none' | 'strict' | 'filter' | undefined;
  /** kernel.io_uring_disabled: 0 everybody, 1 only the group and administrators, 2 nobody. */
  readonly ioUringDisabled: number | undefined;
  /** kernel.io_uring_group: -1 is no group. */
  readonly ioUringGroup: number | undefined;
  /** `docker`, `podman`, `kubernetes`, `container`, or undefined outside of one. */
  readonly container: string | undefined;
  readonly isRoot: boolean;
  /** SELinux in enforcing mode. */
  readonly isSelinuxEnforcing: boolean;
}

const SECCOMP_MODES = ['none', 'strict', 'filter'] as const;

export function readSandbox(): SandboxFacts {
  const mode = /^Seccomp:\s*(\d)/m.exec(readText('/proc/self/status') ?? '')?.[1];
  return {
    seccomp: mode === undefined ? undefined : SECCOMP_MODES[Number(mode)],
    ioUringDisabled: readNumber('/proc/sys/kernel/io_uring_disabled'),
    ioUringGroup: readNumber('/proc/sys/kernel/io_uring_group'),
    container: containerKind(),
    isRoot: process.geteuid?.() === 0,
    isSelinuxEnforcing: readNumber('/sys/fs/selinux/enforce') === 1,
  };
}

function containerKind(): string | undefined {
  if (process.env.KUBERNETES_SERVICE_HOST !== undefined) return 'kubernetes';
  if (existsSync('/run/.containerenv')) return 'podman';
  if (existsSync('/.dockerenv')) return 'docker';
  const groups = readText('/proc/self/cgroup') ?? '';
  return /docker|containerd|kubepods|libpod|lxc/.test(groups) ? 'container' : undefined;
}

function readNumber(path: string): number | undefined {
  const text = readText(path)?.trim();
  return text === undefined || text === '' ? undefined : Number(text);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
