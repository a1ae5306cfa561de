// Remedies: what a person can do about a refused backend, from its errno and stage.
// Owner: none, stateless. Not here: finding out why (the refusal itself).
import type { Refusal } from './native_backend.ts';

const EPERM = 1;
const ENOMEM = 12;
const EACCES = 13;
const EMFILE = 24;
const ENOSYS = 38;
const EOPNOTSUPP = 95;

const SECCOMP =
  'Most often a container seccomp profile: allow io_uring_setup, io_uring_enter and ' +
  'io_uring_register (`npx nephrite doctor --seccomp` writes such a profile), or set ' +
  'kernel.io_uring_disabled=0 where the sysctl forbids it.';

/** One or two sentences; never empty. */
export function remedyFor(refusal: Refusal): string {
  switch (refusal.errno) {
    case EPERM:
    case EACCES:
    case EOPNOTSUPP:
      return SECCOMP;
    case ENOSYS:
      return `The kernel lacks it (Linux 5.6 is the least for io_uring) or a filter hides it. ${SECCOMP}`;
    case ENOMEM:
      return (
        'Ring memory counts against RLIMIT_MEMLOCK: raise it (`ulimit -l`, LimitMEMLOCK= in ' +
        'systemd, --ulimit memlock= in Docker) or use a smaller ring.'
      );
    case EMFILE:
      return 'The process is out of descriptors: raise `ulimit -n`.';
    case undefined:
      return 'Install a prebuilt addon for this platform, or build it from source (npm rebuild nephrite).';
    default:
      return 'Please report this with the output of `npx nephrite doctor --json`.';
  }
}
