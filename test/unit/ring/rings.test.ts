// Submission and completion ring, both sides: order, wrap-around of indices and of cursors, bounds.
// Method: producer and consumer of one memory in one test, as a backend in TypeScript has them;
// random interleavings are compared with an array.
// Not here: backends (test/conformance), the native sides (test/native).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as abi from '../../../lib/abi/layout.ts';
import { CompletionRing, CompletionWriter } from '../../../lib/ring/completion_ring.ts';
import { createRingMemory, RingMemory } from '../../../lib/ring/ring_memory.ts';
import { SubmissionReader, SubmissionRing } from '../../../lib/ring/submission_ring.ts';
import { SEED } from '../../support/seed.ts';

const ENTRY_WORDS = abi.SUBMISSION_BYTES / 4;

function push(ring: SubmissionRing, value: number): void {
  const at = ring.reserve();
  for (let word = 0; word < ENTRY_WORDS; word++) ring.words[at + word] = value + word;
  ring.publish();
}

/** Takes the oldest entry and checks that its words belong together. */
function take(reader: SubmissionReader, words: Uint32Array): number {
  const at = reader.peek();
  const value = words[at];
  const entry = words.subarray(at, at + ENTRY_WORDS);
  expect(entry.every((word, index) => word === value + index)).toBe(true);
  reader.consume();
  return value;
}

describe('ring memory', () => {
  it('ring memory: parts lie behind one another, aligned, and fill it', () => {
    const memory = createRingMemory(8, 16);
    expect(memory.submissionIndex * 4).toBe(abi.HEADER_BYTES);
    expect(memory.completionIndex * 4).toBe(abi.HEADER_BYTES + 8 * abi.SUBMISSION_BYTES);
    expect(memory.scratchOffset).toBe(memory.completionIndex * 4 + 16 * abi.COMPLETION_BYTES);
    expect(memory.scratchOffset % 64).toBe(0);
    expect(memory.scratchOffsetOf(3)).toBe(3 * abi.SCRATCH_BYTES);
    expect(memory.bytes.length).toBe(memory.scratchOffset + 16 * abi.SCRATCH_BYTES);
  });

  it('ring memory: refuses bytes that are not laid out as ours', () => {
    const { buffer } = createRingMemory(8, 16);
    const changed = (index: number, value: number) => {
      const copy = new Uint32Array(buffer.slice(0));
      copy[index] = value;
      return () => new RingMemory(copy.buffer);
    };
    expect(changed(abi.HEADER_MAGIC_INDEX, abi.MAGIC)).not.toThrow();
    expect(changed(abi.HEADER_MAGIC_INDEX, 0)).toThrow('magic');
    expect(changed(abi.HEADER_ABI_VERSION_INDEX, abi.ABI_VERSION + 1)).toThrow('ABI version');
    expect(changed(abi.HEADER_SUBMISSION_CAPACITY_INDEX, 7)).toThrow('submission capacity');
    expect(changed(abi.HEADER_COMPLETION_CAPACITY_INDEX, 0)).toThrow('completion capacity');
    expect(changed(abi.HEADER_SLOT_CAPACITY_INDEX, 32)).toThrow('slots fit');
    expect(() => createRingMemory(6, 16)).toThrow('submission capacity');
    expect(() => createRingMemory(8, 0)).toThrow('slot capacity');
  });
});

describe('submission ring', () => {
  it('submission ring: full at its capacity, empty again when read', () => {
    const memory = createRingMemory(8, 16);
    const [ring, reader] = [new SubmissionRing(memory), new SubmissionReader(memory)];
    for (let value = 0; value < 8; value++) {
      expect(ring.isFull).toBe(false);
      push(ring, value * 100);
    }
    expect(ring.isFull).toBe(true);
    expect(reader.availableCount).toBe(8);
    for (let value = 0; value < 8; value++) expect(take(reader, memory.words)).toBe(value * 100);
    expect(reader.availableCount).toBe(0);
    expect(ring.pendingCount).toBe(0);
  });

  it('submission ring: any interleaving keeps order and content', () => {
    const steps = fc.array(fc.record({ pushes: fc.nat(9), takes: fc.nat(9) }), { maxLength: 60 });
    const property = fc.property(steps, (all) => {
      const memory = createRingMemory(8, 16);
      const [ring, reader] = [new SubmissionRing(memory), new SubmissionReader(memory)];
      const model: number[] = [];
      let next = 0;
      for (const { pushes, takes } of all) {
        for (let count = 0; count < pushes && !ring.isFull; count++) {
          push(ring, next);
          model.push(next);
          next += 1000;
        }
        expect(reader.availableCount).toBe(model.length);
        for (let count = 0; count < takes && reader.availableCount > 0; count++) {
          expect(take(reader, memory.words)).toBe(model.shift());
        }
        expect(ring.pendingCount).toBe(model.length);
        expect(ring.isFull).toBe(model.length === 8);
      }
    });
    fc.assert(property, { seed: SEED, numRuns: 200 });
  });

  it('submission ring: cursors that cannot be right', () => {
    const memory = createRingMemory(8, 16);
    const reader = new SubmissionReader(memory);
    for (const tail of [9, 2 ** 31, 2 ** 32 - 1]) {
      memory.words[abi.HEADER_SUBMISSION_TAIL_INDEX] = tail;
      expect(reader.availableCount).toBe(-1);
    }
  });
});

describe('completion ring', () => {
  it('completion ring: order over many rounds, negative results, big generations', () => {
    const memory = createRingMemory(8, 4);
    const [writer, ring] = [new CompletionWriter(memory), new CompletionRing(memory)];
    expect(ring.isEmpty).toBe(true);
    for (let round = 0; round < 50; round++) {
      const count = 1 + (round % 4);
      expect(writer.freeCount).toBe(4);
      for (let index = 0; index < count; index++) {
        writer.publish(index, 0xffff_ffff - round, -round - index, round);
      }
      expect(writer.freeCount).toBe(4 - count);
      for (let index = 0; index < count; index++) {
        const at = ring.peek();
        expect(ring.words[at + abi.COMPLETION_SLOT_INDEX]).toBe(index);
        expect(ring.words[at + abi.COMPLETION_GENERATION_INDEX]).toBe(0xffff_ffff - round);
        expect(ring.signedWords[at + abi.COMPLETION_RESULT_INDEX]).toBe(0 - round - index);
        expect(ring.words[at + abi.COMPLETION_FLAGS_INDEX]).toBe(round);
        ring.consume();
      }
      expect(ring.isEmpty).toBe(true);
    }
  });

  it('completion ring: writing into a full one is a bug that says so', () => {
    const memory = createRingMemory(8, 2);
    const writer = new CompletionWriter(memory);
    writer.publish(0, 1, 0, 0);
    writer.publish(1, 1, 0, 0);
    expect(() => writer.publish(0, 2, 0, 0)).toThrow('completion ring has room');
    memory.words[abi.HEADER_COMPLETION_HEAD_INDEX] = 3;
    expect(writer.freeCount).toBe(-1);
  });
});
