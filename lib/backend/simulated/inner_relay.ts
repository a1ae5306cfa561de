// Inner relay: carries one operation at a time from the simulation to the backend below it.
// One at a time, in virtual order: two operations on one file have their effects in the order of
// the seed, and never in that of real threads.
// The two ring memories are different, so what an entry puts into or takes out of the scratch
// (arena 0) is copied; other arenas are the inner backend's own and need no copy.
// Owner: the simulated backend. Invariants: start() only while not busy; `done` is called once.
import * as abi from '../../abi/layout.ts';
import { invariant } from '../../base/assert.ts';
import { CompletionRing } from '../../ring/completion_ring.ts';
import type { RingMemory } from '../../ring/ring_memory.ts';
import { SubmissionRing } from '../../ring/submission_ring.ts';
import type { Backend } from '../backend.ts';
import { SubmissionEntry } from '../submission_entry.ts';

type Done = (result: number, flags: number) => void;

export class InnerRelay {
  readonly #inner: Backend;
  readonly #outer: RingMemory;
  readonly #submission: SubmissionRing;
  readonly #completion: CompletionRing;
  readonly #entry = new SubmissionEntry();
  #done: Done | null = null;

  constructor(inner: Backend, outer: RingMemory) {
    this.#inner = inner;
    this.#outer = outer;
    this.#submission = new SubmissionRing(inner.memory);
    this.#completion = new CompletionRing(inner.memory);
  }

  /** `done` may be called before this returns. */
  start(entry: SubmissionEntry, bytesMax: number | null, done: Done): void {
    invariant(this.#done === null, 'one operation at a time', entry.slot);
    this.#done = done;
    this.#entry.copyFrom(entry.words, 0);
    if (bytesMax !== null) this.#entry.bufferBytes = bytesMax;
    this.#copyIn();
    this.#entry.copyTo(this.#submission.words, this.#submission.reserve());
    this.#submission.publish();
    this.#inner.enter(abi.ENTER_SUBMIT | abi.ENTER_COLLECT);
    this.#drain();
  }

  /** The inner backend has woken us. */
  collect(): void {
    this.#inner.enter(abi.ENTER_SUBMIT | abi.ENTER_COLLECT);
    this.#drain();
  }

  #drain(): void {
    const ring = this.#completion;
    while (!ring.isEmpty) {
      const at = ring.peek();
      const result = ring.signedWords[at + abi.COMPLETION_RESULT_INDEX];
      const flags = ring.words[at + abi.COMPLETION_FLAGS_INDEX];
      ring.consume();
      const done = this.#done;
      invariant(done !== null, 'a completion belongs to the operation in hand', result);
      this.#done = null;
      this.#copyOut(result);
      done(result, flags);
    }
  }

  #copyIn(): void {
    const entry = this.#entry;
    if (entry.hasFlag(abi.ENTRY_HAS_PATH) && entry.pathArenaId === 0) {
      const bytes = entry.pathBytes + 1 + entry.path2Bytes + 1;
      copyScratch(this.#outer, this.#inner.memory, entry.pathOffset, bytes);
    }
    if (entry.hasFlag(abi.ENTRY_HAS_BUFFER) && entry.arenaId === 0) {
      copyScratch(this.#outer, this.#inner.memory, entry.bufferOffset, entry.bufferBytes);
    }
  }

  #copyOut(result: number): void {
    const entry = this.#entry;
    if (result < 0) return;
    if (entry.opcode === abi.OP_STAT) {
      const offset = this.#outer.scratchOffsetOf(entry.slot);
      copyScratch(this.#inner.memory, this.#outer, offset, abi.STAT_BYTES);
    }
    if (entry.hasFlag(abi.ENTRY_HAS_BUFFER) && entry.arenaId === 0) {
      copyScratch(this.#inner.memory, this.#outer, entry.bufferOffset, entry.bufferBytes);
    }
  }
}

/** Both sides have the same slots, and so scratch of the same length; the rest is cut off. */
function copyScratch(from: RingMemory, to: RingMemory, offset: number, bytes: number): void {
  const end = Math.min(offset + bytes, from.slotCapacity * abi.SCRATCH_BYTES);
  if (offset >= end) return;
  const source = from.bytes.subarray(from.scratchOffset + offset, from.scratchOffset + end);
  to.bytes.set(source, to.scratchOffset + offset);
}
