// Backend: the poller contract as TypeScript sees it; native pollers (io_uring, epoll) and those
// written in TypeScript (node, simulated) look the same from here. The native half of the contract
// is native/backend/backend.h.
// Owner: one thread per backend object. Invariants: every submission entry consumed gives exactly
// one completion entry, with the same slot and generation; results are >= 0 or a negative errno.
// Not here: who calls enter and when (io/io_thread.ts).
import type { Arena } from '../ring/buffer_pool.ts';
import type { RingMemory } from '../ring/ring_memory.ts';

export type { Arena };

export interface Backend {
  /** `io_uring`, `epoll`, `node`, `simulated`, ... */
  readonly name: string;
  readonly memory: RingMemory;
  /**
   * The one hot call: consumes the submission ring (ENTER_SUBMIT), collects and publishes
   * completions (ENTER_COLLECT). Returns how many completions are now in the ring that were not
   * there before. HEADER_STATUS holds STATUS_MORE when a budget ended it early.
   * While operations are in flight the backend keeps the event loop alive.
   */
  enter(flags: number): number;
  /** @throws a SystemError-like failure (ENOMEM) as NephriteError */
  addArena(bytes: number): Arena;
  /** The memory goes when no operation in flight points into it. */
  releaseArena(id: number): void;
  /** Makes the thread call onWake soon, also from elsewhere. */
  wake(): void;
  /** Cancels what is in flight and releases everything. Idempotent. */
  close(): void;
  /** What `doctor` shows: flags, opcodes, ring entries; plain data. */
  describe(): Record<string, unknown>;
}

export interface BackendOptions {
  /** Kernel submission entries; default 256. Power of two, 8 to 4096. */
  ringEntries: number;
  /** Most operations in flight; default 1024. Power of two, 16 to 65536. */
  slotCapacity: number;
  /** Kernel worker threads of each kind (io-wq); default 8. */
  ioWorkersMax: number;
  sqpoll: boolean;
  iopoll: boolean;
  /** Called from the event loop when completions are there that no enter() has collected. */
  onWake: () => void;
}

export const DEFAULT_BACKEND_OPTIONS: Omit<BackendOptions, 'onWake'> = {
  ringEntries: 256,
  slotCapacity: 1024,
  ioWorkersMax: 8,
  sqpoll: false,
  iopoll: false,
};
