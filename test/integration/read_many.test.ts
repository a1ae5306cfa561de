// Many files at once: readFile and readMany when several are in flight, which take the one-entry
// way, against Node's results. Method: files of every size around the chunk (64 KiB) with contents
// from their name, mixed with what must go step by step: FIFOs, /proc, directories, missing files.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFile, readMany, statMany } from '../../lib/fs.ts';

const SIZES = [0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 300_000];

const outcome = async (reading: PromiseLike<Buffer | string>): Promise<unknown> => {
  try {
    const content = await reading;
    // Contents by digest: comparing buffers element by element takes minutes.
    return { bytes: content.length, digest: createHash('sha1').update(content).digest('hex') };
  } catch (error) {
    const { code, errno, syscall, path: where, message } = error as NodeJS.ErrnoException;
    return { code, errno, syscall, path: where, message };
  }
};

describe('many files', () => {
  let folder: string;
  const paths: string[] = [];

  beforeAll(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'nephrite-many-'));
    for (let round = 0; round < 20; round++) {
      for (const size of SIZES) {
        const name = path.join(folder, `${round}-${size}`);
        fs.writeFileSync(name, Buffer.alloc(size, `${name}|`));
        paths.push(name);
      }
      paths.push(
        path.join(folder, `missing-${round}`),
        folder,
        '/proc/self/status',
        '/proc/version',
      );
    }
  });
  afterAll(() => fs.rmSync(folder, { recursive: true }));

  it('readFile, all at once: Node results and Node errors', async () => {
    const ours = await Promise.all(paths.map((name) => outcome(readFile(name))));
    for (const [index, name] of paths.entries()) {
      if (name === '/proc/self/status') {
        expect((ours[index] as { bytes: number }).bytes).toBeGreaterThan(500);
      } else {
        expect(ours[index]).toEqual(await outcome(fsp.readFile(name)));
      }
    }
  });

  it('readMany with an encoding: strings in order, errors in their entry', async () => {
    const entries = await readMany(paths, 'latin1');
    for (const [index, name] of paths.entries()) {
      const entry = entries[index];
      if (name === '/proc/self/status') continue;
      const ours =
        entry.status === 'fulfilled' ? Promise.resolve(entry.value) : Promise.reject(entry.reason);
      expect(await outcome(ours)).toEqual(await outcome(fsp.readFile(name, 'latin1')));
    }
  });

  it('a result has an ArrayBuffer of its own', async () => {
    const small = paths.filter((name) => name.endsWith('-4096'));
    const contents = await Promise.all(small.map((name) => readFile(name)));
    for (const content of contents) {
      expect(content.byteOffset).toBe(0);
      expect(content.buffer.byteLength).toBe(4096);
    }
  });

  it('a FIFO among them waits for its writer and holds up nobody', async () => {
    const fifo = path.join(folder, 'fifo');
    expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
    const all = Promise.all(paths.map((name) => outcome(readFile(name))));
    const waiting = readFile(fifo, 'utf8');
    await all;
    expect(waiting.isSettled).toBe(false);
    fs.writeFileSync(fifo, 'through the pipe');
    expect(await waiting).toBe('through the pipe');
    fs.unlinkSync(fifo);
  });

  it('aborted all at once: each settles, no descriptor stays open', async () => {
    await readMany(paths);
    const before = fs.readdirSync('/proc/self/fd').length;
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController();
      const reads = paths.map((name) => outcome(readFile(name, { signal: controller.signal })));
      if (round % 2 === 0) setImmediate(() => controller.abort());
      else controller.abort();
      await Promise.all(reads);
    }
    await readMany(paths);
    expect(fs.readdirSync('/proc/self/fd').length).toBe(before);
  });

  it('bad input is refused before the first file is touched', async () => {
    await expect(readMany('file' as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    await expect(readMany(['a\0b'])).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
    await expect(readMany([], { concurrency: 0 })).rejects.toMatchObject({
      code: 'ERR_OUT_OF_RANGE',
    });
    expect(await readMany([])).toEqual([]);
    expect(await statMany([])).toEqual([]);
  });
});
