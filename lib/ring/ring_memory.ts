// Ring memory: typed views over the bytes that one thread shares with its poller.
// Owner: one thread; the poller that reads and writes the same bytes runs on that thread too, so
// plain loads and stores suffice (a call into the poller is the barrier).
// Invariants: layout as lib/abi/layout.ts; capacities are powers of two; the header's ABI version
// equals ours (the load handshake).
// Not here: cursors (submission_ring.ts, completion_ring.ts), buffers (buffer_pool.ts).
import * as abi from '../abi/layout.ts';
import { invariant } from '../base/assert.ts';

const isPowerOfTwo = (value: number): boolean => value > 0 && (value & (value - 1)) === 0;

export class RingMemory {
  readonly buffer: ArrayBufferLike;
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly signedWords: Int32Array;
  readonly doubles: Float64Array;
  readonly submissionCapacity: number;
  readonly completionCapacity: number;
  readonly slotCapacity: number;
  /** Index into `words` of the first entry. */
  readonly submissionIndex: number;
  readonly completionIndex: number;
  /** Bytes from the start of the memory to slot 0's scratch. */
  readonly scratchOffset: number;

  constructor(buffer: ArrayBufferLike) {
    this.buffer = buffer;
    this.bytes = new Uint8Array(buffer);
    this.words = new Uint32Array(buffer);
    this.signedWords = new Int32Array(buffer);
    this.doubles = new Float64Array(buffer);
    const words = this.words;
    invariant(words[abi.HEADER_MAGIC_INDEX] === abi.MAGIC, 'ring memory has our magic');
    const version = words[abi.HEADER_ABI_VERSION_INDEX];
    invariant(version === abi.ABI_VERSION, 'ABI version', version, abi.ABI_VERSION);
    this.submissionCapacity = words[abi.HEADER_SUBMISSION_CAPACITY_INDEX];
    this.completionCapacity = words[abi.HEADER_COMPLETION_CAPACITY_INDEX];
    this.slotCapacity = words[abi.HEADER_SLOT_CAPACITY_INDEX];
    this.submissionIndex = words[abi.HEADER_SUBMISSION_INDEX] / 4;
    this.completionIndex = words[abi.HEADER_COMPLETION_INDEX] / 4;
    this.scratchOffset = words[abi.HEADER_SCRATCH_INDEX];
    invariant(
      isPowerOfTwo(this.submissionCapacity),
      'submission capacity',
      this.submissionCapacity,
    );
    invariant(
      isPowerOfTwo(this.completionCapacity),
      'completion capacity',
      this.completionCapacity,
    );
    invariant(
      this.slotCapacity <= this.completionCapacity,
      'slots fit the completion ring',
      this.slotCapacity,
      this.completionCapacity,
    );
  }

  /** Bytes from the start of the scratch range (arena 0 of an entry) to a slot's scratch. */
  scratchOffsetOf(slot: number): number {
    return slot * abi.SCRATCH_BYTES;
  }
}

/**
 * Lays out fresh ring memory for a poller written in TypeScript (native pollers lay out their own).
 */
export function createRingMemory(submissionCapacity: number, slotCapacity: number): RingMemory {
  invariant(isPowerOfTwo(submissionCapacity), 'submission capacity', submissionCapacity);
  invariant(isPowerOfTwo(slotCapacity), 'slot capacity', slotCapacity);
  const submissionOffset = abi.HEADER_BYTES;
  const completionOffset = submissionOffset + submissionCapacity * abi.SUBMISSION_BYTES;
  const scratchOffset = completionOffset + slotCapacity * abi.COMPLETION_BYTES;
  const buffer = new ArrayBuffer(scratchOffset + slotCapacity * abi.SCRATCH_BYTES);
  const words = new Uint32Array(buffer);
  words[abi.HEADER_MAGIC_INDEX] = abi.MAGIC;
  words[abi.HEADER_ABI_VERSION_INDEX] = abi.ABI_VERSION;
  words[abi.HEADER_SUBMISSION_CAPACITY_INDEX] = submissionCapacity;
  words[abi.HEADER_COMPLETION_CAPACITY_INDEX] = slotCapacity;
  words[abi.HEADER_SLOT_CAPACITY_INDEX] = slotCapacity;
  words[abi.HEADER_SUBMISSION_INDEX] = submissionOffset;
  words[abi.HEADER_COMPLETION_INDEX] = completionOffset;
  words[abi.HEADER_SCRATCH_INDEX] = scratchOffset;
  return new RingMemory(buffer);
}
