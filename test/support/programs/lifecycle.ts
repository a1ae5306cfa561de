// Every family of operations in every state of its life; prints what each came to, and how many
// descriptors were lost. A ring of 16 operations, so that it is soon full.
// Not here: which outcomes are right (test/lifecycle/operations.test.ts).
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import * as fs from '../../../lib/fs.ts';
import { configure, type Operation } from '../../../lib/index.ts';
import { currentThread } from '../../../lib/io/current_thread.ts';
import { OPENED } from '../../../lib/io/fs/file_handle.ts';
import { descriptorCount, makeFifo, outcome, pause, say, until } from './tools.ts';

configure({ ring: { entries: 8, operations: 16 } });
/** Two slots are kept for cancels and closes. */
const PENDING_MOST = 14;

let serial = 0;
const fresh = (): string => `new-${process.pid}-${isMainThread}-${serial++}`;
function freshFile(): string {
  const path = fresh();
  writeFileSync(path, 'to be unlinked');
  return path;
}

type Start = (handle: fs.FileHandle, path: string) => Operation<unknown>;

const ON_HANDLE: Readonly<Record<string, Start>> = {
  read: (handle) => handle.read(Buffer.alloc(100), 0, 100, 0),
  readv: (handle) => handle.readv([Buffer.alloc(10), Buffer.alloc(10)], 0),
  write: (handle) => handle.write(Buffer.alloc(100), 0, 100, 0),
  writev: (handle) => handle.writev([Buffer.alloc(10), Buffer.alloc(10)], 0),
  readFile: (handle) => handle.readFile(),
  writeFile: (handle) => handle.writeFile('data'),
  stat: (handle) => handle.stat(),
  sync: (handle) => handle.sync(),
  datasync: (handle) => handle.datasync(),
  truncate: (handle) => handle.truncate(100),
  chmod: (handle) => handle.chmod(0o644),
  chown: (handle) => handle.chown(-1, -1),
  utimes: (handle) => handle.utimes(1, 2),
};

const BY_PATH: Readonly<Record<string, Start>> = {
  'fs.open': (_handle, path) => fs.open(path),
  'fs.stat': (_handle, path) => fs.stat(path),
  'fs.lstat': (_handle, path) => fs.lstat(path),
  'fs.access': (_handle, path) => fs.access(path),
  'fs.readFile': (_handle, path) => fs.readFile(path),
  'fs.writeFile': () => fs.writeFile(fresh(), 'data'),
  'fs.appendFile': (_handle, path) => fs.appendFile(path, 'more'),
  'fs.copyFile': (_handle, path) => fs.copyFile(path, fresh()),
  'fs.rename': () => fs.rename(freshFile(), fresh()),
  'fs.link': (_handle, path) => fs.link(path, fresh()),
  'fs.symlink': (_handle, path) => fs.symlink(path, fresh()),
  'fs.readlink': () => fs.readlink('a-link'),
  'fs.realpath': () => fs.realpath('a-link'),
  'fs.mkdir': () => fs.mkdir(fresh()),
  'fs.readdir': () => fs.readdir('.'),
  'fs.unlink': () => fs.unlink(freshFile()),
  'fs.rm': () => fs.rm(freshFile()),
  'fs.truncate': (_handle, path) => fs.truncate(path, 50),
  'fs.chmod': (_handle, path) => fs.chmod(path, 0o644),
  'fs.utimes': (_handle, path) => fs.utimes(path, 1, 2),
  'fs.statMany': (_handle, path) => fs.statMany([path, path]),
};

const ALL = { ...ON_HANDLE, ...BY_PATH };

/** What it came to; a handle that came of it is closed. */
async function result(operation: PromiseLike<unknown>): Promise<string> {
  return outcome(
    operation.then(async (value) => {
      if (value instanceof fs.FileHandle) await value.close();
    }),
  );
}

class Ring {
  readonly fifo: string;
  readonly handle: fs.FileHandle;
  #reads: Promise<string>[] = [];

