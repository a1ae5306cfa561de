// The `simulated` backend: a seeded decorator over another backend (usually `node`) that delays,
// reorders, shortens and fails operations on a virtual clock. The same seed and the same
// submissions give the same results in the same order, whatever the timing of the backend below.
// Flow of an operation: entry -> (virtual delay) -> effect in the inner backend, one at a time ->
// (virtual delay) -> completion. Completions of one instant are delivered together.
// Owner: one thread. Invariants: the clock is held while the inner backend works and while
// completions wait for collection; an injected failure has no effect (but a CLOSE is carried out);
// what had its effect can no longer be cancelled.
// Limits: an operation that waits for another (opening a FIFO) stops the simulation.
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import type { Arena } from '../../ring/buffer_pool.ts';
import { createRingMemory, type RingMemory } from '../../ring/ring_memory.ts';
import type { Backend, BackendOptions } from '../backend.ts';
import { CloseOrder } from '../close_order.ts';
import { PollerRing } from '../poller_ring.ts';
import { SubmissionEntry, usesDescriptor } from '../submission_entry.ts';
import { WakeTimer } from '../wake_timer.ts';
import { ArenaHolds } from './arena_holds.ts';
import { FaultPlan, type SimulatedFaults } from './fault_plan.ts';
import { InnerRelay } from './inner_relay.ts';
import { type Decision, type SimulationTrace, TraceRecorder } from './simulation_trace.ts';
import { VirtualClock, type VirtualEvent } from './virtual_clock.ts';

export interface SimulatedBackendOptions extends BackendOptions {
  readonly seed: number;
  readonly faults?: SimulatedFaults;
  /** Default: an automatic clock of its own. */
  readonly clock?: VirtualClock;
  /** Decisions of an earlier run, taken instead of the seed's for entries that are the same. */
  readonly replay?: SimulationTrace;
  /** Decides in place of seed and faults. */
  readonly plan?: DecisionSource;
}

/** What happens to each entry, in the order of the entries. */
export interface DecisionSource {
  decide(slot: number, opcode: number, bufferBytes: number): Decision;
}

export interface SimulatedBackend extends Backend {
  readonly clock: VirtualClock;
  /** What was decided so far. */
  trace(): SimulationTrace;
}

class SimulatedOperation {
  readonly entry = new SubmissionEntry();
  isInFlight = false;
  decision: Decision | null = null;
  /** The event of its effect, while that has not begun. */
  effect: VirtualEvent | null = null;
  result = 0;
  flags = 0;
}

class SimulatedPoller implements SimulatedBackend {
  readonly name = 'simulated';
  readonly memory: RingMemory;
  readonly clock: VirtualClock;
  readonly #inner: Backend;
  readonly #relay: InnerRelay;
  readonly #ring: PollerRing;
  readonly #plan: DecisionSource;
  readonly #seed: number;
  readonly #recorder: TraceRecorder;
  readonly #arenas: ArenaHolds;
  readonly #closeOrder = new CloseOrder<SimulatedOperation>();
  readonly #operations: (SimulatedOperation | undefined)[];
  readonly #wake: WakeTimer;
  readonly #stopListening: () => void;
  /** Completed in the present instant. */
  readonly #instant: SimulatedOperation[] = [];
  /** Completed, for the next collection; the clock is held while there are any. */
  readonly #done: SimulatedOperation[] = [];
  #inFlightCount = 0;
  #isRelaying = false;
  #isClosed = false;

  constructor(createInner: (options: BackendOptions) => Backend, options: SimulatedBackendOptions) {
    const { seed, faults, replay, plan } = options;
    this.#plan = plan ?? new FaultPlan(seed, faults, replay);
    this.#seed = seed;
    this.#recorder = new TraceRecorder(options.seed);
    this.clock = options.clock ?? new VirtualClock();
    this.memory = createRingMemory(options.ringEntries, options.slotCapacity);
    this.#ring = new PollerRing(this.memory);
    this.#operations = new Array(options.slotCapacity).fill(undefined);
    this.#wake = new WakeTimer(options.onWake);
    this.#inner = createInner({ ...options, onWake: () => this.#onInnerWake() });
    this.#arenas = new ArenaHolds((id) => this.#inner.releaseArena(id));
    this.#relay = new InnerRelay(this.#inner, this.memory);
    this.#stopListening = this.clock.onInstantEnd(() => this.#offerInstant());
  }

