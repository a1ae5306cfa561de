// What `nephrite doctor` is, for parsing, help and docs.
// Owner: this table. Not here: the examination (examine.ts), the seccomp profile (seccomp.ts).
import type { CommandSpec } from '../args.ts';

export const DOCTOR_COMMAND: CommandSpec = {
  name: 'doctor',
  usage: 'nephrite doctor [options]',
  summary: 'which backend runs here, why not a better one, and what to do about it',
  description: [
    'Starts the library as a program would and reports the backend it chose, every candidate that',
    'was refused with the reason and a remedy, the native addon, limits, kernel and container.',
    'Exit code 0 also when degraded: the library works. With --strict, 1 unless the best backend',
    'of this platform runs (io_uring on Linux).',
  ],
  options: [
    {
      name: 'json',
      kind: 'optionalValue',
      placeholder: 'FILE',
      summary: 'write the findings as JSON to FILE, or to standard output instead of the text',
    },
    { name: 'strict', kind: 'flag', summary: 'exit with 1 when a better backend exists' },
    {
      name: 'seccomp',
      kind: 'optionalValue',
      placeholder: 'FILE',
      summary:
        'write a seccomp profile that allows io_uring in containers, to FILE or standard output: ' +
        "complete when the container engine's own profile is found (or given with " +
        '--seccomp-base), otherwise the fragment to add to it',
    },
    {
      name: 'seccomp-base',
      kind: 'value',
      placeholder: 'FILE',
      summary: "the engine's default profile, to which --seccomp adds the io_uring calls",
    },
  ],
  examples: [
    ['nephrite doctor', 'what runs here, and why'],
    ['nephrite doctor --strict', 'fail a deployment that would run degraded'],
    ['nephrite doctor --seccomp-base default.json --seccomp io_uring.json', 'profile for docker'],
  ],
};
