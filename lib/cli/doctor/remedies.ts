// What to do when a backend was refused: one or more concrete steps per cause.
// Flow: refusal + facts about the surroundings -> [remediesFor] -> doctor's report
// Owner: nobody; a pure function. Invariants: a step is only given when the facts speak for it; the
// likeliest comes first; every step is something a person can type or tell an administrator.
// Not here: why it was refused (the library's backend selection).
import type { ProcessLimits } from '../host/limits.ts';
import type { SandboxFacts } from '../host/sandbox.ts';
import { formatBytes } from '../units.ts';

/** A refused backend, as the library reports it. */
export interface Refusal {
  readonly name: string;
  readonly reason: string;
  /** Symbolic: `EPERM`; undefined when it was no system call. */
  readonly errno?: string;
}

/** What the remedies depend on. */
export interface Surroundings {
  readonly sandbox: SandboxFacts;
  readonly limits: ProcessLimits;
  readonly kernel: string;
  readonly platform: string;
}

const SECCOMP_STEPS: Readonly<Record<string, string>> = {
  docker:
    'seccomp filters io_uring here (the default of Docker): write a profile with ' +
    '`nephrite doctor --seccomp profile.json` and start with ' +
    '`docker run --security-opt seccomp=profile.json`',
  podman:
    'seccomp filters io_uring here: write a profile with `nephrite doctor --seccomp profile.json` ' +
    'and start with `podman run --security-opt seccomp=profile.json`',
  kubernetes:
    'seccomp filters io_uring here: write a profile with `nephrite doctor --seccomp profile.json`, ' +
    "copy it below the node's /var/lib/kubelet/seccomp and name it in the pod's " +
    'securityContext.seccompProfile (type Localhost)',
};

const SECCOMP_STEP =
  'a seccomp filter is active: allow io_uring_setup, io_uring_enter and io_uring_register in it ' +
  '(`nephrite doctor --seccomp` prints the entry)';

/** The steps for one refused candidate; empty when nothing is known to help. */
export function remediesFor(refusal: Refusal, around: Surroundings): string[] {
  if (refusal.name !== 'io_uring') return [];
  if (around.platform !== 'linux') return ['io_uring exists on Linux only'];
  switch (refusal.errno) {
    case 'EPERM':
    case 'EACCES':
    case 'EOPNOTSUPP':
    case 'ENOTSUP': // the same number, as libuv names it
    case 'ENOSYS':
      return refusedSteps(refusal.errno, around);
    case 'ENOMEM':
      return [memlockStep(around.limits)];
    case 'EMFILE':
    case 'ENFILE':
      return ['no descriptor is left for the ring: raise `ulimit -n`'];
    case 'EINVAL':
      return [`kernel ${around.kernel} does not know what was asked for: 5.6 or newer is needed`];
    default:
      return [];
  }
}

function refusedSteps(errno: string, around: Surroundings): string[] {
  const { sandbox, kernel } = around;
  const steps: string[] = [];
  if (sandbox.ioUringDisabled === 2) {
    steps.push(
      'the administrator switched io_uring off for everybody: `sysctl kernel.io_uring_disabled=0` ' +
        'on the host (to keep it: a file in /etc/sysctl.d)',
    );
  } else if (sandbox.ioUringDisabled === 1 && !sandbox.isRoot) {
    const group =
      sandbox.ioUringGroup === undefined || sandbox.ioUringGroup < 0
        ? 'set kernel.io_uring_group to a group of this user'
        : `add this user to group ${sandbox.ioUringGroup} (kernel.io_uring_group)`;
    steps.push(`kernel.io_uring_disabled is 1: ${group}, or set it to 0`);
  }
  if (sandbox.seccomp === 'filter') {
    steps.push(SECCOMP_STEPS[sandbox.container ?? ''] ?? SECCOMP_STEP);
  }
  if (sandbox.isSelinuxEnforcing && (errno === 'EPERM' || errno === 'EACCES')) {
    steps.push('SELinux is enforcing: look for io_uring in `ausearch -m avc` and allow it');
  }
  if (errno === 'ENOSYS' && sandbox.seccomp !== 'filter') {
    steps.push(
      isOlderThan(kernel, 5, 6)
        ? `kernel ${kernel} is too old: io_uring needs 5.6 or newer`
        : `kernel ${kernel} was built without CONFIG_IO_URING, or a sandbox (gVisor) stands for it`,
    );
  }
  if (steps.length === 0) {
    steps.push(
      `${errno} without a seccomp filter or sysctl to blame: a security module or sandbox`,
    );
  }
  return steps;
}

/** What memlock means, its value, and how to raise it. */
export function memlockStep(limits: ProcessLimits): string {
  const soft = limits.lockedMemoryBytes?.soft;
  const value = soft === undefined || soft === null ? 'the limit' : formatBytes(soft);
  return (
    `memory that a user may lock is used up (\`ulimit -l\`, ${value}): rings count against it for ` +
    'ordinary users, all processes of the user together. Raise it: `ulimit -l unlimited`, memlock ' +
    'in /etc/security/limits.conf, LimitMEMLOCK= of a systemd unit, or `docker run --ulimit memlock=-1`'
  );
}

/** Whether a release such as `5.4.0-42-generic` is older than major.minor. */
export function isOlderThan(release: string, major: number, minor: number): boolean {
  const [ownMajor = 0, ownMinor = 0] = release.split(/[.-]/).map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}
