// IoThread: this thread's side of its poller: slots, the waiting list, the pump.
// Owner: one thread. Invariants: a slot is in the free stack or refers to one operation; its
// generation rises at each use, so a late or forged completion matches nothing; completions are
// copied out and delivered from one flat loop, never from inside the call that submitted.
// When the pump runs (DESIGN 4): the first submission of a turn arms process.nextTick; after 1 ms
// of consecutive ticks it goes through setImmediate, so that timers and sockets get their turn (a
// 1 ms timer fired after 54 ms without that); a full ring flushes at once.
// Not here: what an operation does (its own file), which backend (backend/select.ts).
import * as abi from '../abi/layout.ts';
import type { Backend } from '../backend/backend.ts';
import { invariant } from '../base/assert.ts';
import { NephriteError } from '../base/errors.ts';
import { BufferPool } from '../ring/buffer_pool.ts';
import { CompletionRing } from '../ring/completion_ring.ts';
import type { RingMemory } from '../ring/ring_memory.ts';
import { SubmissionRing } from '../ring/submission_ring.ts';
import { setTarget, writeEntry } from './entry.ts';
import { ECANCELED, type IoOperation } from './io_operation.ts';
import { WaitingList } from './waiting_list.ts';

const TICK_MS_MAX = 1;
// A transfer of so many bytes takes longer than 100 small operations (64 KiB: 15 us copied twice).
const BULK_BYTES = 65536;
// Copied per turn at most: 1 MiB takes 100 to 200 us.
const BULK_BYTES_MAX = 1024 * 1024;

const closedError = (): NephriteError =>
  new NephriteError('ERR_POLLER_CLOSED', 'this thread has closed its poller');

