// A seccomp profile that allows io_uring in a container.
// Container engines take a whole profile, not a difference: a file that named only the io_uring
// calls would either forbid everything else or allow everything. So the three calls are added to
// the engine's own default profile, which is read, never imitated: it changes with every release of
// the engine. Where it cannot be found, what is written is the fragment to add, and says so.
// Owner: nobody. Invariants: the base file is not changed; calls that the base forbids by name are
// taken out of that list, since an explicit rule would win or conflict.
// Not here: whether seccomp is the cause at all (remedies.ts).
import { readFileSync } from 'node:fs';
import { errorTextOf, troubleError } from '../cli_error.ts';

export const IO_URING_CALLS = ['io_uring_setup', 'io_uring_enter', 'io_uring_register'] as const;

/** Where engines keep their default profile on a host. */
const KNOWN_BASES = ['/usr/share/containers/seccomp.json', '/etc/containers/seccomp.json'];

type Json = Record<string, unknown>;

/** A profile and how to use it. */
export interface SeccompProfile {
  readonly json: string;
  readonly isComplete: boolean;
  /** The base it was made from, or null. */
  readonly basePath: string | null;
  readonly usage: readonly string[];
}

/** The rule to add to a profile's `syscalls`. */
export function ioUringRule(): Json {
  return {
    comment: 'io_uring, added by nephrite doctor',
    names: [...IO_URING_CALLS],
    action: 'SCMP_ACT_ALLOW',
  };
}

/** Makes a complete profile from the base (given or found), otherwise the fragment. */
export function makeSeccompProfile(
  basePath: string | undefined,
  knownBases: readonly string[] = KNOWN_BASES,
): SeccompProfile {
  if (basePath !== undefined) return completeProfile(basePath);
  for (const path of knownBases) {
    try {
      readFileSync(path);
    } catch {
      continue;
    }
    return completeProfile(path);
  }
  return fragment();
}

function completeProfile(basePath: string): SeccompProfile {
  const base = readBase(basePath);
  const rules = Array.isArray(base.syscalls) ? base.syscalls.map(withoutIoUring) : [];
  const syscalls = [...rules.filter((rule) => rule !== null), ioUringRule()];
  return {
    json: `${JSON.stringify({ ...base, syscalls }, null, 2)}\n`,
    isComplete: true,
    basePath,
    usage: [
      `complete profile: ${basePath} plus ${IO_URING_CALLS.join(', ')}`,
      'docker run --security-opt seccomp=FILE ...',
      'podman run --security-opt seccomp=FILE ...',
      'Kubernetes: below /var/lib/kubelet/seccomp, seccompProfile: { type: Localhost, ... }',
    ],
  };
}

function fragment(): SeccompProfile {
  const json = {
    comment:
      'A fragment, not a profile: container engines refuse it as it is. Add the entry of ' +
      "`syscalls` to the `syscalls` of the engine's default profile.",
    syscalls: [ioUringRule()],
  };
  return {
    json: `${JSON.stringify(json, null, 2)}\n`,
    isComplete: false,
    basePath: null,
    usage: [
      'fragment: no default profile of a container engine was found here, and a made-up one would',
      'allow too much or too little. Get the one of your engine (Docker: profiles/seccomp/default.json',
      'of its release; Podman: /usr/share/containers/seccomp.json on the host), then either run',
      '  nephrite doctor --seccomp-base default.json --seccomp profile.json',
      "or add the entry yourself: jq '.syscalls += $f[0].syscalls' --slurpfile f FILE default.json",
      'and start the container with --security-opt seccomp=profile.json',
    ],
  };
}

/** A rule without the io_uring calls; null when nothing is left of it. */
function withoutIoUring(rule: unknown): unknown {
  if (!isObject(rule) || !Array.isArray(rule.names)) return rule;
  const isOurs = (name: unknown): boolean => IO_URING_CALLS.some((call) => call === name);
  if (!rule.names.some(isOurs)) return rule;
  const names = rule.names.filter((name) => !isOurs(name));
  return names.length === 0 ? null : { ...rule, names };
}

function readBase(path: string): Json {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw troubleError('ERR_CLI_SETUP', `--seccomp-base ${path}: ${errorTextOf(error)}`, error);
  }
  if (isObject(parsed) && typeof parsed.defaultAction === 'string') return parsed;
  throw troubleError(
    'ERR_CLI_SETUP',
    `--seccomp-base ${path}: not a seccomp profile (it has no defaultAction)`,
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
