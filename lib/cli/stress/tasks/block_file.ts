// The file that tasks read: blocks whose bytes the seed says, written once before the run.
// Owner: the run. Invariants: a buffer is with one task at a time; the file is never written while
// tasks run. Not here: data sets that are written to (load/data_set.ts).
import { type FileHandle, open, writeFile } from '../../../fs.ts';
import type { TaskGenerator } from '../../../index.ts';
import { errorTextOf, troubleError } from '../../cli_error.ts';
import { BlockPattern } from '../../workload/pattern.ts';

export const BLOCK_BYTES = 4096;
const BLOCKS = 1024;

export class BlockFile {
  readonly #file: FileHandle;
  readonly #pattern: BlockPattern;
  readonly #buffers: Buffer[] = [];

  private constructor(file: FileHandle, pattern: BlockPattern) {
    this.#file = file;
    this.#pattern = pattern;
  }

  /** Writes and opens the file. @throws CliError */
  static async create(path: string, seed: number): Promise<BlockFile> {
    const pattern = new BlockPattern(seed, BLOCK_BYTES);
    const content = Buffer.alloc(BLOCK_BYTES * BLOCKS);
    for (let block = 0; block < BLOCKS; block++) {
      pattern.fill(content, block * BLOCK_BYTES, identityOf(block));
    }
    try {
      await writeFile(path, content);
      return new BlockFile(await open(path, 'r'), pattern);
    } catch (error) {
      throw troubleError('ERR_CLI_SETUP', `${path}: ${errorTextOf(error)}`, error);
    }
  }

  /** Reads one block; true if it has the bytes it must have. */
  *read(word: number): TaskGenerator<boolean> {
    const block = word % BLOCKS;
    const buffer = this.#buffers.pop() ?? Buffer.alloc(BLOCK_BYTES);
    this.#pattern.poison(buffer);
    try {
      const { bytesRead } = yield* this.#file.read(buffer, 0, BLOCK_BYTES, block * BLOCK_BYTES);
      return bytesRead === BLOCK_BYTES && this.#pattern.matches(buffer, 0, identityOf(block));
    } finally {
      this.#buffers.push(buffer);
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

function identityOf(block: number): { file: number; offsetBytes: number; generation: number } {
  return { file: 0, offsetBytes: block * BLOCK_BYTES, generation: 1 };
}
