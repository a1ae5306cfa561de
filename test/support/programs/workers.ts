// Workers that die with operations pending, in every state, again and again; what is left of them.
// The main thread counts descriptors, threads and memory; a worker does what `what` names.
import assert from 'node:assert/strict';
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { pathToFileURL } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Prng } from '../../../lib/base/prng.ts';
import { buffers, type FileHandle, open, readFile } from '../../../lib/fs.ts';
import { currentThread } from '../../../lib/io/current_thread.ts';
import {
  descriptorCount,
  makeFifo,
  outcome,
  pause,
  runCommand,
  say,
  threadCount,
  until,
} from './tools.ts';

interface Work {
  readonly what: string;
  readonly index: number;
  readonly fifo: string;
}

const ready = (): void => parentPort?.postMessage('ready');
const DIRECT = constants.O_DIRECT ?? 0;

/** Several kinds of pending at once: reads, opens, direct reads, timers, signals, a busy pool. */
async function pendEverything({ index, fifo }: Work): Promise<void> {
  const path = `pending-${index}`;
  writeFileSync(path, Buffer.alloc(65536));
  const ends = await open(fifo, 'r+');
  const direct = await open(path, constants.O_RDONLY | DIRECT).catch(() => open(path));
  const file = await open(path, 'r+');
  const { signal } = new AbortController();
  for (let count = 0; count < 20; count++) {
    void outcome(ends.read(Buffer.alloc(64), { signal, timeout: 60_000 }));
    void outcome(direct.read(buffers.alloc(4096, { align: 4096 }), { position: 0, signal }));
    void outcome(file.write(Buffer.alloc(4096)));
    if (count % 10 === 0) void outcome(file.sync({ timeout: 60_000 }));
  }
  for (let count = 0; count < 2; count++)
    void outcome(open(`${fifo}-never`, 'r', null, { signal }));
  setInterval(() => {}, 1);
  ready();
}

const WORK: Readonly<Record<string, (work: Work) => unknown>> = {
  everything: pendEverything,

  /** The completions and the end come at the same time. */
  async flood({ index }) {
    const path = `flood-${index}`;
    writeFileSync(path, Buffer.alloc(65536));
    const handle = await open(path);
    const lane = async (): Promise<void> => {
      const buffer = Buffer.alloc(4096);
      for (;;) await handle.read(buffer, 0, 4096, 0);
    };
    for (let count = 0; count < 16; count++) void lane();
    ready();
  },

  /**
   * Fifty files left open, and sixty closes that wait in the pool's queue (a written file's close
   * does not run inline). Every other worker ends by itself.
   */
  async files({ index }) {
    const opening = (count: number): Promise<FileHandle>[] =>
      Array.from({ length: count }, async (_, at) => open(`file-${index % 5}-${at}`, 'w'));
    await Promise.all(opening(50));
    const written = await Promise.all(opening(60));
    await Promise.all(written.map((handle) => handle.write('x')));
    for (const handle of written) void handle.close();
    if (index % 2 === 0) setInterval(() => {}, 1000);
    ready();
  },

  async 'exit with pending'({ fifo }) {
    const ends = await open(fifo, 'r+');
    for (let count = 0; count < 100; count++) void outcome(ends.read(Buffer.alloc(64)));
    for (let count = 0; count < 20; count++) void outcome(open('.'));
    process.exit(0);
  },

  async 'sixty-four opens'({ fifo }) {
    for (let count = 0; count < 64; count++) void outcome(open(`${fifo}-never`));
    await pause(50);
    ready();
  },

  /** Never idle, never ready: ends wherever it happens to be. */
  async busy({ fifo }) {
    const ends = await open(fifo, 'r+');
    for (let count = 0; count < 100; count++) void outcome(ends.read(Buffer.alloc(1000)));
    const folder = await open('.');
    for (;;) await folder.stat();
  },

  /** Fills its heap while completions come. */
  async 'out of memory'({ fifo }) {
    const ends = await open(fifo, 'r+');
    for (let count = 0; count < 100; count++) void outcome(ends.read(Buffer.alloc(1000)));
    const folder = await open('.');
    const hoard: unknown[] = [];
    for (;;)
      hoard.push(
        await folder.stat(),
        Array.from({ length: 1000 }, () => hoard.length / 3),
      );
  },

  async 'one read'({ index }) {
    const path = `one-${index}`;
    writeFileSync(path, `worker ${index}`);
    assert.equal(await readFile(path, 'utf8'), `worker ${index}`);
    rmSync(path);
    ready();
  },
};

/** Without module files: Node loses those that a worker reads when it is terminated. */
function ownDescriptorCount(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return !readlinkSync(`/proc/self/fd/${fd}`).endsWith('.mjs');
    } catch {
      return false; // The descriptor that reads the folder.
    }
  }).length;
}

