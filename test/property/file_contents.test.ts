// File contents under random sequences of operations: the same on Node's fs and on ours.
// Method: fast-check draws a sequence of writes, reads, vectors, truncations, appends and
// whole-file calls at random places; both libraries carry it out on a file each; what every step
// gives and the contents after it must be equal. NEPHRITE_SEED replays a run; a failure prints it,
// and the shortest sequence that fails. NEPHRITE_RUNS draws more.
// Not here: errors (test/conformance/fs_*.test.ts), the simulated backend's faults.
import * as nodeFs from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { describeFs, type FsLab } from '../support/fs_lab.ts';
import type { AnyFs } from '../support/fs_oracle.ts';
import { describeSeed, SEED } from '../support/seed.ts';

// Across pages, chunks of 256 KiB, and the 1 MiB of an entry straight into pool memory.
const PLACE_MAX = 1_400_000;
const BYTES_MAX = 1_200_000;
const STEPS_MAX = 12;
const RUNS = Number(process.env.NEPHRITE_RUNS || 20);

type AnyHandle = Record<string, (...args: unknown[]) => Promise<unknown>>;

const KINDS = [
  'write',
  'read',
  'writev',
  'readv',
  'truncate',
  'append',
  'writeFile',
  'readFile',
  'appendText',
] as const;

interface Step {
  readonly kind: (typeof KINDS)[number];
  /** Null: the file position. */
  readonly position: number | null;
  readonly bytes: number;
  /** What the bytes are made of. */
  readonly fill: number;
  /** Memory of the library's pool, at an odd offset of any, or any. */
  readonly memory: 'pool' | 'odd' | 'plain';
  readonly parts: number;
}

// Small ones are as likely as those around the sizes where something changes.
const size = fc.oneof(
  fc.integer({ min: 0, max: 100 }),
  fc.integer({ min: 0, max: 70_000 }),
  fc.constantFrom(4095, 4096, 4097, 262_143, 262_144, 262_145, 524_288, 1_048_576, 1_048_577),
  fc.integer({ min: 0, max: BYTES_MAX }),
);
const place = fc.oneof(
  fc.constant(null),
  fc.constantFrom(0, 1, 4096, 262_144, 262_145),
  fc.integer({ min: 0, max: PLACE_MAX }),
);
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS),
  position: place,
  bytes: size,
  fill: fc.integer({ min: 1, max: 255 }),
  memory: fc.constantFrom('pool', 'odd', 'plain'),
  parts: fc.integer({ min: 1, max: 5 }),
});

function memoryOf(lab: FsLab, { memory, bytes }: Step): Buffer {
  if (memory === 'pool') return lab.fs.buffers.alloc(bytes);
  if (memory === 'odd') return Buffer.from(new ArrayBuffer(bytes + 3), 3, bytes);
  return Buffer.alloc(bytes);
}

/** Bytes that differ by place, so that a shift shows. */
function filled(buffer: Buffer, fill: number): Buffer {
  for (let at = 0; at < buffer.length; at++) buffer[at] = (fill + at * 7 + (at >> 8)) & 0xff;
  return buffer;
}

function split(buffer: Buffer, parts: number): Buffer[] {
  const each = Math.ceil(buffer.length / parts);
  return Array.from({ length: parts }, (_, index) =>
    buffer.subarray(index * each, (index + 1) * each),
  );
}

/** Carries out one step; gives what can be compared: counts, and the memory read into. */
async function run(
  lab: FsLab,
  fs: AnyFs,
  file: AnyHandle,
  path: string,
  each: Step,
): Promise<unknown> {
  const { kind, position, bytes, fill, parts } = each;
  const buffer = memoryOf(lab, each);
  const counts = async (result: Promise<unknown>): Promise<unknown> => {
    const { bytesRead, bytesWritten } = (await result) as Record<string, number>;
    return { bytesRead, bytesWritten };
  };
  switch (kind) {
    case 'write':
      return counts(file.write(filled(buffer, fill), 0, bytes, position));
    case 'writev':
      return counts(file.writev(split(filled(buffer, fill), parts), position ?? undefined));
    case 'read':
      return [await counts(file.read(buffer, 0, bytes, position)), buffer];
    case 'readv':
      return [await counts(file.readv(split(buffer, parts), position ?? undefined)), buffer];
    case 'truncate':
      return file.truncate(bytes);
    case 'append':
      return fs.appendFile(path, filled(buffer, fill));
    case 'writeFile':
      return fs.writeFile(path, filled(buffer, fill), { flag: 'r+' });
    case 'readFile':
      return fs.readFile(path);
    case 'appendText':
      return fs.writeFile(path, `text ${fill} `, { flag: 'a' });
  }
}

/** Equality of what run() gives, without walking large buffers byte by byte in JavaScript. */
function areEqual(left: unknown, right: unknown): boolean {
  if (Buffer.isBuffer(left) && Buffer.isBuffer(right)) return left.equals(right);
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.every((each, index) => areEqual(each, right[index]));
  }
  return JSON.stringify(left) === JSON.stringify(right);
}

describeFs('file contents', (lab) => {
  it(`agree with node:fs after every step (${describeSeed})`, async () => {
    let round = 0;
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: STEPS_MAX }),
      async (steps) => {
        const paths = [lab.path(`node-${round}`), lab.path(`ours-${round++}`)];
        const apis = [nodeFs.promises, lab.fs] as unknown as AnyFs[];
        const opens = apis.map((fs, index) => fs.open(paths[index], 'w+'));
        const files = (await Promise.all(opens)) as AnyHandle[];
        try {
          for (const each of steps) {
            const results = apis.map((fs, index) => run(lab, fs, files[index], paths[index], each));
            const [node, ours] = await Promise.all(results);
            expect(areEqual(ours, node), `result of ${each.kind}`).toBe(true);
            const [expected, held] = paths.map((path) => nodeFs.readFileSync(path));
            expect(held.equals(expected), `content after ${each.kind}`).toBe(true);
          }
        } finally {
          await Promise.all(files.map((file) => file.close()));
          for (const path of paths) nodeFs.rmSync(path);
        }
      },
    );
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
  }, 120_000);
});
