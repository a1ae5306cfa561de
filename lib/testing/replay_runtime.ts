// Replay: a test runtime whose order comes from a recording. A run of a test runtime is carried out
// again by its seed and compared; a run of the real one is driven event by event.
// Owner: whoever made it. Invariants: a difference is never lost: whoever waits for a task, spawns
// one or closes the runtime gets it, and every task is cancelled with it.
// Not here: comparing (replay_bus.ts, verify_bus.ts), driving (replay_host.ts).

import type { SimulatedFaults } from '../backend/simulated/fault_plan.ts';
import type { NephriteError } from '../base/errors.ts';
import type { Recording } from '../bus/recording.ts';
import { parseRuntimeOptions } from '../runtime.ts';
import type { CloseOptions, CloseReport } from '../runtime_close.ts';
import type { Task } from '../task/task.ts';
import type { TaskBody } from '../task/task_body.ts';
import { ReplayBus } from './replay_bus.ts';
import { ReplayClock } from './replay_clock.ts';
import { InOrder, ReplayHost, SliceWatch } from './replay_host.ts';
import { ReplayQueue } from './replay_queue.ts';
import { ReplayScript } from './replay_script.ts';
import { SimulatedIo } from './simulated_io.ts';
import {
  assemble,
  makeSeededWorld,
  type TestOptions,
  TestRuntime,
  type TestWorld,
} from './test_runtime.ts';
import { VerifyBus } from './verify_bus.ts';

interface Replay {
  readonly script: ReplayScript;
  /** Settles when the record has come to the close of the runtime. */
  untilClose(): Promise<void> | undefined;
  /** The run is over. */
  ended(): void;
}

class ReplayRuntime extends TestRuntime {
  static override readonly name: string = 'TestRuntime';
  readonly #replay: Replay;
  #closing: Promise<CloseReport> | undefined;

  constructor(world: TestWorld, seed: number, replay: Replay) {
    super(world, seed, undefined);
    this.#replay = replay;
  }

  #check(): NephriteError | undefined {
    return this.#replay.script.divergence;
  }

  override spawn<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Task<T> {
    const before = this.#check();
    if (before !== undefined) throw before;
    return super.spawn(body, ...args);
  }

  override async run<T, A extends unknown[]>(body: TaskBody<T, A>, ...args: A): Promise<T> {
    const task = this.spawn(body, ...args);
    try {
      return await task.join();
    } finally {
      this.#throwDivergence();
    }
  }

  #throwDivergence(): void {
    const found = this.#check();
    if (found !== undefined) throw found;
  }

  override close(options?: CloseOptions): Promise<CloseReport> {
    this.#closing ??= this.#closeInTime(options);
    return this.#closing;
  }

  async #closeInTime(options: CloseOptions | undefined): Promise<CloseReport> {
    const turn = this.#replay.untilClose();
    // Not even a microtask where the seed decides.
    if (turn !== undefined) await turn;
    const report = await super.close(options);
    this.#replay.ended();
    this.#throwDivergence();
    return report;
  }

  /** Nothing that the tasks do from here on means anything. */
  abandon(): void {
    const reason = this.#check();
    for (const task of this.parts.scheduler.live.all()) task.cancel(reason);
  }
}

/** @throws as createTestRuntime() */
export function makeReplayRuntime(options: TestOptions, recording: Recording): TestRuntime {
  return recording.test === undefined
    ? makeDriven(options, recording)
    : makeVerified(options, recording, recording.test.seed);
}

function makeVerified(options: TestOptions, recording: Recording, seed: number): TestRuntime {
  const { faults, autoAdvance } = recording.test ?? { faults: null, autoAdvance: false };
  const again: TestOptions = {
    ...options,
    faults: (faults as SimulatedFaults | null) ?? undefined,
    autoAdvance,
  };
  let runtime: ReplayRuntime | undefined;
  const abandon = (): void => {
    setImmediate(() => runtime?.abandon());
  };
  let bus: VerifyBus | undefined;
  const world = makeSeededWorld(again, seed, (scheduler, rights) => {
    bus = new VerifyBus(scheduler, rights, recording, abandon);
    return bus;
  });
  const { script } = bus as unknown as VerifyBus;
  const ended = (): void => {
    if (!script.isOver) script.diverged(undefined);
  };
  runtime = new ReplayRuntime(world, seed, { script, ended, untilClose: () => undefined });
  return runtime;
}

function makeDriven(options: TestOptions, recording: Recording): TestRuntime {
  const checked = parseRuntimeOptions(options);
  const script = new ReplayScript(recording);
  const clock = new ReplayClock(recording.events[0]?.atMs ?? 0);
  const order = new InOrder();
  const io = new SimulatedIo(options.backend, { seed: 0, clock: order.clock, plan: order }, clock);
  try {
    const queue = new ReplayQueue(script);
    const host = new ReplayHost(clock, io, order, script);
    let runtime: ReplayRuntime | undefined;
    const parts = assemble(
      host,
      queue,
      (scheduler, rights) => {
        const watcher = {
          passed: (atMs: number) => {
            clock.follow(atMs, scheduler.wheels.nextDeadlineMs());
            host.poke();
          },
          diverged: () => {
            setImmediate(() => runtime?.abandon());
          },
          get isInTurn() {
            return scheduler.isRunning;
          },
        };
        host.scheduler = scheduler;
        host.bus = new ReplayBus(scheduler, rights, script, queue, watcher);
        return host.bus;
      },
      checked,
      new SliceWatch(host),
    );
    for (const config of checked.engines) parts.scheduler.engines.register(config);
    const world = { parts, clock, io, driveTimers: () => host.driveTimers() };
    const untilClose = (): Promise<void> =>
      new Promise((resolve) => {
        host.bus.closeInTime(resolve);
        host.poke();
      });
    runtime = new ReplayRuntime(world, 0, { script, untilClose, ended: () => host.bus.ended() });
    return runtime;
  } catch (error) {
    io.close();
    throw error;
  }
}