  enter(flags: number): number {
    if (this.#isClosed) return -1;
    const publishedBefore = this.#ring.publishedCount;
    let status = 0;
    if ((flags & abi.ENTER_SUBMIT) !== 0) {
      status |= this.#ring.consume(this.#inFlightCount, (index) => this.#take(index));
    }
    if ((flags & abi.ENTER_COLLECT) !== 0) status |= this.#collect();
    this.#ring.writeHeader(status, this.#inFlightCount);
    return this.#ring.publishedCount - publishedBefore;
  }

  addArena(bytes: number): Arena {
    return this.#inner.addArena(bytes);
  }

  releaseArena(id: number): void {
    this.#arenas.releaseArena(id);
  }

  wake(): void {
    this.#wake.force();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake.stop();
    this.#stopListening();
    for (const operation of this.#operations) {
      if (operation?.effect) this.clock.cancel(operation.effect);
    }
    this.#inner.close();
    if (this.#isRelaying) this.clock.release();
    if (this.#done.length > 0) this.clock.release();
  }

  describe(): Record<string, unknown> {
    return { name: this.name, seed: this.#seed, inner: this.#inner.describe() };
  }

  trace(): SimulationTrace {
    return this.#recorder.snapshot();
  }

  #take(index: number): void {
    const { words, bytes, slotCapacity } = this.memory;
    const slot = words[index + abi.SUBMISSION_SLOT_INDEX];
    const opcode = bytes[index * 4 + abi.SUBMISSION_OPCODE_OFFSET];
    const operation = slot < slotCapacity ? this.#operationOf(slot) : null;
    if (opcode >= abi.OP_COUNT || operation === null || operation.isInFlight) {
      this.#ring.reject(index, errnoOf('EINVAL'));
      return;
    }
    const { entry } = operation;
    entry.copyFrom(words, index);
    if (!this.#arenas.hold(entry)) {
      this.#ring.reject(index, errnoOf('EFAULT'));
      return;
    }
    this.clock.touch();
    const decision = this.#plan.decide(slot, opcode, entry.bufferBytes);
    this.#recorder.record(decision);
    if (opcode === abi.OP_CANCEL) {
      this.#arenas.unhold(entry);
      this.#ring.count(abi.HEADER_INLINE_COUNT_INDEX);
      this.#ring.publish(slot, entry.generation, this.#cancel(entry), 0);
      return;
    }
    operation.decision = decision;
    operation.isInFlight = true;
    this.#inFlightCount++;
    if (opcode === abi.OP_CLOSE && entry.argument0 === 1) this.#cancelPendingOn(entry.fd);
    this.#closeOrder.hold(operation);
    if (opcode === abi.OP_CLOSE && this.#closeOrder.mustWait(operation)) return;
    this.#scheduleEffect(operation, decision);
  }

  #operationOf(slot: number): SimulatedOperation {
    const known = this.#operations[slot];
    if (known !== undefined) return known;
    const made = new SimulatedOperation();
    this.#operations[slot] = made;
    return made;
  }

  #scheduleEffect(operation: SimulatedOperation, decision: Decision): void {
    operation.effect = this.clock.schedule(decision.effectDelayNs, decision.orderKey, () => {
      operation.effect = null;
      this.#carryOut(operation, decision);
    });
  }

  #carryOut(operation: SimulatedOperation, decision: Decision): void {
    const { entry } = operation;
    const isClose = entry.opcode === abi.OP_CLOSE;
    if (decision.errno < 0 && !isClose) {
      this.#complete(operation, decision, decision.errno, 0);
      return;
    }
    this.clock.hold();
    this.#isRelaying = true;
    this.#relay.start(entry, decision.bytesMax, (result, flags) => {
      if (this.#isClosed) return;
      const isReplaced = isClose && decision.errno < 0 && result >= 0;
      this.#complete(operation, decision, isReplaced ? decision.errno : result, flags);
      this.#isRelaying = false;
      this.clock.release();
    });
  }

  /** The effect is there, or will never be. */
  #complete(
    operation: SimulatedOperation,
    decision: Decision,
    result: number,
    flags: number,
  ): void {
    operation.result = result;
    operation.flags = flags;
    this.#arenas.unhold(operation.entry);
    this.clock.schedule(decision.completionDelayNs, decision.orderKey, () => {
      this.#instant.push(operation);
    });
    for (const waiting of this.#closeOrder.release(operation)) {
      if (waiting.decision !== null) this.#scheduleEffect(waiting, waiting.decision);
    }
  }

  #cancel({ value0Low: slot, value0High: generation }: SubmissionEntry): number {
    const target = slot < this.memory.slotCapacity ? this.#operations[slot] : undefined;
    if (target?.isInFlight !== true || target.entry.generation !== generation) {
      return errnoOf('ENOENT');
    }
    return this.#tryCancel(target) ? 0 : errnoOf('EALREADY');
  }

  /** Possible until the effect begins; a CLOSE always happens. */
  #tryCancel(target: SimulatedOperation): boolean {
    const { effect, decision } = target;
    if (effect === null || decision === null || target.entry.opcode === abi.OP_CLOSE) return false;
    this.clock.cancel(effect);
    target.effect = null;
    this.#complete(target, decision, errnoOf('ECANCELED'), 0);
    return true;
  }

  #cancelPendingOn(fd: number): void {
    for (const target of this.#operations) {
      const isPending = target?.isInFlight === true && usesDescriptor(target.entry);
      if (isPending && target.entry.fd === fd) this.#tryCancel(target);
    }
  }

  #onInnerWake(): void {
    if (!this.#isClosed) this.#relay.collect();
  }

  /** The instant is over: what completed in it can be collected, and time waits for that. */
  #offerInstant(): void {
    if (this.#instant.length === 0) return;
    this.#done.push(...this.#instant);
    this.#instant.length = 0;
    this.clock.hold();
    this.#wake.arm();
  }

  #collect(): number {
    if (this.#done.length === 0) {
      this.#wake.disarm();
      return 0;
    }
    if (!this.#ring.hasRoom(this.#done.length)) return abi.STATUS_CORRUPT;
    this.#wake.disarm();
    for (const operation of this.#done) {
      operation.isInFlight = false;
      this.#inFlightCount--;
      const { entry, result, flags } = operation;
      this.#ring.publish(entry.slot, entry.generation, result, flags);
    }
    this.#done.length = 0;
    this.clock.touch();
    this.clock.release();
    return 0;
  }
}

/**
 * Opens a simulated backend over the one that `createInner` opens.
 * @throws TypeError, RangeError for options that make no sense; what `createInner` throws
 */
export function createSimulatedBackend(
  createInner: (options: BackendOptions) => Backend,
  options: SimulatedBackendOptions,
): SimulatedBackend {
  return new SimulatedPoller(createInner, options);
}
