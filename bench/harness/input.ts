// The input files of a benchmark run: one folder below os.tmpdir(), made once, removed at the end.
// Contents follow work.ts, so every read can be checked; everything is synced and touched once, so
// that reads come from the page cache and O_DIRECT reads see no dirty pages.
// Owned by the run that made it; subjects get paths only.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BLOCK_BYTES, fillBlock, MIB, smallFileMtimeSeconds, smallFileName } from './work.ts';

export const SMALL_FILES_MAX = 100_000;

export class BenchInput {
  readonly folder: string;
  readonly #made = new Map<string, string>();

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'nephrite-bench-'));
  }

  /** A file of `bytes` with the contents of work.ts, in the page cache. Made at first use. */
  dataFile(name: string, bytes: number): string {
    return this.#once(`${name}-${bytes}`, (path) => {
      const chunk = new Uint32Array(Math.min(bytes, MIB) / 4);
      const chunkBlocks = chunk.byteLength / BLOCK_BYTES;
      const blockWords = BLOCK_BYTES / 4;
      const fd = openSync(path, 'w+');
      try {
        for (let written = 0, block = 0; written < bytes; written += chunk.byteLength) {
          for (let i = 0; i < chunkBlocks; i++, block++) {
            fillBlock(chunk.subarray(i * blockWords, (i + 1) * blockWords), block);
          }
          writeSync(fd, chunk, 0, chunk.byteLength, written);
        }
        fsyncSync(fd);
        for (let at = 0; at < bytes; at += chunk.byteLength) {
          readSync(fd, chunk, 0, chunk.byteLength, at);
        }
      } finally {
        closeSync(fd);
      }
    });
  }

  /** A folder of `count` files of one block each: f00000, f00001, ... with telling times. */
  smallFiles(count: number): string {
    if (count > SMALL_FILES_MAX) throw new RangeError(`smallFiles: ${count} > ${SMALL_FILES_MAX}`);
    return this.#once(`small-${count}`, (path) => {
      mkdirSync(path);
      const words = new Uint32Array(BLOCK_BYTES / 4);
      for (let i = 0; i < count; i++) {
        fillBlock(words, i);
        const file = join(path, smallFileName(i));
        writeFileSync(file, words);
        utimesSync(file, smallFileMtimeSeconds(i), smallFileMtimeSeconds(i));
      }
    });
  }

  /** A folder with `count` FIFOs that have no writer: fifo0, fifo1, ... */
  fifos(count: number): string {
    return this.#once(`fifos-${count}`, (path) => {
      mkdirSync(path);
      const names = Array.from({ length: count }, (_, i) => join(path, `fifo${i}`));
      const made = spawnSync('mkfifo', names, { encoding: 'utf8' });
      if (made.status !== 0) throw new Error(`mkfifo: ${made.error?.message ?? made.stderr}`);
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #once(name: string, make: (path: string) => void): string {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const path = join(this.folder, name);
    make(path);
    this.#made.set(name, path);
    return path;
  }
}
