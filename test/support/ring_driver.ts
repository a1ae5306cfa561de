// Ring driver: drives any backend raw, without the fs layer: pushes entries, enters, decodes
// completions. One operation per slot, as lib/io does it; generations count up per slot.
// Owner: one test. Invariants: every run() settles with the completion of its own slot and
// generation; completions that nobody runs (pushed raw) are kept in `strays`, oldest first.
// Not here: what an opcode takes (ring_operations.ts).
import * as abi from '../../lib/abi/layout.ts';
import {
  type Backend,
  type BackendOptions,
  DEFAULT_BACKEND_OPTIONS,
} from '../../lib/backend/backend.ts';
import { CompletionRing } from '../../lib/ring/completion_ring.ts';
import { SubmissionRing } from '../../lib/ring/submission_ring.ts';

export type CreateBackend = (options: BackendOptions) => Backend;

/** One submission entry; what is left out is 0 (fd: -1). */
export interface EntryFields {
  readonly opcode: number;
  readonly flags?: number;
  readonly arena?: number;
  readonly slot?: number;
  readonly generation?: number;
  readonly fd?: number;
  readonly offset?: number | bigint;
  readonly bufferOffset?: number;
  readonly bufferBytes?: number;
  readonly pathOffset?: number;
  readonly pathBytes?: number;
  readonly path2Bytes?: number;
  readonly pathArena?: number;
  readonly argument0?: number;
  readonly argument1?: number;
  readonly value0?: number | bigint;
}

export interface Completion {
  readonly slot: number;
  readonly generation: number;
  readonly result: number;
  readonly flags: number;
}

/** A part of the driver's arena. */
export interface Region {
  readonly arena: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const ARENA_BYTES = 4 * 1024 * 1024;
const SUBMIT_AND_COLLECT = abi.ENTER_SUBMIT | abi.ENTER_COLLECT;

export class RingDriver implements Disposable {
  readonly backend: Backend;
  /** Completions of raw entries, in the order of the ring. */
  readonly strays: Completion[] = [];
  /** Every completion, in the order of the ring. */
  readonly log: Completion[] = [];
  wakeCount = 0;
  /** False: onWake only counts, the test enters by itself. */
  collectsOnWake = true;
  readonly #submission: SubmissionRing;
  readonly #completion: CompletionRing;
  readonly #freeSlots: number[];
  readonly #generations: Uint32Array;
  readonly #waiting = new Map<number, (completion: Completion) => void>();
  #strayWaiters: (() => void)[] = [];
  /** All of them: an arena must stay reachable while entries point into it. */
  readonly #arenas: { id: number; bytes: Uint8Array; used: number }[] = [];

  constructor(create: CreateBackend, overrides: Partial<BackendOptions> = {}) {
    this.backend = create({
      ...DEFAULT_BACKEND_OPTIONS,
      ...overrides,
      onWake: () => this.#onWake(),
    });
    const { memory } = this.backend;
    this.#submission = new SubmissionRing(memory);
    this.#completion = new CompletionRing(memory);
    this.#generations = new Uint32Array(memory.slotCapacity);
    this.#freeSlots = Array.from({ length: memory.slotCapacity }, (_, slot) => slot).reverse();
  }

  get status(): number {
    return this.backend.memory.words[abi.HEADER_STATUS_INDEX];
  }

  get inFlightCount(): number {
    return this.backend.memory.words[abi.HEADER_IN_FLIGHT_INDEX];
  }

  counter(index: number): number {
    return this.backend.memory.doubles[index];
  }

  /** Memory for buffers and long paths, valid until the driver is closed. */
  region(bytes: number): Region {
    let arena = this.#arenas.at(-1);
    if (arena === undefined || arena.used + bytes > arena.bytes.length) {
      const { id, buffer } = this.backend.addArena(Math.max(ARENA_BYTES, bytes));
      arena = { id, bytes: new Uint8Array(buffer), used: 0 };
      this.#arenas.push(arena);
    }
    const offset = arena.used;
    arena.used += (bytes + 63) & ~63;
    return { arena: arena.id, offset, bytes: arena.bytes.subarray(offset, offset + bytes) };
  }

