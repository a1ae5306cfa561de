// TestRuntime: a Runtime on virtual time, with an order of the seed and simulated I/O. Everything
// between host and queue is the real one: scheduler, bus, tasks, timers.
// Owner: whoever made it; close it, or the thread's I/O stays simulated.
// Invariants: the same program and seed give the same trace, byte for byte, in any process, as long
// as nothing of real time enters it (timers of Node, sockets, other threads).
// Not here: replay (replay_runtime.ts).

import type { SimulatedFaults } from '../backend/simulated/fault_plan.ts';
import { invalidArgType, outOfRange } from '../base/errors.ts';
import { followAsyncAuthority } from '../bus/async_authority.ts';
import { ALL_CAPABILITIES } from '../bus/capabilities.ts';
import type { RecordedTest, Recording } from '../bus/recording.ts';
import type { BackendInfo } from '../io/current_thread.ts';
import { parseRuntimeOptions, Runtime, type RuntimeOptions } from '../runtime.ts';
import type { CloseOptions, CloseReport } from '../runtime_close.ts';
import type { Parts } from '../runtime_parts.ts';
import type { TaskQueue } from '../scheduler/run_queue.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { StallWatch } from '../scheduler/stall_watch.ts';
import { watchAsyncContext } from '../task/async_context.ts';
import { SeededRunQueue } from './seeded_run_queue.ts';
import { SimulatedIo } from './simulated_io.ts';
import { TestBus } from './test_bus.ts';
import { TestClock } from './test_clock.ts';
import { TestHost } from './test_host.ts';

export interface TestOptions extends RuntimeOptions {
  /** A safe integer; default: a random one, readable as `rt.seed`. */
  readonly seed?: number | undefined;
  /** What happens to I/O: errors, short reads and writes, delays, order. Default: delays only. */
  readonly faults?: SimulatedFaults | undefined;
  /** Timers make the clock move when nothing else is under way; default false: `advance()` does. */
  readonly autoAdvance?: boolean | undefined;
  /** The real backend that carries out the I/O; default: as `configure()`. */
  readonly backend?: 'io_uring' | 'epoll' | 'node' | undefined;
  /** Lets a recorded run happen again; seed, faults and autoAdvance are the record's. */
  readonly replay?: Recording | undefined;
}

/** Hosts of test runtimes, with what their runtime needs of them. */
export interface TestWorld {
  readonly parts: Parts;
  readonly clock: TestClock;
  readonly io: SimulatedIo;
  driveTimers(): void;
}

/** A runtime for tests, of createTestRuntime(). */
export class TestRuntime extends Runtime {
  static override readonly name: string = 'TestRuntime';
  /** What its order and its faults were drawn from. Give it to createTestRuntime() to run again. */
  readonly seed: number;
  readonly #world: TestWorld;

  /** For recordings. @internal */
  readonly madeWith: RecordedTest | undefined;

  /** @internal */
  constructor(world: TestWorld, seed: number, madeWith: RecordedTest | undefined) {
    super(world.parts);
    this.#world = world;
    this.seed = seed;
    this.madeWith = madeWith;
  }

  /** Virtual time: `now()` and `advance('13d')`. */
  override get clock(): TestClock {
    return this.#world.clock;
  }

  override get backend(): BackendInfo {
    const { backend } = this.#world.io;
    return { name: backend.name, refused: [], details: backend.describe() };
  }

  /** As Runtime.close(), on virtual time, which from here on moves to the next timer by itself. */
  override close(options?: CloseOptions): Promise<CloseReport> {
    const closing = super.close(options);
    this.#world.driveTimers();
    return closing;
  }
}

/** @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE */
export function checkSeed(seed: unknown): number {
  if (typeof seed !== 'number') throw invalidArgType('options.seed', 'of type number', seed);
  if (!Number.isSafeInteger(seed)) throw outOfRange('options.seed', 'a safe integer', seed);
  return seed;
}

export type CheckedOptions = ReturnType<typeof parseRuntimeOptions>;

/** A scheduler with that queue and bus, in that world; checked options are applied. */
export function assemble(
  host: Parts['host'],
  queue: TaskQueue,
  makeBus: (scheduler: Scheduler, rights: Parts['bus']['rights']) => Parts['bus'],
  checked: CheckedOptions,
  stalls = new StallWatch(checked.stallMs, checked.onStall ?? (() => {})),
): Parts {
  watchAsyncContext();
  if (checked.rights !== ALL_CAPABILITIES) followAsyncAuthority();
  const scheduler = new Scheduler(host, queue, stalls);
  const bus = makeBus(scheduler, checked.rights);
  scheduler.bus = bus;
  scheduler.queuedMax = checked.queuedMax;
  return { host, scheduler, bus };
}

/** @throws as createTestRuntime() */
export function makeSeededWorld(
  options: TestOptions,
  seed: number,
  makeBus: Parameters<typeof assemble>[2],
): TestWorld {
  const checked = parseRuntimeOptions(options);
  const { faults, backend, autoAdvance = false } = options;
  if (typeof autoAdvance !== 'boolean') {
    throw invalidArgType('options.autoAdvance', 'of type boolean', autoAdvance);
  }
  const clock = new TestClock(autoAdvance);
  const simulation = { seed, clock: clock.virtual, ...(faults && { faults }) };
  const io = new SimulatedIo(backend, simulation, clock);
  try {
    const queue = new SeededRunQueue(seed);
    const host = new TestHost(clock, io, queue);
    const parts = assemble(host, queue, makeBus, checked);
    host.onAlarm = () => parts.scheduler.alarmExpired();
    for (const config of checked.engines) parts.scheduler.engines.register(config);
    return { parts, clock, io, driveTimers: () => host.driveTimers() };
  } catch (error) {
    io.close();
    throw error;
  }
}

/** @throws as createTestRuntime() */
export function makeSeededRuntime(options: TestOptions, seed: number): TestRuntime {
  const makeBus: Parameters<typeof assemble>[2] = (scheduler, rights) =>
    new TestBus(scheduler, rights);
  const world = makeSeededWorld(options, seed, makeBus);
  const { faults = null, autoAdvance = false } = options;
  return new TestRuntime(world, seed, { seed, autoAdvance, faults });
}
