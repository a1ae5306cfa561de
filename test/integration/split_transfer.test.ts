// Large reads and writes, which go as several transfers in flight: their counts, failures and
// cancellation on real files. Goal: what callers see equals one long read(2) or write(2).
// Method: sizes around the part size (256 KiB); the failure half-way is the file system's own
// limit.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FileHandle, open } from '../../lib/fs.ts';

const PART = 256 * 1024;
const MIB = 1024 * 1024;

describe('large transfers', () => {
  let folder: string;
  let file: string;
  let handle: FileHandle;
  const pattern = Buffer.alloc(5 * PART + 777);
  for (let at = 0; at < pattern.length; at += 4) {
    pattern.writeUInt32LE((at * 2654435761) >>> 0, at - (at > pattern.length - 4 ? 3 : 0));
  }

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'nephrite-split-'));
    file = path.join(folder, 'data');
    handle = await open(file, 'w+');
  });
  afterAll(async () => {
    await handle.close();
    fs.rmSync(folder, { recursive: true });
  });

  it.each([PART - 1, PART, PART + 1, 2 * PART, 5 * PART + 777])(
    '%d bytes go and come back',
    async (bytes) => {
      await handle.truncate(0);
      const data = pattern.subarray(0, bytes);
      expect((await handle.write(data, 0, bytes, 12345)).bytesWritten).toBe(bytes);
      expect(fs.readFileSync(file).subarray(12345).equals(data)).toBe(true);
      const back = Buffer.alloc(bytes);
      expect((await handle.read(back, 0, bytes, 12345)).bytesRead).toBe(bytes);
      expect(back.equals(data)).toBe(true);
    },
  );

  it('a read past the end counts what is there, wherever the end falls', async () => {
    for (const size of [0, 1, PART, PART + 5, 3 * PART, 4 * PART + 1]) {
      fs.writeFileSync(file, pattern.subarray(0, size));
      const buffer = Buffer.alloc(2 * MIB, 0xee);
      expect((await handle.read(buffer, 0, buffer.length, 0)).bytesRead).toBe(size);
      expect(buffer.subarray(0, size).equals(pattern.subarray(0, size))).toBe(true);
      expect(buffer.subarray(size).every((byte) => byte === 0xee)).toBe(true);
    }
  });

  it('a bigint position beyond 2^53 is exact', async (context) => {
    const position = 2n ** 43n + 3n;
    const data = pattern.subarray(0, 2 * PART);
    const written = await handle
      .write(data, 0, data.length, position)
      .catch((e: NodeJS.ErrnoException) => e.code);
    if (written === 'EFBIG') context.skip('files of 8 TiB do not fit this file system');
    const back = Buffer.alloc(data.length);
    await handle.read(back, 0, back.length, position);
    expect(back.equals(data)).toBe(true);
    await handle.truncate(0);
  });

  it('a failure half-way tells the contiguous bytes written', async (context) => {
    // ext4 with 4 KiB blocks ends files at 16 TiB less a block: half of the write fits.
    const limit = 2 ** 44 - 4096;
    const room = 2 * PART + 8192;
    const probe = await handle.write(Buffer.alloc(8192), 0, 8192, limit - 4096).catch((e) => e);
    if (probe.code !== 'EFBIG') context.skip('no such file size limit here');
    const error = await handle.write(pattern, 0, 5 * PART, limit - room).catch((e) => e);
    expect(error.code).toBe('EFBIG');
    expect(error.syscall).toBe('write');
    expect(error.bytesWritten).toBe(room);
    await handle.truncate(0);
  });

  it('an aborted read settles once, with an AbortError or with bytes', async () => {
    fs.writeFileSync(file, Buffer.alloc(8 * MIB, 7));
    for (let round = 0; round < 50; round++) {
      const controller = new AbortController();
      const buffer = Buffer.alloc(8 * MIB);
      const reading = handle.read(buffer, { position: 0, signal: controller.signal });
      if (round % 2 === 0) controller.abort();
      else setImmediate(() => controller.abort());
      const outcome = await reading.then(
        ({ bytesRead }) => bytesRead,
        (error) => error.code,
      );
      if (outcome === 'ABORT_ERR') continue;
      expect(outcome).toBeGreaterThan(0);
      expect(buffer.subarray(0, outcome).every((byte) => byte === 7)).toBe(true);
    }
  });

  it('a close right after a large write waits for all of it', async () => {
    const other = path.join(folder, 'other');
    const writer = await open(other, 'w');
    const writing = writer.write(pattern, 0, pattern.length, 0);
    await writer.close();
    expect((await writing).bytesWritten).toBe(pattern.length);
    expect(fs.readFileSync(other).equals(pattern)).toBe(true);
  });
});
