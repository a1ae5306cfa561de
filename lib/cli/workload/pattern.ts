// The bytes of every block: a header that says which block it is, then seeded random bytes.
// A reader that knows seed, file, offset and generation knows every byte, so a lost, torn,
// misplaced or stale write is seen. Checking costs two memory comparisons, no loop in JavaScript.
// Owner: the run (one pattern per seed and block size), read-only after construction.
// Invariants: content is a pure function of (seed, file, offset, generation).
// Not here: which generation is expected (block_table.ts).
import { mix32, Prng } from '../../base/prng.ts';

/** Bytes of the header at the start of every block. */
export const HEADER_BYTES = 40;
const TABLE_BYTES = 1 << 20;
const MAGIC = 'NEPHRITE';

/** Which block, at which generation. */
export interface BlockIdentity {
  readonly file: number;
  readonly offsetBytes: number;
  readonly generation: number;
}

/** The first difference between what a block should hold and what was read. */
export interface BlockDifference {
  /** Offset of the first wrong byte within the block. */
  readonly atBytes: number;
  /** How many bytes differ. */
  readonly differingBytes: number;
  /** Up to 16 bytes from there, in hexadecimal. */
  readonly expectedHex: string;
  readonly gotHex: string;
  /** What the header that was read claims to be. */
  readonly gotHeader: string;
}

/** Fills and checks blocks. */
export class BlockPattern {
  readonly blockBytes: number;
  readonly #seed: number;
  readonly #table: Buffer;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  readonly #headerView = new DataView(this.#header.buffer, this.#header.byteOffset, HEADER_BYTES);

  constructor(seed: number, blockBytes: number) {
    this.#seed = seed;
    this.blockBytes = blockBytes;
    this.#table = Buffer.alloc(TABLE_BYTES + blockBytes);
    const prng = new Prng(seed, 0x9a77);
    const words = new Uint32Array(this.#table.buffer, this.#table.byteOffset, TABLE_BYTES / 4);
    for (let index = 0; index < words.length; index++) words[index] = prng.nextWord();
    for (let at = TABLE_BYTES; at < this.#table.length; at += TABLE_BYTES) {
      this.#table.copy(this.#table, at, 0, Math.min(TABLE_BYTES, this.#table.length - at));
    }
    this.#header.write(MAGIC, 0, 'latin1');
  }

  /** Writes one block into `into` at `atBytes`. */
  fill(into: Uint8Array, atBytes: number, identity: BlockIdentity): void {
    const start = this.#describe(identity);
    into.set(this.#header, atBytes);
    const body = this.#table.subarray(start + HEADER_BYTES, start + this.blockBytes);
    into.set(body, atBytes + HEADER_BYTES);
  }

  /** Whether the block in `from` at `atBytes` has exactly the bytes it should have. */
  matches(from: Uint8Array, atBytes: number, identity: BlockIdentity): boolean {
    const start = this.#describe(identity);
    const bodyAt = atBytes + HEADER_BYTES;
    const end = atBytes + this.blockBytes;
    const header = this.#header;
    const table = this.#table;
    return (
      header.compare(from, atBytes, bodyAt) === 0 &&
      table.compare(from, bodyAt, end, start + HEADER_BYTES, start + this.blockBytes) === 0
    );
  }

  /** Describes how a block that does not match differs. */
  difference(from: Uint8Array, atBytes: number, identity: BlockIdentity): BlockDifference {
    const expected = Buffer.alloc(this.blockBytes);
    this.fill(expected, 0, identity);
    const got = Buffer.from(from.subarray(atBytes, atBytes + this.blockBytes));
    let first = -1;
    let differingBytes = 0;
    for (let index = 0; index < expected.length; index++) {
      if (expected[index] === got[index]) continue;
      if (first < 0) first = index;
      differingBytes += 1;
    }
    const at = Math.max(0, first);
    return {
      atBytes: at,
      differingBytes,
      expectedHex: expected.toString('hex', at, at + 16),
      gotHex: got.toString('hex', at, Math.min(got.length, at + 16)),
      gotHeader: describeHeader(got),
    };
  }

  /** Makes stale bytes of an earlier read impossible to mistake for this one's. */
  poison(buffer: Uint8Array): void {
    buffer.fill(0, 0, HEADER_BYTES);
    buffer.fill(0, this.blockBytes - 8, this.blockBytes);
  }

  /** Fills the scratch header; returns where in the table the block's bytes start. */
  #describe(identity: BlockIdentity): number {
    const { file, offsetBytes, generation } = identity;
    const offsetLow = offsetBytes >>> 0;
    const offsetHigh = Math.floor(offsetBytes / 2 ** 32);
    const hash = mix32(
      mix32(mix32(this.#seed ^ offsetLow) ^ (offsetHigh + Math.imul(file, 0x85eb))) ^ generation,
    );
    const start = hash % TABLE_BYTES;
    const view = this.#headerView;
    view.setUint32(8, this.#seed, true);
    view.setUint32(12, file, true);
    view.setUint32(16, offsetLow, true);
    view.setUint32(20, offsetHigh, true);
    view.setUint32(24, generation, true);
    view.setUint32(28, this.blockBytes, true);
    view.setUint32(32, start, true);
    view.setUint32(36, hash, true);
    return start;
  }
}

function describeHeader(block: Buffer): string {
  if (block.length < HEADER_BYTES) return `${block.length} bytes, too short for a header`;
  if (block.toString('latin1', 0, 8) !== MAGIC) return 'no header';
  const offsetBytes = block.readUInt32LE(16) + block.readUInt32LE(20) * 2 ** 32;
  return (
    `seed ${block.readUInt32LE(8)} file ${block.readUInt32LE(12)} ` +
    `offset ${offsetBytes} generation ${block.readUInt32LE(24)}`
  );
}
