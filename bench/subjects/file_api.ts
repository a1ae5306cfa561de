// The part of node:fs/promises that the workloads use. Both node:fs/promises and nephrite/fs are
// given as this interface: the subjects' code is the same, only the import differs.

export interface StatResult {
  size: number;
  mtimeMs: number;
}

export interface FileHandleApi {
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): PromiseLike<{ bytesRead: number }>;
  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): PromiseLike<{ bytesWritten: number }>;
  close(): PromiseLike<void>;
}

export interface FileApi {
  open(path: string, flags?: string | number): PromiseLike<FileHandleApi>;
  readFile(path: string): PromiseLike<Uint8Array>;
  stat(path: string): PromiseLike<StatResult>;
}

/** What nephrite/fs has beyond node:fs/promises. */
export interface ManyApi {
  readMany(
    paths: readonly string[],
    options?: { concurrency?: number },
  ): PromiseLike<readonly PromiseSettledResult<Uint8Array>[]>;
  statMany(
    paths: readonly string[],
    options?: { concurrency?: number },
  ): PromiseLike<readonly PromiseSettledResult<StatResult>[]>;
}

export interface PoolApi {
  buffers: { alloc(bytes: number, options?: { align?: number }): Uint8Array };
}
