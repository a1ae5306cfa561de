// The state of one run inside a JavaScript subject: the block sequence, the checksum, the samples.
// Made before the clock starts; the loops of a run share it and take the next operation from it, so
// the set of operations is the same whatever the order in which they complete.
import { performance } from 'node:perf_hooks';
import type { WorkRequest } from '../harness/protocol.ts';
import { blockSequence, hashWords } from '../harness/work.ts';

export class RunState {
  readonly request: WorkRequest;
  readonly sequence: Uint32Array;
  readonly #samplesNs: Float64Array;
  #sampleCount = 0;
  /** The next operation to start. */
  next = 0;
  checksum = 0;
  #beganMs = 0;
  #beganCpu = process.cpuUsage();
  elapsedNs = 0;
  /** Of all threads of the process, the kernel's workers included. */
  cpuNs = 0;

  constructor(request: WorkRequest) {
    this.request = request;
    const { seed, ops, blocks, sequential } = request;
    this.sequence = blockSequence(seed, ops, blocks, sequential);
    this.#samplesNs = new Float64Array(Math.ceil(ops / request.stride));
  }

  begin(): void {
    this.#beganCpu = process.cpuUsage();
    this.#beganMs = performance.now();
  }

  end(): void {
    this.elapsedNs = Math.round((performance.now() - this.#beganMs) * 1e6);
    const { user, system } = process.cpuUsage(this.#beganCpu);
    this.cpuNs = (user + system) * 1000;
  }

  isTimed(opIndex: number): boolean {
    return opIndex % this.request.stride === 0;
  }

  addSample(startedMs: number): void {
    this.#samplesNs[this.#sampleCount++] = (performance.now() - startedMs) * 1e6;
  }

  addRead(words: Uint32Array): void {
    const sum = this.request.verify ? hashWords(words) : words[0] + words[words.length - 1];
    this.checksum = (this.checksum + sum) >>> 0;
  }

  /** For results in a new buffer each time: a word view of each would cost more than this. */
  addReadBytes(bytes: Uint8Array): void {
    if (this.request.verify) {
      this.addRead(asWords(bytes));
      return;
    }
    const sum = wordAt(bytes, 0) + wordAt(bytes, bytes.byteLength - 4);
    this.checksum = (this.checksum + sum) >>> 0;
  }

  addStat(sizeBytes: number, mtimeMs: number): void {
    this.checksum = (this.checksum + sizeBytes + Math.floor(mtimeMs / 1000)) >>> 0;
  }

  samples(): string {
    const list = this.#samplesNs.subarray(0, this.#sampleCount);
    return Array.from(list, (ns) => Math.round(ns)).join(',');
  }
}

/** A view of a whole buffer as 32-bit words; buffers of the benchmark are 4-byte aligned. */
export function asWords(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

export function expectBytes(moved: number, expected: number): void {
  if (moved !== expected) throw new Error(`moved ${moved} bytes of ${expected}`);
}