  takeSlot(): { slot: number; generation: number } {
    const slot = this.#freeSlots.pop();
    if (slot === undefined) throw new Error('test uses more slots than the backend has');
    this.#generations[slot]++;
    return { slot, generation: this.#generations[slot] };
  }

  /** Writes one entry as it is given, whatever it says. The ring must not be full. */
  push(fields: EntryFields): void {
    if (this.#submission.isFull) throw new Error('submission ring is full');
    const words = this.#submission.words;
    const at = this.#submission.reserve();
    const view = new DataView(words.buffer, at * 4, abi.SUBMISSION_BYTES);
    words.fill(0, at, at + abi.SUBMISSION_BYTES / 4);
    view.setUint8(abi.SUBMISSION_OPCODE_OFFSET, fields.opcode);
    view.setUint8(abi.SUBMISSION_FLAGS_OFFSET, fields.flags ?? 0);
    view.setUint16(abi.SUBMISSION_ARENA_OFFSET, fields.arena ?? 0, true);
    view.setUint32(abi.SUBMISSION_SLOT_OFFSET, fields.slot ?? 0, true);
    view.setUint32(abi.SUBMISSION_GENERATION_OFFSET, fields.generation ?? 0, true);
    view.setInt32(abi.SUBMISSION_FD_OFFSET, fields.fd ?? -1, true);
    view.setBigInt64(abi.SUBMISSION_POSITION_OFFSET, BigInt(fields.offset ?? 0), true);
    view.setUint32(abi.SUBMISSION_BUFFER_OFFSET_OFFSET, fields.bufferOffset ?? 0, true);
    view.setUint32(abi.SUBMISSION_BUFFER_BYTES_OFFSET, fields.bufferBytes ?? 0, true);
    view.setUint32(abi.SUBMISSION_PATH_OFFSET_OFFSET, fields.pathOffset ?? 0, true);
    view.setUint16(abi.SUBMISSION_PATH_BYTES_OFFSET, fields.pathBytes ?? 0, true);
    view.setUint16(abi.SUBMISSION_PATH2_BYTES_OFFSET, fields.path2Bytes ?? 0, true);
    view.setUint16(abi.SUBMISSION_PATH_ARENA_OFFSET, fields.pathArena ?? 0, true);
    view.setUint32(abi.SUBMISSION_ARGUMENT0_OFFSET, fields.argument0 ?? 0, true);
    view.setUint32(abi.SUBMISSION_ARGUMENT1_OFFSET, fields.argument1 ?? 0, true);
    view.setBigInt64(abi.SUBMISSION_VALUE0_OFFSET, BigInt(fields.value0 ?? 0), true);
    this.#submission.publish();
  }

  enter(flags = SUBMIT_AND_COLLECT): number {
    const published = this.backend.enter(flags);
    this.#drain();
    return published;
  }

  /** Takes a slot and pushes; the next enter() starts it. Settles with its completion. */
  start(fields: EntryFields): { slot: number; generation: number; done: Promise<Completion> } {
    // A full ring is flushed, as lib/io does it.
    if (this.#submission.isFull) this.enter(abi.ENTER_SUBMIT);
    const { slot, generation } = this.takeSlot();
    const done = new Promise<Completion>((resolve) => this.#waiting.set(slot, resolve));
    this.push({ ...fields, slot, generation });
    return { slot, generation, done };
  }

  /** Starts one operation and settles with its completion. */
  run(fields: EntryFields): Promise<Completion> {
    const { done } = this.start(fields);
    this.enter();
    return done;
  }

  /** Settles when at least `count` raw entries have completed. */
  async strayCompletions(count: number): Promise<readonly Completion[]> {
    while (this.strays.length < count) {
      await new Promise<void>((resolve) => this.#strayWaiters.push(resolve));
    }
    return this.strays;
  }

  [Symbol.dispose](): void {
    this.backend.close();
  }

  #onWake(): void {
    this.wakeCount++;
    if (this.collectsOnWake) this.enter();
  }

  #drain(): void {
    const ring = this.#completion;
    const { words, signedWords } = ring;
    while (!ring.isEmpty) {
      const at = ring.peek();
      const completion: Completion = {
        slot: words[at + abi.COMPLETION_SLOT_INDEX],
        generation: words[at + abi.COMPLETION_GENERATION_INDEX],
        result: signedWords[at + abi.COMPLETION_RESULT_INDEX],
        flags: words[at + abi.COMPLETION_FLAGS_INDEX],
      };
      ring.consume();
      this.#deliver(completion);
    }
    if ((this.status & abi.STATUS_MORE) !== 0) setImmediate(() => this.#enterAgain());
  }

  #enterAgain(): void {
    if (this.backend.enter(SUBMIT_AND_COLLECT) >= 0) this.#drain();
  }

  #deliver(completion: Completion): void {
    this.log.push(completion);
    const { slot, generation } = completion;
    const resolve = this.#waiting.get(slot);
    if (resolve === undefined || this.#generations[slot] !== generation) {
      this.strays.push(completion);
      const waiters = this.#strayWaiters;
      this.#strayWaiters = [];
      for (const wake of waiters) wake();
      return;
    }
    this.#waiting.delete(slot);
    this.#freeSlots.push(slot);
    resolve(completion);
  }
}
