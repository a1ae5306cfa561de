// The arithmetic of the work: seeded block sequences, file contents, checksums.
// Every subject, JavaScript or C (native/peer.c), computes the same values, so the harness can
// prove for every single run that the right bytes were moved. Sums are modulo 2^32 and therefore
// do not depend on the order in which operations complete.
// Not here: files (input.ts), the running of subjects (rounds.ts).

export const CONTENT_SEED = 0x6e657068;
export const SEQUENCE_SEED = 0x2545f491;
export const BLOCK_BYTES = 4096;
export const MIB = 1024 * 1024;

const WORD_STEP = 0x85ebca6b;
const BLOCK_STEP = 0x9e3779b1;

/** A 32-bit finalizer (murmur3): every output bit depends on every input bit. */
export function mix32(value: number): number {
  let x = value | 0;
  x ^= x >>> 16;
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  x ^= x >>> 16;
  return x >>> 0;
}

/** The first `ops` block numbers of the sequence: xorshift32 from `seed`, or 0, 1, 2, ... */
export function blockSequence(
  seed: number,
  ops: number,
  blocks: number,
  sequential: boolean,
): Uint32Array {
  const sequence = new Uint32Array(ops);
  let x = seed | 0;
  for (let i = 0; i < ops; i++) {
    if (sequential) {
      sequence[i] = i % blocks;
      continue;
    }
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    sequence[i] = (x >>> 0) % blocks;
  }
  return sequence;
}

/** Fills a block of an input file: word w is mix32(seed + block * BLOCK_STEP + w * WORD_STEP). */
export function fillBlock(words: Uint32Array, block: number): void {
  const base = (CONTENT_SEED + Math.imul(block, BLOCK_STEP)) | 0;
  for (let w = 0; w < words.length; w++) words[w] = mix32(base + Math.imul(w, WORD_STEP));
}

/** First plus last word of `fillBlock`'s block, without making the block. */
export function blockEnds(block: number, wordsPerBlock: number): number {
  const base = (CONTENT_SEED + Math.imul(block, BLOCK_STEP)) | 0;
  return (mix32(base) + mix32(base + Math.imul(wordsPerBlock - 1, WORD_STEP))) >>> 0;
}

/** The pattern a write run puts into its buffers before the clock starts. */
export function fillPattern(words: Uint32Array, runSeed: number): void {
  for (let w = 0; w < words.length; w++) words[w] = mix32(runSeed + Math.imul(w, WORD_STEP));
}

/** First and last word of a written block. */
export function writeStamp(runSeed: number, block: number): number {
  return mix32(runSeed + Math.imul(block, BLOCK_STEP));
}

/** FNV-1a over 32-bit words. */
export function hashWords(words: Uint32Array): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = 0; i < words.length; i++) hash = Math.imul(hash ^ words[i], 0x01000193);
  return hash >>> 0;
}

export function hashText(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Modification time given to small file `index`, so that a stat proves which file it saw. */
export function smallFileMtimeSeconds(index: number): number {
  return 1_600_000_000 + index;
}

export function smallFileName(index: number): string {
  return `f${String(index).padStart(5, '0')}`;
}

export function hex32(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
