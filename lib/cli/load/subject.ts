// What the load is driven through: the part of node:fs/promises that the workloads need.
// Flow: lanes -> [FileSubject] -> nephrite/fs or node:fs/promises
// Owner: the run. Invariants: the shapes are those of node:fs/promises, so both libraries fit
// without wrapping an operation: what is measured is the library, not an adapter.
// Not here: fio, which brings its own load generator (fio.ts).

/** An open file. */
export interface SubjectFile {
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
  datasync(): PromiseLike<unknown>;
  close(): PromiseLike<unknown>;
}

/** A file system library under load. */
export interface FileSubject {
  /** As in reports: `nephrite` or `fs.promises`. */
  readonly name: string;
  /** What carries the operations: `io_uring`, `epoll`, `node`, `libuv thread pool`. */
  readonly backend: string;
  /** Why this backend, in one sentence. */
  readonly why: string;
  /** Memory for blocks whose address is a multiple of 4096, fit for O_DIRECT. */
  allocate(bytes: number): Uint8Array;
  open(path: string, flags: number): PromiseLike<SubjectFile>;
  readFile(path: string): PromiseLike<Uint8Array>;
  writeFile(path: string, data: Uint8Array, options: { flag: string }): PromiseLike<unknown>;
  unlink(path: string): PromiseLike<unknown>;
  stat(path: string): PromiseLike<{ size: number }>;
  /** System calls made so far, or null where nothing counts them. */
  systemCalls(): number | null;
}