  constructor(fifo: string, handle: fs.FileHandle) {
    this.fifo = fifo;
    this.handle = handle;
  }

  static async create(): Promise<Ring> {
    const fifo = makeFifo(`ring-${process.pid}-${isMainThread}`);
    return new Ring(fifo, await fs.open(fifo, 'r+'));
  }

  async fill(): Promise<void> {
    const reads = Array.from({ length: PENDING_MOST }, () => this.handle.read(Buffer.alloc(1)));
    this.#reads = reads.map((read) => outcome(read));
    await until(() => currentThread().inFlightCount === PENDING_MOST);
    await pause(2);
  }

  /** Lets the reads end, by data that comes from outside. */
  async release(): Promise<string> {
    const fd = openSync(this.fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fd, Buffer.alloc(this.#reads.length));
    closeSync(fd);
    const outcomes = await Promise.all(this.#reads);
    return [...new Set(outcomes)].join();
  }
}

type Cells = Record<string, string>;

/** Each family in one state. */
async function column(
  families: Readonly<Record<string, Start>>,
  run: (start: () => Operation<unknown>) => Promise<string> | string,
  path: string,
  isClosed = false,
): Promise<Cells> {
  const cells: Cells = {};
  for (const [name, start] of Object.entries(families)) {
    const handle = await fs.open(path, 'r+');
    if (isClosed) await handle.close();
    cells[name] = await run(() => start(handle, path));
    await handle.close();
  }
  return cells;
}

/** Pending for a turn and more, then free slots come. */
async function inFullRing(ring: Ring, start: () => Operation<unknown>): Promise<string> {
  await ring.fill();
  const operation = start();
  const ended = result(operation);
  await pause(2);
  const wasPending = operation.isSettled ? 'settled early' : 'pending';
  const reads = await ring.release();
  return `${wasPending}, ${await ended}, reads ${reads}`;
}

async function stoppedInFullRing(
  ring: Ring,
  start: () => Operation<unknown>,
  stop: (operation: Operation<unknown>) => void,
): Promise<string> {
  await ring.fill();
  const operation = start();
  const ended = result(operation);
  await pause(2);
  stop(operation);
  const atOnce = await Promise.race([ended, pause(500).then(() => 'not at once')]);
  await ring.release();
  await ended;
  return atOnce;
}

/** Waits for another process, so that it is sure to be running when it is stopped. */
async function running(canCancel: boolean): Promise<Cells> {
  if (!canCancel) return {};
  const path = makeFifo(`running-${process.pid}`);
  const cells: Cells = {};
  const stop = async (operation: Operation<unknown>): Promise<string> => {
    const ended = result(operation);
    await pause(20);
    operation.cancel('stop');
    operation.cancel('stop again');
    return ended;
  };
  const handle = await fs.open(path, 'r+');
  cells.read = await stop(handle.read(Buffer.alloc(10)));
  cells.readv = await stop(handle.readv([Buffer.alloc(10), Buffer.alloc(10)]));
  cells.readFile = await stop(handle.readFile());
  cells.write = await stop(handle.write(Buffer.alloc(1_000_000)));
  const closing = Array.from({ length: 3 }, () => handle.write(Buffer.alloc(1000)));
  const ends = closing.map((write) => outcome(write));
  await pause(20);
  cells.close = await outcome(handle.close());
  cells['write while its handle closes'] = [...new Set(await Promise.all(ends))].join();
  // A FIFO each, or the open that was given up would be the other side of the next.
  const opens: Readonly<Record<string, (fifo: string) => Operation<unknown>>> = {
    'fs.open': (fifo) => fs.open(fifo),
    'fs.readFile': (fifo) => fs.readFile(fifo),
    'fs.writeFile': (fifo) => fs.writeFile(fifo, 'data'),
    'fs.copyFile': (fifo) => fs.copyFile('subject', fifo),
  };
  for (const [name, start] of Object.entries(opens)) {
    const fifo = makeFifo(`${name}-${process.pid}`);
    cells[name] = await stop(start(fifo));
    // Lets the open come back: a FIFO opened both ways waits for nobody.
    closeSync(openSync(fifo, 'r+'));
  }
  return cells;
}

/** Closes that somebody tries to stop: a written file's close waits in the pool's queue. */
async function cancelledCloses(path: string): Promise<string> {
  const handles = await Promise.all(Array.from({ length: 10 }, () => fs.open(path, 'r+')));
  await Promise.all(handles.map((handle) => handle.write('x')));
  const outcomes = handles.map((handle) => {
    const closing = handle.close();
    closing.cancel('once');
    closing.cancel('twice');
    return outcome(closing);
  });
  return [...new Set(await Promise.all(outcomes))].join();
}

/** A close while reads fill the ring and more wait, on this very handle. */
async function closesFullHandle(): Promise<Cells> {
  const handle = await fs.open(makeFifo(`full-${process.pid}`), 'r+');
  const all = Array.from({ length: 40 }, () => outcome(handle.read(Buffer.alloc(1))));
  await pause(5);
  const closed = await Promise.race([outcome(handle.close()), pause(2000).then(() => 'hangs')]);
  return { close: closed, reads: [...new Set(await Promise.all(all))].join() };
}

async function main(): Promise<void> {
  process.chdir(mkdtempSync(join(process.cwd(), 'lifecycle-')));
  const { name } = currentThread().backend;
  const canCancel = name !== 'node';
  const ring = await Ring.create();
  const path = 'subject';
  writeFileSync(path, Buffer.alloc(1000));
  symlinkSync(path, 'a-link');
  const before = descriptorCount();
  const cancelTwice = (start: () => Operation<unknown>): Promise<string> => {
    const operation = start();
    operation.cancel('once');
    operation.cancel('twice');
    return result(operation);
  };
  const stopped =
    (stop: (operation: Operation<unknown>) => void) => (start: () => Operation<unknown>) =>
      stoppedInFullRing(ring, start, stop);

  const cells: Record<string, Cells> = {
    'left alone': await column(ALL, (start) => result(start()), path),
    'cancelled twice in the turn it started': await column(ALL, cancelTwice, path),
    'ring full': await column(ALL, (start) => inFullRing(ring, start), path),
    'ring full, cancelled': await column(
      ALL,
      stopped((operation) => operation.cancel()),
      path,
    ),
    closed: await column(ON_HANDLE, (start) => result(start()), path, true),
    running: await running(canCancel),
    closing: canCancel ? await closesFullHandle() : {},
  };
  cells.closing = { ...cells.closing, 'close cancelled': await cancelledCloses(path) };
  const handle = await fs.open(path);
  const first = handle.close();
  cells.closed = { ...cells.closed, close: await result(handle.close()) };
  await first;
  await until(() => descriptorCount() <= before);
  const lost = Math.max(0, descriptorCount() - before);
  cells['worker terminated'] = { all: await terminated() };
  currentThread().close();
  cells['poller closed'] = await afterPoller(path);
  say({ backend: name, lost, cells });
}

/** All families at once in a worker that is terminated with them. */
async function terminated(): Promise<string> {
  const worker = new Worker(new URL(import.meta.url));
  await new Promise((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
  return `exit code ${await worker.terminate()}`;
}

async function afterPoller(path: string): Promise<Cells> {
  const handle = new fs.FileHandle(openSync(path, 'r'), 0, false, OPENED);
  const cells: Cells = {};
  for (const [name, start] of Object.entries(ALL)) cells[name] = await result(start(handle, path));
  return cells;
}

async function startAll(): Promise<void> {
  const path = 'subject';
  const handle = await fs.open(path, 'r+');
  setInterval(() => {}, 1000);
  for (let round = 0; round < 5; round++) {
    for (const start of Object.values(ALL)) void outcome(start(handle, path));
  }
  parentPort?.postMessage('started');
}

await (isMainThread ? main() : startAll());
