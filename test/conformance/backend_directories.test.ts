// Backend conformance, directories: READDIR on an open descriptor, over one or many calls.
// Method: names and kinds are compared with fs.readdir, as sets (each backend has its own order).
// Not here: recursion and sorting (the fs layer).
import * as fs from 'node:fs';
import { constants } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeBackends } from '../support/backend_cases.ts';
import { expectSameError, nodeResult, useBackend } from '../support/backend_harness.ts';
import { type DirectoryRecord, decodeRecords } from '../support/ring_operations.ts';

const { O_RDONLY, O_DIRECTORY } = constants;
const [KIND_DIRECTORY, KIND_FILE, KIND_LINK, KIND_SOCKET] = [4, 8, 10, 12];

describeBackends('backend directories', (backend) => {
  const harness = useBackend(backend);

  /** All records from the descriptor's position to the end, and the number of calls it took. */
  async function readAll(fd: number, bufferBytes: number) {
    const records: DirectoryRecord[] = [];
    const region = harness.driver.region(bufferBytes);
    for (let calls = 1; ; calls++) {
      const result = await harness.ring.readdir(fd, region);
      expect(result).toBeGreaterThanOrEqual(0);
      expect(result).toBeLessThanOrEqual(bufferBytes);
      if (result === 0) return { records, calls };
      records.push(...decodeRecords(region.bytes.subarray(0, result)));
    }
  }

  const names = (records: readonly DirectoryRecord[]) =>
    records.map(({ name }) => name.toString('latin1')).sort();

  describe('contents', () => {
    it('an empty directory', async () => {
      const fd = await harness.ring.open(harness.folder, O_RDONLY | O_DIRECTORY);
      expect((await readAll(fd, 1024)).records).toEqual([]);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('kinds of entries', async () => {
      fs.writeFileSync(harness.path('file'), '');
      fs.mkdirSync(harness.path('folder'));
      fs.symlinkSync('nowhere', harness.path('link'));
      const server = createServer().listen(harness.path('socket'));
      await new Promise((resolve) => server.once('listening', resolve));
      const fd = await harness.ring.open(harness.folder, O_RDONLY);
      const { records } = await readAll(fd, 4096);
      const kinds = new Map(records.map(({ name, kind }) => [name.toString(), kind]));
      expect(Object.fromEntries(kinds)).toEqual({
        file: KIND_FILE,
        folder: KIND_DIRECTORY,
        link: KIND_LINK,
        socket: KIND_SOCKET,
      });
      expect(await harness.ring.close(fd)).toBe(0);
      await new Promise((resolve) => server.close(resolve));
    });

    it('a thousand entries in many small calls, each once', async () => {
      const expected: string[] = [];
      for (let index = 0; index < 1000; index++) {
        const name = `${index}-${'n'.repeat(index % 200)}`;
        fs.writeFileSync(harness.path(name), '');
        expected.push(name);
      }
      const fd = await harness.ring.open(harness.folder, O_RDONLY | O_DIRECTORY);
      const { records, calls } = await readAll(fd, 2048);
      expect(names(records)).toEqual(expected.sort());
      expect(calls).toBeGreaterThan(20);
      const region = harness.driver.region(2048);
      expect(await harness.ring.readdir(fd, region)).toBe(0);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('names that are not UTF-8, and the longest name', async () => {
      const longest = 'L'.repeat(255);
      fs.writeFileSync(harness.path(longest), '');
      const raw = Buffer.from([0xff, 0x80, 0x41]);
      const hasRawNames = process.platform === 'linux';
      if (hasRawNames)
        fs.writeFileSync(Buffer.concat([Buffer.from(`${harness.folder}/`), raw]), '');
      const fd = await harness.ring.open(harness.folder, O_RDONLY);
      const expected = hasRawNames ? [longest, raw.toString('latin1')] : [longest];
      expect(names((await readAll(fd, 4096)).records)).toEqual(expected);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('two descriptors have two positions', async () => {
      for (const name of ['a', 'b', 'c']) fs.writeFileSync(harness.path(name), '');
      const first = await harness.ring.open(harness.folder, O_RDONLY);
      const second = await harness.ring.open(harness.folder, O_RDONLY);
      expect(names((await readAll(first, 4096)).records)).toEqual(['a', 'b', 'c']);
      expect(names((await readAll(second, 4096)).records)).toEqual(['a', 'b', 'c']);
      expect(await harness.ring.close(first)).toBe(0);
      expect(await harness.ring.close(second)).toBe(0);
    });

    it('a number that is used again starts at the beginning', async () => {
      fs.writeFileSync(harness.path('a'), '');
      const other = harness.path('other');
      fs.mkdirSync(join(other, 'inside'), { recursive: true });
      const first = await harness.ring.open(harness.folder, O_RDONLY);
      expect(names((await readAll(first, 4096)).records)).toEqual(['a', 'other']);
      expect(await harness.ring.close(first)).toBe(0);
      const second = await harness.ring.open(other, O_RDONLY);
      expect(names((await readAll(second, 4096)).records)).toEqual(['inside']);
      expect(await harness.ring.close(second)).toBe(0);
    });

    it('a directory renamed after it was opened', async () => {
      const before = harness.path('before');
      fs.mkdirSync(join(before, 'inside'), { recursive: true });
      const fd = await harness.ring.open(before, O_RDONLY | O_DIRECTORY);
      fs.renameSync(before, harness.path('after'));
      fs.mkdirSync(before);
      expect(names((await readAll(fd, 4096)).records)).toEqual(['inside']);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('calls in flight together share the position', async () => {
      const expected = Array.from({ length: 100 }, (_, index) => `entry-${index}`).sort();
      for (const name of expected) fs.writeFileSync(harness.path(name), '');
      const fd = await harness.ring.open(harness.folder, O_RDONLY);
      const regions = Array.from({ length: 8 }, () => harness.driver.region(1024));
      const results = await Promise.all(regions.map((region) => harness.ring.readdir(fd, region)));
      const together = regions.flatMap((region, index) =>
        decodeRecords(region.bytes.subarray(0, results[index])),
      );
      const { records } = await readAll(fd, 4096);
      expect(names([...together, ...records])).toEqual(expected);
      expect(await harness.ring.close(fd)).toBe(0);
    });
  });

  it('errors: a file, a buffer too small for one entry', async () => {
    const { ring, driver } = harness;
    fs.writeFileSync(harness.path('file'), '');
    const file = await ring.open(harness.path('file'), O_RDONLY);
    expectSameError(await ring.readdir(file, driver.region(1024)), 'ENOTDIR', () =>
      fs.readdirSync(harness.path('file')),
    );
    expect(await ring.close(file)).toBe(0);
    const einval = nodeResult(() => fs.readlinkSync(harness.path('file')));
    const fd = await ring.open(harness.folder, O_RDONLY);
    expect(await ring.readdir(fd, driver.region(16))).toBe(einval);
    expect(names((await readAll(fd, 4096)).records)).toEqual(['file']);
    expect(await ring.close(fd)).toBe(0);
  });
});
