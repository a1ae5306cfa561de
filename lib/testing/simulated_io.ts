// SimulatedIo: the poller of one test runtime (simulated over a real backend), and whose poller
// this thread's I/O goes to. Async bodies run in microtasks after a turn and outside code runs
// whenever it likes, so while test runtimes are open the whole thread is simulated: inside a turn
// by the runtime whose turn it is, otherwise by the one opened last.
// Owner: one test runtime; the list of the open ones is module state of the thread.
// Invariants: when the last one is closed, the thread has the poller that it had before.
// Not here: faults and delays (backend/simulated/), time (test_clock.ts).
import { DEFAULT_BACKEND_OPTIONS } from '../backend/backend.ts';
import { selectBackend } from '../backend/select.ts';
import {
  createSimulatedBackend,
  type SimulatedBackend,
  type SimulatedBackendOptions,
} from '../backend/simulated/simulated_backend.ts';
import { exchangeThread } from '../io/current_thread.ts';
import { IoThread } from '../io/io_thread.ts';
import { type DeadlineSource, exchangeDeadlineSource } from '../time/deadlines.ts';

export type SimulationOptions = Pick<
  SimulatedBackendOptions,
  'seed' | 'faults' | 'clock' | 'replay' | 'plan'
>;

const open: SimulatedIo[] = [];
let thread: IoThread | undefined;
let deadlines: DeadlineSource | undefined;

/** Makes the thread's I/O that of `io`; undefined: what it was without test runtimes. */
function direct(io: SimulatedIo | undefined): void {
  exchangeThread(io === undefined ? thread : io.thread);
  exchangeDeadlineSource(io === undefined ? deadlines : io.deadlines);
}

export class SimulatedIo {
  readonly backend: SimulatedBackend;
  readonly thread: IoThread;
  /** Timeouts of operations. */
  readonly deadlines: DeadlineSource;

  /** @throws ERR_BACKEND_UNAVAILABLE, and for options that make no sense */
  constructor(inner: string | undefined, options: SimulationOptions, after: DeadlineSource) {
    const wanted = inner ?? (process.env.NEPHRITE_BACKEND || undefined);
    const opened: SimulatedBackend[] = [];
    this.thread = new IoThread((onWake) => {
      const backend = createSimulatedBackend((base) => selectBackend(wanted, base).backend, {
        ...DEFAULT_BACKEND_OPTIONS,
        ...options,
        onWake,
      });
      opened.push(backend);
      return backend;
    });
    [this.backend] = opened;
    this.deadlines = after;
    if (open.length === 0) {
      thread = exchangeThread(this.thread);
      deadlines = exchangeDeadlineSource(this.deadlines);
    }
    open.push(this);
    direct(this);
  }

  enterTurn(): void {
    direct(this);
    this.thread.hold();
  }

  leaveTurn(): void {
    this.thread.release();
    direct(open.at(-1));
  }

  /** Flushes what was started and delivers what has completed. */
  pump(): void {
    if (this.thread.isBusy) this.thread.pump();
  }

  close(): void {
    const at = open.indexOf(this);
    if (at < 0) return;
    open.splice(at, 1);
    direct(open.at(-1));
    this.thread.close();
  }
}
