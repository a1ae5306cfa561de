// Native backends (io_uring, epoll): the addon's poller behind the Backend interface.
// Owner: one thread. Invariants: the addon's layout was checked against ours before anything is
// opened. Not here: finding the addon (addon/load.ts), choosing one (select.ts).
import * as abi from '../abi/layout.ts';
import { loadNative, type NativeLoad } from '../addon/load.ts';
import { NephriteError, systemError } from '../base/errors.ts';
import type { Arena } from '../ring/buffer_pool.ts';
import { RingMemory } from '../ring/ring_memory.ts';
import type { Backend, BackendOptions } from './backend.ts';
import { clockCell } from './clock_cell.ts';

/** What the addon exports; documented at native/addon/addon.cc. */
export interface NativeAddon {
  readonly abiVersion: number;
  readonly submissionBytes: number;
  readonly completionBytes: number;
  readonly headerBytes: number;
  open(options: Record<string, unknown>): NativePoller | { error: number; stage: string };
  /** Moves the clock's cell to now; returns nanoseconds. */
  advanceClock(cell: Float64Array): number;
}

interface NativePoller {
  readonly ring: ArrayBuffer;
  enter(flags: number): number;
  addArena(bytes: number): Arena | number;
  releaseArena(id: number): void;
  wake(): void;
  close(): void;
  describe(): Record<string, unknown>;
}

/** Why a backend could not be opened. `errno` is positive, as the kernel gave it. */
export interface Refusal {
  readonly name: string;
  readonly reason: string;
  readonly errno?: number;
}

/** The load handshake: a stale prebuild fails here instead of corrupting data. */
function verifyAddon(addon: unknown): string | undefined {
  const { abiVersion, submissionBytes, completionBytes, headerBytes } = addon as NativeAddon;
  const theirs = `${abiVersion}/${submissionBytes}/${completionBytes}/${headerBytes}`;
  const ours = [abi.ABI_VERSION, abi.SUBMISSION_BYTES, abi.COMPLETION_BYTES, abi.HEADER_BYTES];
  return theirs === ours.join('/')
    ? undefined
    : `its layout is ${theirs}, this package needs ${ours.join('/')}: a stale build`;
}

/** The addon, loaded once per thread, or why there is none. */
export function loadAddon(): NativeLoad & { readonly addon?: NativeAddon } {
  return loadNative({ verify: verifyAddon }) as NativeLoad & { readonly addon?: NativeAddon };
}

class NativeBackend implements Backend {
  readonly name: string;
  readonly memory: RingMemory;
  readonly enter: (flags: number) => number;
  readonly #poller: NativePoller;

  constructor(name: string, poller: NativePoller) {
    this.name = name;
    this.#poller = poller;
    this.memory = new RingMemory(poller.ring);
    // The addon's own function, not a method around it: one call less on the hot path.
    this.enter = poller.enter;
  }

  addArena(bytes: number): Arena {
    const arena = this.#poller.addArena(bytes);
    if (typeof arena !== 'number') return arena;
    throw systemError(arena, 'mmap');
  }

  releaseArena(id: number): void {
    this.#poller.releaseArena(id);
  }

  wake(): void {
    this.#poller.wake();
  }

  close(): void {
    this.#poller.close();
  }

  describe(): Record<string, unknown> {
    return this.#poller.describe();
  }
}

/** Opens the named backend, or tells why it cannot run here. Nothing stays open on refusal. */
export function openNativeBackend(name: string, options: BackendOptions): Backend | Refusal {
  const { addon, attempts, remedy } = loadAddon();
  if (addon === undefined) {
    const looked = attempts.map(({ path, reason }) => `${path} (${reason})`).join('; ');
    return { name, reason: `no native addon: ${remedy} Looked for: ${looked}` };
  }
  const poller = addon.open({ ...options, backend: name, clock: clockCell() });
  if ('error' in poller) {
    const error = systemError(-poller.error, poller.stage);
    return { name, reason: `${poller.stage} failed: ${error.message}`, errno: poller.error };
  }
  return new NativeBackend(name, poller);
}

/** As openNativeBackend(), for callers that named the backend. @throws ERR_BACKEND_UNAVAILABLE */
export function createNativeBackend(name: string, options: BackendOptions): Backend {
  const backend = openNativeBackend(name, options);
  if ('reason' in backend) {
    throw new NephriteError('ERR_BACKEND_UNAVAILABLE', `backend ${name}: ${backend.reason}`);
  }
  return backend;
}
