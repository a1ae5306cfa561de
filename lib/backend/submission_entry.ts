// Submission entry: a private copy of one entry of the submission ring, with its fields by name.
// Pollers written in TypeScript take it out of the ring once and look at the copy only.
// Owner: the operation of the slot. Invariants: nothing in here is checked; every field may hold
// anything (node/bind.ts checks). Little-endian only, as every platform that Node supports but one.
// Not here: the producer's side (io/).
import * as abi from '../abi/layout.ts';

const ENTRY_WORDS = abi.SUBMISSION_BYTES / 4;
const HIGH_WORD_BASE = 2 ** 32;
/** High words above this make a number that a double does not hold exactly. */
const HIGH_WORD_SAFE_MAX = 2 ** 21 - 1;

export class SubmissionEntry {
  readonly words = new Uint32Array(ENTRY_WORDS);
  readonly #signedWords = new Int32Array(this.words.buffer);
  readonly #halves = new Uint16Array(this.words.buffer);
  readonly #bytes = new Uint8Array(this.words.buffer);
  readonly #doubles = new Float64Array(this.words.buffer);

  /** Copies the entry at `index` of `words`. */
  copyFrom(words: Uint32Array, index: number): void {
    for (let word = 0; word < ENTRY_WORDS; word++) this.words[word] = words[index + word];
  }

  copyTo(words: Uint32Array, index: number): void {
    for (let word = 0; word < ENTRY_WORDS; word++) words[index + word] = this.words[word];
  }

  get opcode(): number {
    return this.#bytes[abi.SUBMISSION_OPCODE_INDEX];
  }

  hasFlag(flag: number): boolean {
    return (this.#bytes[abi.SUBMISSION_FLAGS_INDEX] & flag) !== 0;
  }

  get slot(): number {
    return this.words[abi.SUBMISSION_SLOT_INDEX];
  }

  get generation(): number {
    return this.words[abi.SUBMISSION_GENERATION_INDEX];
  }

  get fd(): number {
    return this.#signedWords[abi.SUBMISSION_FD_INDEX];
  }

  get arenaId(): number {
    return this.#halves[abi.SUBMISSION_ARENA_INDEX];
  }

  get bufferOffset(): number {
    return this.words[abi.SUBMISSION_BUFFER_OFFSET_INDEX];
  }

  get bufferBytes(): number {
    return this.words[abi.SUBMISSION_BUFFER_BYTES_INDEX];
  }

  set bufferBytes(bytes: number) {
    this.words[abi.SUBMISSION_BUFFER_BYTES_INDEX] = bytes;
  }

  get pathArenaId(): number {
    return this.#halves[abi.SUBMISSION_PATH_ARENA_INDEX];
  }

  get pathOffset(): number {
    return this.words[abi.SUBMISSION_PATH_OFFSET_INDEX];
  }

  get pathBytes(): number {
    return this.#halves[abi.SUBMISSION_PATH_BYTES_INDEX];
  }

  get path2Bytes(): number {
    return this.#halves[abi.SUBMISSION_PATH2_BYTES_INDEX];
  }

  get argument0(): number {
    return this.words[abi.SUBMISSION_ARGUMENT0_INDEX];
  }

  get argument1(): number {
    return this.words[abi.SUBMISSION_ARGUMENT1_INDEX];
  }

  /** `offset` as a signed 64-bit integer; a bigint where a double would round. */
  get offset(): number | bigint {
    return this.#integerAt(abi.SUBMISSION_POSITION_INDEX);
  }

  /** `value0` as a signed 64-bit integer; a bigint where a double would round. */
  get value0(): number | bigint {
    return this.#integerAt(abi.SUBMISSION_VALUE0_INDEX);
  }

  get value0Low(): number {
    return this.words[abi.SUBMISSION_VALUE0_INDEX * 2];
  }

  get value0High(): number {
    return this.words[abi.SUBMISSION_VALUE0_INDEX * 2 + 1];
  }

  get offsetAsDouble(): number {
    return this.#doubles[abi.SUBMISSION_POSITION_INDEX];
  }

  get value0AsDouble(): number {
    return this.#doubles[abi.SUBMISSION_VALUE0_INDEX];
  }

  #integerAt(index: number): number | bigint {
    const low = this.words[index * 2];
    const high = this.#signedWords[index * 2 + 1];
    if (high >= -HIGH_WORD_SAFE_MAX && high <= HIGH_WORD_SAFE_MAX) {
      return high * HIGH_WORD_BASE + low;
    }
    return (BigInt(high) << 32n) | BigInt(low);
  }
}

/** Operations that use `fd` as an open file, and so hold up its close. */
export function usesDescriptor(entry: SubmissionEntry): boolean {
  const opcode = entry.opcode;
  if (opcode === abi.OP_NOP || opcode === abi.OP_CLOSE || opcode === abi.OP_CANCEL) return false;
  return !entry.hasFlag(abi.ENTRY_HAS_PATH) && entry.fd >= 0;
}
