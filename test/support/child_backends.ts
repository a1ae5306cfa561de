// The backends that a program can be told to use (NEPHRITE_BACKEND), or why one cannot run here.
// Owner: none. Invariants: a backend is opened once to find out; one that is missing shows up as a
// skipped test that states the reason. Not here: raw backends, the simulated one
// (backend_cases.ts).
import { describe, it } from 'vitest';
import { DEFAULT_BACKEND_OPTIONS } from '../../lib/backend/backend.ts';
import { openNativeBackend } from '../../lib/backend/native_backend.ts';

export type ChildBackend = 'io_uring' | 'epoll' | 'node';

/** Why `name` cannot run on this machine, or undefined. */
export function refusalOf(name: ChildBackend): string | undefined {
  if (name === 'node') return undefined;
  const opened = openNativeBackend(name, { ...DEFAULT_BACKEND_OPTIONS, onWake: () => {} });
  if ('reason' in opened) return opened.reason;
  opened.close();
  return undefined;
}

const REFUSALS = new Map<ChildBackend, string | undefined>(
  (['io_uring', 'epoll', 'node'] as const).map((name) => [name, refusalOf(name)]),
);

/** Runs `suite` once per backend, each in a describe block with its name. */
export function describeChildBackends(
  title: string,
  suite: (backend: ChildBackend) => void,
  names: readonly ChildBackend[] = [...REFUSALS.keys()],
): void {
  for (const name of names) {
    describe(`${title}: ${name}`, () => {
      const reason = REFUSALS.get(name);
      if (reason === undefined) suite(name);
      else it(`cannot run here: ${reason}`, (context) => context.skip(reason));
    });
  }
}