export class IoThread {
  readonly backend: Backend;
  readonly memory: RingMemory;
  readonly pool: BufferPool;
  /** Scratch of all slots, as arena 0 of an entry addresses it. */
  readonly scratch: Buffer;
  /** Objects that live as long as the thread (exemplars.ts). */
  kept: readonly unknown[] = [];
  readonly #submissions: SubmissionRing;
  readonly #completions: CompletionRing;
  readonly #operations: (IoOperation<unknown> | undefined)[];
  readonly #generations: Uint32Array;
  // 1 while an entry of the slot is in flight: a second completion for it is ignored.
  readonly #isBusy: Uint8Array;
  readonly #freeSlots: Int32Array;
  #freeCount: number;
  // Operations beyond the ring's capacity.
  readonly #waiting = new WaitingList();
  // Bulk transfers beyond this turn's share: a stat must not wait behind 64 large reads.
  readonly #waitingBulk = new WaitingList();
  #bulkBytesLeft = BULK_BYTES_MAX;
  readonly #cancels: IoOperation<unknown>[] = [];
  // Never started and never will be; told so by the pump, not from inside the call that stopped
  // them.
  readonly #stopped: IoOperation<unknown>[] = [];
  #isArmed = false;
  #isPumping = false;
  // A scheduler's turn flushes by itself, once for all that its tasks start.
  #isHeld = false;
  #burstStartMs = 0;
  #isClosed = false;
  // Whoever pumped in the meantime has flushed what it was armed for.
  readonly #pump = (): void => {
    if (this.#isArmed) this.pump();
  };
  readonly #pumpImmediate = (): void => {
    this.#burstStartMs = performance.now();
    this.pump();
  };

  constructor(openBackend: (onWake: () => void) => Backend) {
    this.backend = openBackend(() => this.#pumpImmediate());
    const memory = this.backend.memory;
    this.memory = memory;
    this.pool = new BufferPool(this.backend);
    const scratchBytes = memory.slotCapacity * abi.SCRATCH_BYTES;
    this.scratch = Buffer.from(memory.buffer, memory.scratchOffset, scratchBytes);
    this.#submissions = new SubmissionRing(memory);
    this.#completions = new CompletionRing(memory);
    this.#operations = new Array(memory.slotCapacity).fill(undefined);
    this.#generations = new Uint32Array(memory.slotCapacity);
    this.#isBusy = new Uint8Array(memory.slotCapacity);
    this.#freeSlots = new Int32Array(memory.slotCapacity);
    // Lowest slots on top: their scratch pages are touched first, the others stay untouched.
    for (let slot = 0; slot < memory.slotCapacity; slot++) {
      this.#freeSlots[slot] = memory.slotCapacity - 1 - slot;
    }
    this.#freeCount = memory.slotCapacity;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get inFlightCount(): number {
    return this.memory.slotCapacity - this.#freeCount;
  }

  /** Starts the operation's next entry now or, when slots or chunks are short, in its turn. */
  submit(operation: IoOperation<unknown>): void {
    if (this.#isClosed) {
      operation.abandoned(closedError());
      return;
    }
    const bytes = operation.entryBytesWanted;
    const list = bytes >= BULK_BYTES ? this.#waitingBulk : this.#waiting;
    // Not past those who wait; the front of each list is served by the pump.
    if (list.isEmpty && this.#start(operation)) return;
    list.push(operation);
    if (!this.#isArmed) this.#arm();
  }

  /**
   * Submits the close of a descriptor whose operations may wait for ever: past all that wait, who
   * could wait for those. What waits for a slot on that descriptor is stopped; it would start on
   * somebody else's file.
   */
  submitClose(operation: IoOperation<unknown>, fd: number): void {
    for (const list of [this.#waiting, this.#waitingBulk]) {
      this.#stopped.push(...list.removeAll((waiting) => waiting.usesDescriptor(fd)));
    }
    if (this.#isClosed) this.submit(operation);
    else if (!this.#start(operation)) this.#waiting.unshift(operation);
    if (!this.#isArmed) this.#arm();
  }

  readonly #start = (operation: IoOperation<unknown>): boolean => {
    if (this.#freeCount <= operation.slotsToSpare) return false;
    const bytes = operation.entryBytesWanted;
    if (bytes >= BULK_BYTES && this.#bulkBytesLeft <= 0) return false;
    const submissions = this.#submissions;
    if (submissions.isFull) {
      this.#enter();
      // A byte budget may have left it full: those behind wait for the next turn.
      if (submissions.isFull) return false;
    }
    try {
      if (!operation.prepare()) return false;
    } catch (error) {
      // No memory for a chunk. It is this operation's failure, not the pump's.
      operation.abandoned(error as Error);
      return true;
    }
    if (bytes >= BULK_BYTES) this.#bulkBytesLeft -= bytes;
    const slot = this.#takeSlot();
    const generation = this.#generations[slot];
    this.#operations[slot] = operation;
    operation.slot = slot;
    operation.encode(submissions.words, submissions.reserve(), slot, generation);
    submissions.publish();
    if (!this.#isArmed) this.#arm();
    if (operation.isFlushedAtOnce) this.#enter();
    return true;
  };

  #takeSlot(): number {
    const slot = this.#freeSlots[--this.#freeCount];
    this.#generations[slot]++;
    this.#isBusy[slot] = 1;
    return slot;
  }

  /** An operation settled before its entry has completed: it no longer keeps the process alive. */
  orphan(): void {
    this.memory.words[abi.HEADER_UNREFERENCED_COUNT_INDEX]++;
  }

  orphanEnded(): void {
    this.memory.words[abi.HEADER_UNREFERENCED_COUNT_INDEX]--;
    // The enter before it counted one too many: it may have let the process go.
    if (!this.#isArmed) this.#arm();
  }

  /** Asks the poller to stop the operation; called by IoOperation.cancel() only. */
  cancel(operation: IoOperation<unknown>): void {
    if (operation.waitingIn !== undefined) {
      operation.waitingIn.remove(operation);
      const error = operation.cancelError;
      invariant(error !== undefined, 'a cancelled operation has its error');
      operation.abandoned(error);
      return;
    }
    if (operation.slot < 0 || this.#isClosed) return;
    this.#cancels.push(operation);
    if (!this.#isArmed) this.#arm();
  }

  #pushCancels(): void {
    let pushedCount = 0;
    for (const target of this.#cancels) {
      if (this.#freeCount === 0 || this.#submissions.isFull) break;
      pushedCount++;
      if (target.slot < 0) continue;
      // No operation behind it: the cancel's own completion is of no interest, its target's
      // decides.
      const slot = this.#takeSlot();
      const generation = this.#generations[slot];
      const at = this.#submissions.reserve();
      writeEntry(this.#submissions.words, at, abi.OP_CANCEL, slot, generation, -1);
      setTarget(this.#submissions.words, at, target.slot, this.#generations[target.slot]);
      this.#submissions.publish();
    }
    this.#cancels.splice(0, pushedCount);
  }

  #arm(): void {
    this.#isArmed = true;
    // The pump itself looks again before it ends.
    if (this.#isPumping || this.#isHeld) return;
    if (performance.now() - this.#burstStartMs < TICK_MS_MAX) process.nextTick(this.#pump);
    else setImmediate(this.#pumpImmediate);
  }

  /** Between hold() and release() whoever called them pumps; nothing is armed. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    if (this.#isArmed) this.#arm();
  }

  /** Something is to be flushed, or in flight. */
  get isBusy(): boolean {
    return this.#isArmed || this.#freeCount < this.memory.slotCapacity;
  }

  /** Flushes what was submitted and delivers what has completed. */
  pump(): void {
    if (this.#isPumping || this.#isClosed) return;
    this.#isPumping = true;
    this.#isArmed = false;
    let isCutShort = false;
    try {
      this.#pushCancels();
      this.#enter();
      isCutShort = true;
      this.#bulkBytesLeft = BULK_BYTES_MAX;
      this.#deliver();
      for (const operation of this.#stopped.splice(0)) operation.completed(ECANCELED, 0, 0);
      this.#waiting.drain(this.#start);
      this.#waitingBulk.drain(this.#start);
      isCutShort = false;
    } finally {
      this.#isPumping = false;
      // By an exception of the user's ('close' listeners): what waits must not wait for ever.
      const isMore =
        isCutShort ||
        (this.memory.words[abi.HEADER_STATUS_INDEX] & abi.STATUS_MORE) !== 0 ||
        this.#cancels.length > 0 ||
        !this.#completions.isEmpty;
      if (isMore) {
        this.#isArmed = true;
        setImmediate(this.#pumpImmediate);
      } else if (this.#isArmed) {
        this.#arm();
      }
    }
  }

  #enter(): void {
    this.backend.enter(abi.ENTER_SUBMIT | abi.ENTER_COLLECT);
    if ((this.memory.words[abi.HEADER_STATUS_INDEX] & abi.STATUS_CORRUPT) !== 0) {
      throw new NephriteError('ERR_RING_CORRUPT', 'the submission ring was overwritten');
    }
  }

  #deliver(): void {
    const completions = this.#completions;
    const { words, signedWords } = completions;
    while (!completions.isEmpty) {
      const at = completions.peek();
      const slot = words[at];
      const generation = words[at + abi.COMPLETION_GENERATION_INDEX];
      const result = signedWords[at + abi.COMPLETION_RESULT_INDEX];
      const flags = words[at + abi.COMPLETION_FLAGS_INDEX];
      completions.consume();
      if (slot >= this.#isBusy.length || this.#isBusy[slot] === 0) continue;
      if (this.#generations[slot] !== generation) continue;
      const operation = this.#operations[slot];
      this.#isBusy[slot] = 0;
      this.#operations[slot] = undefined;
      this.#freeSlots[this.#freeCount++] = slot;
      if (operation === undefined) continue;
      operation.slot = -1;
      operation.completed(result, flags, slot);
    }
  }

  /** Cancels and fails everything; later operations are refused. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.backend.close();
    const error = closedError();
    for (const list of [this.#waiting, this.#waitingBulk]) {
      for (let head = list.shift(); head !== undefined; head = list.shift()) head.abandoned(error);
    }
    for (const operation of this.#stopped.splice(0)) operation.abandoned(error);
    for (const operation of this.#operations) operation?.abandoned(error);
    this.#operations.fill(undefined);
  }
}