/** Starts a worker; resolves when it is ready, or has ended without saying so. */
function start(what: string, index: number, fifo = ''): Promise<Worker> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { what, index, fifo } });
  return new Promise((resolve, reject) => {
    worker.once('message', () => resolve(worker));
    worker.once('error', reject);
    worker.once('exit', (code) => {
      if (code === 0) resolve(worker);
      else reject(new Error(`${what}: exit code ${code} before it was ready`));
    });
  });
}

/** Starts and terminates workers, `width` at a time. */
async function cycle(what: string, count: number, width: number, fifo = ''): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const worker = await start(what, next++, fifo);
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}

/** Counts around `count` cycles, after a first one that warms up what stays. */
async function leftBehind(what: string, count: number, width: number): Promise<void> {
  const fifo = makeFifo(`workers-${process.pid}`);
  makeFifo(`${fifo}-never`);
  await cycle(what, width, width, fifo);
  const before = { descriptors: descriptorCount(), threads: threadCount() };
  await cycle(what, count, width, fifo);
  const addedThreads = threadCount() - before.threads;
  // A thread in an open that never ends keeps its dead poller's memory and eventfd until it does.
  releaseOpens(`${fifo}-never`);
  await until(() => descriptorCount() <= before.descriptors);
  say({
    cycles: count,
    leakedDescriptors: Math.max(0, descriptorCount() - before.descriptors),
    addedThreads,
  });
}

/** Opens of a FIFO for reading that wait somewhere come back. */
function releaseOpens(fifo: string): void {
  try {
    closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // ENXIO: nobody waits.
  }
}

const count = Number(process.argv[3] ?? 1);

const COMMANDS: Readonly<Record<string, () => unknown>> = {
  everything: () => leftBehind('everything', count, 4),
  flood: () => leftBehind('flood', count, 4),
  files: () => leftBehind('files', count, 4),
  'exit-pending': () => leftBehind('exit with pending', count, 4),

  /** Terminated at a random moment of its start or its work. */
  async early() {
    const fifo = makeFifo(`early-${process.pid}`);
    const random = new Prng(Number(process.argv[4] ?? 1));
    const workerData: Work = { what: 'busy', index: 0, fifo };
    const one = async (afterMs: number): Promise<void> => {
      const worker = new Worker(new URL(import.meta.url), { workerData });
      await new Promise((resolve) => worker.once('online', resolve));
      await pause(afterMs);
      await worker.terminate();
    };
    await one(100);
    const before = ownDescriptorCount();
    for (let done = 0; done < count; done += 3) {
      await Promise.all([0, 1, 2].map(() => one(random.nextBelow(60))));
    }
    await until(() => ownDescriptorCount() <= before);
    say({ leakedDescriptors: Math.max(0, ownDescriptorCount() - before) });
  },

  async 'out-of-memory'() {
    const workerData: Work = {
      what: 'out of memory',
      index: 0,
      fifo: makeFifo(`oom-${process.pid}`),
    };
    const worker = new Worker(new URL(import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    });
    const code = await new Promise((resolve) => {
      worker.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      worker.once('exit', resolve);
    });
    // The process goes on, and its own poller too.
    say({ code, bytes: (await readFile('/proc/self/stat')).length > 0 });
  },

  async 'at-once'() {
    const all = await Promise.all(Array.from({ length: count }, (_, at) => start('one read', at)));
    await Promise.all(all.map((worker) => worker.terminate()));
    say({ count: all.length });
  },

  async memory() {
    const rssMiB = (): number => process.memoryUsage.rss() / 2 ** 20;
    await cycle('one read', 10, 2);
    const before = rssMiB();
    await cycle('one read', count, 2);
    globalThis.gc?.();
    say({ addedMiB: Math.round(rssMiB() - before) });
  },

  /** A worker that died in 64 opens of a FIFO has left room for others. */
  async 'stuck-opens'() {
    const fifo = makeFifo(`stuck-${process.pid}`);
    makeFifo(`${fifo}-never`);
    await cycle('sixty-four opens', 2, 1, fifo);
    const [reader, writer] = await Promise.all([open(fifo, 'r'), open(fifo, 'w')]);
    await Promise.all([reader.close(), writer.close()]);
    releaseOpens(`${fifo}-never`);
    say({ isOpen: true });
  },

  /** Another copy of this program, with an addon of its own (the argument), in one process. */
  async 'two-copies'() {
    const [path = '', addonPath = ''] = process.argv.slice(3);
    process.env.NEPHRITE_NATIVE_PATH = addonPath;
    process.argv[2] = 'copy';
    await import(pathToFileURL(path).href);
    writeFileSync('first', 'from the first');
    assert.equal(await readFile('first', 'utf8'), 'from the first');
    say({ name: currentThread().backend.name });
  },

  async copy() {
    const fifo = await open(makeFifo(`copy-${process.pid}`), 'r+');
    const reading = fifo.read(Buffer.alloc(10));
    await fifo.write('second');
    const { bytesRead } = await reading;
    say({ bytesRead, name: currentThread().backend.name });
  },
};

if (isMainThread) await runCommand(COMMANDS);
else await WORK[(workerData as Work).what]?.(workerData as Work);
