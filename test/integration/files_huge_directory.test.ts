// A directory of two hundred thousand entries: streamed in bounded memory, listed whole, removed.
// Method: the directory is made once (of hard links, the cheapest entries there are) and read over
// each backend; each entry must come exactly once, told by its number.
// Limits: the node backend holds a listing of its own (node:fs has no other), so there memory is
// not looked at.
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeFs } from '../support/fs_lab.ts';

const ENTRY_COUNT = 200_000;
// ext4 takes 65,000 links of a file.
const LINKS_PER_FILE = 50_000;
// Two batches of 32 KiB make a few thousand names; all of them make more than 10 MB.
const STREAM_BYTES_MAX = 8 * 1024 * 1024;
const SAMPLE_EVERY = 20_000;

// Only what is still referred to counts.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let parent = '';
let huge = '';

beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), 'nephrite-huge-'));
  huge = join(parent, 'huge');
  mkdirSync(huge);
  for (let index = 0; index < ENTRY_COUNT; index++) {
    const origin = join(parent, `origin-${Math.floor(index / LINKS_PER_FILE)}`);
    if (index % LINKS_PER_FILE === 0) writeFileSync(origin, '');
    linkSync(origin, join(huge, `entry-${index}`));
  }
}, 120_000);

afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** Marks each number once; a second time or a strange name is an error. */
class Census {
  readonly #seen = new Uint8Array(ENTRY_COUNT);
  count = 0;

  add(name: string): void {
    const index = Number(/^entry-(\d+)$/.exec(name)?.[1]);
    if (this.#seen[index] !== 0) throw new Error(`${name} is strange or came twice`);
    this.#seen[index] = 1;
    this.count++;
  }
}

describeFs('a huge directory', (lab) => {
  it('streams, each entry once, in bounded memory', async () => {
    const census = new Census();
    collectGarbage();
    const before = process.memoryUsage();
    let most = 0;
    for await (const name of lab.fs.readdir(huge)) {
      census.add(name);
      if (census.count % SAMPLE_EVERY !== 0 || !lab.backend.isNative) continue;
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      most = Math.max(most, heapUsed + external - before.heapUsed - before.external);
    }
    expect(census.count).toBe(ENTRY_COUNT);
    expect(most).toBeLessThan(STREAM_BYTES_MAX);
  }, 60_000);

  it('is listed whole, sorted', async () => {
    const names = await lab.fs.readdir(huge);
    const census = new Census();
    for (const [index, name] of names.entries()) {
      census.add(name);
      if (index > 0 && !(names[index - 1] < name)) throw new Error(`${name} is out of order`);
    }
    expect(census.count).toBe(ENTRY_COUNT);
  }, 60_000);

  it('is left early without reading the rest', async () => {
    const before = lab.submissionCount;
    for await (const name of lab.fs.readdir(huge)) {
      expect(name).toMatch(/^entry-/);
      break;
    }
    // open, the batch, the one ahead, close
    expect(lab.submissionCount - before).toBeLessThanOrEqual(5);
  }, 60_000);
});
