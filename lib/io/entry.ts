// Encoding of one submission entry: every word is written, since the ring is reused.
// Owner: none, stateless. Not here: which operation wants what (the operations themselves).
import * as abi from '../abi/layout.ts';

const TWO_32 = 4294967296;

/** Writes all 16 words at `at`: these fields, and zeros in the others. */
export function writeEntry(
  words: Uint32Array,
  at: number,
  opcode: number,
  slot: number,
  generation: number,
  fd: number,
): void {
  words[at] = opcode;
  words[at + 1] = slot;
  words[at + 2] = generation;
  words[at + 3] = fd;
  words[at + 4] = 0;
  words[at + 5] = 0;
  words[at + 6] = 0;
  words[at + 7] = 0;
  words[at + 8] = 0;
  words[at + 9] = 0;
  words[at + 10] = 0;
  words[at + 11] = 0;
  words[at + 12] = 0;
  words[at + 13] = 0;
  words[at + 14] = 0;
  words[at + 15] = 0;
}

const POSITION_WORD = abi.SUBMISSION_POSITION_OFFSET / 4;
const BUFFER_OFFSET_WORD = abi.SUBMISSION_BUFFER_OFFSET_OFFSET / 4;
const BUFFER_BYTES_WORD = abi.SUBMISSION_BUFFER_BYTES_OFFSET / 4;
const PATH_OFFSET_WORD = abi.SUBMISSION_PATH_OFFSET_OFFSET / 4;
const PATH_BYTES_WORD = abi.SUBMISSION_PATH_BYTES_OFFSET / 4;
const PATH_ARENA_WORD = abi.SUBMISSION_PATH_ARENA_OFFSET / 4;
const ARGUMENT0_WORD = abi.SUBMISSION_ARGUMENT0_OFFSET / 4;
const ARGUMENT1_WORD = abi.SUBMISSION_ARGUMENT1_OFFSET / 4;
const VALUE0_WORD = abi.SUBMISSION_VALUE0_OFFSET / 4;

/** A file offset: an integer from -1 to 2^53-1, or a bigint from -1n to 2^63-1. */
export function setPosition(words: Uint32Array, at: number, position: number | bigint): void {
  if (typeof position === 'number') {
    words[at + POSITION_WORD] = position;
    // Floor division keeps the sign: -1 becomes all ones.
    words[at + POSITION_WORD + 1] = Math.floor(position / TWO_32);
    return;
  }
  words[at + POSITION_WORD] = Number(position & 0xffffffffn);
  words[at + POSITION_WORD + 1] = Number((position >> 32n) & 0xffffffffn);
}

export function setBuffer(
  words: Uint32Array,
  at: number,
  arenaId: number,
  offset: number,
  bytes: number,
): void {
  words[at] |= (abi.ENTRY_HAS_BUFFER << 8) | (arenaId << 16);
  words[at + BUFFER_OFFSET_WORD] = offset;
  words[at + BUFFER_BYTES_WORD] = bytes;
}

export function setPath(
  words: Uint32Array,
  at: number,
  arenaId: number,
  offset: number,
  pathBytes: number,
  path2Bytes: number,
): void {
  words[at] |= abi.ENTRY_HAS_PATH << 8;
  words[at + PATH_OFFSET_WORD] = offset;
  words[at + PATH_BYTES_WORD] = pathBytes | (path2Bytes << 16);
  words[at + PATH_ARENA_WORD] = arenaId;
}

export function setFlags(words: Uint32Array, at: number, flags: number): void {
  words[at] |= flags << 8;
}

export function setArguments(
  words: Uint32Array,
  at: number,
  argument0: number,
  argument1: number,
): void {
  words[at + ARGUMENT0_WORD] = argument0;
  words[at + ARGUMENT1_WORD] = argument1;
}

/** A non-negative integer up to 2^53-1 as value0. */
export function setValue(words: Uint32Array, at: number, value: number): void {
  words[at + VALUE0_WORD] = value;
  words[at + VALUE0_WORD + 1] = Math.floor(value / TWO_32);
}

const doubleCell = new Float64Array(1);
const doubleWords = new Uint32Array(doubleCell.buffer);

/** Two binary64 values: value0 and, in place of the position, a second one (utimes). */
export function setDoubles(words: Uint32Array, at: number, first: number, second: number): void {
  doubleCell[0] = first;
  words[at + VALUE0_WORD] = doubleWords[0];
  words[at + VALUE0_WORD + 1] = doubleWords[1];
  doubleCell[0] = second;
  words[at + POSITION_WORD] = doubleWords[0];
  words[at + POSITION_WORD + 1] = doubleWords[1];
}

/** value0 = slot | generation << 32: the target of a cancel. */
export function setTarget(words: Uint32Array, at: number, slot: number, generation: number): void {
  words[at + VALUE0_WORD] = slot;
  words[at + VALUE0_WORD + 1] = generation;
}
