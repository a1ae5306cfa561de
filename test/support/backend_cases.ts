// Backend cases: every backend that the conformance suite runs over, or why it cannot run here.
// Owner: none. Invariants: a backend is opened once to find out, with a real NOP by its own probe;
// one that is missing shows up as a skipped test that states the reason, never silently.
// Not here: which one users get (lib/backend/select.ts).
import { describe, it } from 'vitest';
import { DEFAULT_BACKEND_OPTIONS } from '../../lib/backend/backend.ts';
import { openNativeBackend } from '../../lib/backend/native_backend.ts';
import { createNodeBackend } from '../../lib/backend/node/node_backend.ts';
import { createSimulatedBackend } from '../../lib/backend/simulated/simulated_backend.ts';
import type { CreateBackend } from './ring_driver.ts';
import { describeSeed, SEED } from './seed.ts';

export type BackendName = 'io_uring' | 'epoll' | 'node' | 'simulated';

export interface BackendCase {
  readonly name: BackendName;
  readonly isNative: boolean;
  readonly create: CreateBackend;
}

const NODE: BackendCase = { name: 'node', isNative: false, create: createNodeBackend };
/** Without faults: the seed decides delays and orders only. */
const SIMULATED: BackendCase = {
  name: 'simulated',
  isNative: false,
  create: (options) => createSimulatedBackend(createNodeBackend, { ...options, seed: SEED }),
};

function nativeCase(name: BackendName): BackendCase | { name: BackendName; reason: string } {
  const opened = openNativeBackend(name, { ...DEFAULT_BACKEND_OPTIONS, onWake: () => {} });
  if ('reason' in opened) return { name, reason: opened.reason };
  opened.close();
  const create: CreateBackend = (options) => {
    const backend = openNativeBackend(name, options);
    if ('reason' in backend) throw new Error(`${name} worked a moment ago: ${backend.reason}`);
    return backend;
  };
  return { name, isNative: true, create };
}

export const BACKEND_CASES = [nativeCase('io_uring'), nativeCase('epoll'), NODE, SIMULATED];

/** Runs `suite` once per backend, each in a describe block with its name. */
export function describeBackends(title: string, suite: (backend: BackendCase) => void): void {
  for (const backend of BACKEND_CASES) {
    const seeded = backend.name === 'simulated' ? ` (${describeSeed})` : '';
    describe(`${title}: ${backend.name}${seeded}`, () => {
      if ('create' in backend) suite(backend);
      else it(`cannot run here: ${backend.reason}`, (context) => context.skip(backend.reason));
    });
  }
}
