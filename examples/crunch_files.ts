// Crunch files: SHA-256 of every file below a folder, as tasks.
//   node scripts/run_ts.js examples/crunch_files.ts FOLDER [--at-once N] [--timeout MS]
// What it shows: a scope that owns all the work and lets none of it outlive the run; a semaphore
// that bounds how many files are open; a timeout per file, so that one that hangs (a pipe without a
// writer, a dead network disk) costs its time and nothing else; a channel between those who read
// and the one who counts; report(), and task.progress() for whoever watches; Ctrl-C as
// cancellation.
// Copied into a program of one's own, nothing changes: it imports the package by its name.
// Not here: writing the checksums anywhere but to standard output.
import { createHash } from 'node:crypto';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type Channel,
  channel,
  checkpoint,
  Runtime,
  report,
  type Scope,
  type Semaphore,
  scope,
  semaphore,
  TaskCancelledError,
  type TaskGenerator,
  TimeoutError,
  withTimeout,
} from 'nephrite';
import { open, readdir } from 'nephrite/fs';

const CHUNK_BYTES = 256 * 1024;

export interface CrunchOptions {
  /** Files that are read at a time. */
  readonly atOnce: number;
  /** What each file gets, in milliseconds. */
  readonly timeoutMs: number;
}

/** One file: its checksum, or why it has none. */
export interface Crunched {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string | undefined;
  readonly problem: string | undefined;
}

/** What is reported after each file. */
export interface CrunchProgress {
  readonly files: number;
  readonly bytes: number;
}

/** The task: crunches all files below `root`, in the order in which they are done. */
export function* crunchTree(root: string, options: CrunchOptions): TaskGenerator<Crunched[]> {
  const done = channel<Crunched>(options.atOnce);
  const reading = scope();
  reading.spawn(readAll, root, options, done);
  const all: Crunched[] = [];
  let bytes = 0;
  for (;;) {
    const next = yield* done.receiveOrClosed();
    if (next.done) break;
    all.push(next.value);
    bytes += next.value.bytes;
    report({ files: all.length, bytes } satisfies CrunchProgress);
  }
  yield* reading.join();
  return all;
}

/** Ends when every file has been read, whichever way: then there is nothing to wait for. */
function* readAll(root: string, options: CrunchOptions, done: Channel<Crunched>) {
  const permits = semaphore(options.atOnce);
  try {
    yield* scope(function* (files) {
      yield* walk(files, permits, root, (path) => crunchOne(path, options.timeoutMs, done));
    });
  } finally {
    done.close();
  }
}

/** A permit is taken before the task exists: a folder of a million files is no million tasks. */
function* walk(
  files: Scope,
  permits: Semaphore,
  folder: string,
  crunch: (path: string) => TaskGenerator<void>,
): TaskGenerator<void> {
  for (const entry of yield* readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) continue;
    if (entry.isDirectory()) {
      yield* walk(files, permits, path, crunch);
      continue;
    }
    yield* permits.acquire();
    files.spawn(function* () {
      try {
        yield* crunch(path);
      } finally {
        permits.release();
      }
    });
  }
}

/** A file that cannot be read is a result like any other; only cancellation ends the run. */
function* crunchOne(path: string, timeoutMs: number, done: Channel<Crunched>): TaskGenerator<void> {
  let result: Crunched;
  try {
    const { bytes, sha256 } = yield* withTimeout(timeoutMs, () => checksum(path));
    result = { path, bytes, sha256, problem: undefined };
  } catch (error) {
    const isLate = error instanceof TimeoutError;
    const problem = isLate ? `not read within ${timeoutMs} ms` : String(error);
    result = { path, bytes: 0, sha256: undefined, problem };
  }
  yield* done.send(result);
}

function* checksum(path: string): TaskGenerator<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  const file = yield* open(path);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let bytes = 0;
    for (;;) {
      const { bytesRead } = yield* file.read(buffer, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
      bytes += bytesRead;
      hash.update(buffer.subarray(0, bytesRead));
      // Hashing takes its time: others get theirs.
      yield* checkpoint();
    }
  } finally {
    yield* file.close();
  }
}

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      'at-once': { type: 'string', default: '32' },
      timeout: { type: 'string', default: '10000' },
    },
  });
  const [root = '.'] = positionals;
  const rt = await Runtime.start();
  try {
    const task = rt.with({ name: 'crunch' }).spawn(crunchTree, root, {
      atOnce: Number(values['at-once']),
      timeoutMs: Number(values.timeout),
    });
    process.once('SIGINT', () => task.cancel('Ctrl-C'));
    const watching = watch(task.progress());
    const all = await task.join();
    await watching;
    for (const { path, sha256, problem } of all) {
      console.log(`${sha256 ?? `FAILED: ${problem}`}  ${relative(root, path)}`);
    }
    return all.every(({ problem }) => problem === undefined) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof TaskCancelledError)) throw error;
    console.error(error.message);
    return 130;
  } finally {
    await rt.close();
  }
}

async function watch(progress: AsyncIterable<unknown>): Promise<void> {
  for await (const step of progress) {
    const { files, bytes } = step as CrunchProgress;
    if (files % 100 === 0 || process.stderr.isTTY) {
      process.stderr.write(`${files} files, ${(bytes / 2 ** 20).toFixed(1)} MiB\n`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main();
