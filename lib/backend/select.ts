// Selection: candidates in order, each probed with a real no-op; any failure means the next.
// Owner: one thread, once. Invariants: a backend that the user named is never replaced by another;
// each refusal keeps its reason; importing this file makes no system call.
// Not here: the probes (native/backend/*.cc open), options (io/current_thread.ts).
import { NephriteError } from '../base/errors.ts';
import type { Backend, BackendOptions } from './backend.ts';
import { openNativeBackend, type Refusal } from './native_backend.ts';
import { createNodeBackend } from './node/node_backend.ts';
import { remedyFor } from './remedy.ts';

/** A candidate that was not taken. */
export interface RefusedBackend extends Refusal {
  /** What its user can do about it. */
  readonly remedy: string;
}

export interface Selection {
  readonly backend: Backend;
  readonly refused: readonly RefusedBackend[];
}

/** Names that `backend` options and NEPHRITE_BACKEND accept, best first, for this platform. */
export const BACKEND_NAMES: readonly string[] =
  process.platform === 'linux' ? ['io_uring', 'epoll', 'node'] : ['node'];

/** Opens the named backend, or the first of BACKEND_NAMES that works. */
export function selectBackend(wanted: string | undefined, options: BackendOptions): Selection {
  const refused: RefusedBackend[] = [];
  if (wanted !== undefined && !BACKEND_NAMES.includes(wanted)) {
    throw new NephriteError(
      'ERR_BACKEND_UNAVAILABLE',
      `backend '${wanted}' is not one of ${BACKEND_NAMES.join(', ')} on ${process.platform}`,
    );
  }
  for (const name of wanted === undefined ? BACKEND_NAMES : [wanted]) {
    const backend = name === 'node' ? createNodeBackend(options) : openNativeBackend(name, options);
    if (!('reason' in backend)) return { backend, refused };
    refused.push({ ...backend, remedy: remedyFor(backend) });
  }
  const [only] = refused;
  throw new NephriteError(
    'ERR_BACKEND_UNAVAILABLE',
    `backend '${wanted}' was asked for by name and cannot run here: ${only?.reason}. ${only?.remedy}`,
  );
}
