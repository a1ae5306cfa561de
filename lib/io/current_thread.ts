// The calling thread's poller: opened at first use, configured before it.
// Owner: module state, one per thread (each worker loads its own copy). Invariants: importing makes
// no system call; configure() after the first operation is an error, never half-applied.
// Not here: selection (backend/select.ts), the pump (io_thread.ts).
import { setNativePath } from '../addon/load.ts';
import { type BackendOptions, DEFAULT_BACKEND_OPTIONS } from '../backend/backend.ts';
import { BACKEND_NAMES, type RefusedBackend, selectBackend } from '../backend/select.ts';
import { invalidArgType, invalidArgValue, NephriteError, outOfRange } from '../base/errors.ts';
import { makeExemplars } from './exemplars.ts';
import { IoThread } from './io_thread.ts';

/** Sizes of the rings. All are powers of two. */
export interface RingOptions {
  /** Kernel submission entries, 8 to 4096; default 256. */
  entries?: number;
  /**
   * Most operations in flight, 16 to 65536; default 1024. Further ones wait in order. Two are kept
   * for a close and a cancel. An open of a FIFO that was given up holds one until its thread comes
   * back, at most 256 in a process: with fewer operations than that, such opens can stop the rest.
   */
  operations?: number;
  /** Kernel worker threads of each kind (io-wq), 1 to 1024; default 8. */
  ioWorkersMax?: number;
  /** A kernel thread polls the submission ring; default false. For those who measure. */
  sqpoll?: boolean;
  /** Busy-polls O_DIRECT completions; default false. For those who measure. */
  iopoll?: boolean;
}

export interface ConfigureOptions {
  /** Exactly this backend, or an error that says why not. Default: the best that works. */
  backend?: 'io_uring' | 'epoll' | 'node';
  ring?: RingOptions;
  /** Absolute path of the addon's file, for bundlers and single executables. */
  nativePath?: string;
}

/** Which backend this thread uses and why not a better one. */
export interface BackendInfo {
  readonly name: string;
  readonly refused: readonly RefusedBackend[];
  /** Kernel flags, features, opcodes, ring entries; plain data for `doctor`. */
  readonly details: Readonly<Record<string, unknown>>;
}

let configured: ConfigureOptions = {};
let thread: IoThread | undefined;
let refused: readonly RefusedBackend[] = [];

function checkPowerOfTwo(
  name: string,
  value: number | undefined,
  least: number,
  most: number,
): void {
  if (value === undefined) return;
  if (typeof value !== 'number') throw invalidArgType(name, 'of type number', value);
  const isPower = Number.isInteger(value) && (value & (value - 1)) === 0;
  if (!isPower || value < least || value > most) {
    throw outOfRange(name, `a power of two >= ${least} and <= ${most}`, value);
  }
}

/**
 * Options for this thread's poller, before its first operation.
 * @throws ERR_BACKEND_STARTED after it; ERR_INVALID_ARG_* and ERR_OUT_OF_RANGE on bad options.
 */
export function configure(options: ConfigureOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw invalidArgType('options', 'of type object', options);
  }
  const { backend: name, ring, nativePath } = options;
  if (name !== undefined && !BACKEND_NAMES.includes(name)) {
    throw invalidArgValue('options.backend', name, `must be one of ${BACKEND_NAMES.join(', ')}`);
  }
  checkPowerOfTwo('options.ring.entries', ring?.entries, 8, 4096);
  checkPowerOfTwo('options.ring.operations', ring?.operations, 16, 65536);
  const workers = ring?.ioWorkersMax;
  if (workers !== undefined && !(Number.isInteger(workers) && workers >= 1 && workers <= 1024)) {
    throw outOfRange('options.ring.ioWorkersMax', 'an integer >= 1 and <= 1024', workers);
  }
  if (nativePath !== undefined && typeof nativePath !== 'string') {
    throw invalidArgType('options.nativePath', 'of type string', nativePath);
  }
  if (thread !== undefined) {
    throw new NephriteError(
      'ERR_BACKEND_STARTED',
      'configure() must come before the first operation of the thread',
    );
  }
  if (nativePath !== undefined) setNativePath(nativePath);
  configured = { ...configured, ...options };
}

function backendOptions(): Omit<BackendOptions, 'onWake'> {
  const { ring } = configured;
  return {
    ringEntries: ring?.entries ?? DEFAULT_BACKEND_OPTIONS.ringEntries,
    slotCapacity: ring?.operations ?? DEFAULT_BACKEND_OPTIONS.slotCapacity,
    ioWorkersMax: ring?.ioWorkersMax ?? DEFAULT_BACKEND_OPTIONS.ioWorkersMax,
    sqpoll: ring?.sqpoll ?? DEFAULT_BACKEND_OPTIONS.sqpoll,
    iopoll: ring?.iopoll ?? DEFAULT_BACKEND_OPTIONS.iopoll,
  };
}

/** This thread's poller, opened at first use. @throws ERR_BACKEND_UNAVAILABLE */
export function currentThread(): IoThread {
  if (thread === undefined) {
    const wanted = configured.backend ?? (process.env.NEPHRITE_BACKEND || undefined);
    const opened = new IoThread((onWake) => {
      const selection = selectBackend(wanted, { ...backendOptions(), onWake });
      refused = selection.refused;
      return selection.backend;
    });
    // Node runs no cleanup hook at process.exit(): what the kernel still has in hand would hold its
    // files, and so their locks, for milliseconds after the process is gone. Nothing is settled by
    // it: no code of the user runs any more.
    process.once('exit', () => opened.backend.close());
    opened.kept = makeExemplars(opened);
    thread = opened;
  }
  return thread;
}

/** This thread's poller if it was opened; asking does not open it. */
export function openedThread(): IoThread | undefined {
  return thread;
}

/**
 * Makes another poller this thread's until it is called again: the test runtime, whose tasks do
 * their I/O on a simulated one. Returns the one before.
 */
export function exchangeThread(other: IoThread | undefined): IoThread | undefined {
  const before = thread;
  thread = other;
  return before;
}

/**
 * Installs a poller of the caller's making, for simulations and tests.
 * @throws ERR_BACKEND_STARTED after the first operation
 */
export function installThread(created: IoThread): void {
  if (thread !== undefined) {
    throw new NephriteError('ERR_BACKEND_STARTED', 'this thread has its poller already');
  }
  thread = created;
}

/** The backend of this thread; opens it if need be. @throws ERR_BACKEND_UNAVAILABLE */
export function backend(): BackendInfo {
  const current = currentThread();
  return { name: current.backend.name, refused, details: current.backend.describe() };
}
