// Ways in which a process ends, or must not, while operations are pending.
// Run as a child by the integration tests: `node exits.ts <way> [argument]`; prints JSON lines.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { open } from '../../../lib/fs.ts';
import { currentThread } from '../../../lib/io/current_thread.ts';
import { makeFifo, outcome, pause, runCommand, say, until } from './tools.ts';

const COUNT = 1000;
const fifoPath = (): string => makeFifo(`fifo-${process.pid}`);

function sampleFile(): string {
  const path = `file-${process.pid}`;
  writeFileSync(path, Buffer.alloc(65536, 'x'));
  return path;
}

/** Starts reads of an empty FIFO, and lets them reach the kernel or the pool. */
async function pendingReads(count: number): Promise<void> {
  const handle = await open(fifoPath(), 'r+');
  for (let started = 0; started < count; started++) void outcome(handle.read(Buffer.alloc(16)));
  await pause(20);
  say({ inFlight: currentThread().inFlightCount });
}

await runCommand({
  /** Nothing is pending any more; one handle stays open, one deadline was armed and disarmed. */
  async idle() {
    const handle = await open(sampleFile());
    const { bytesRead } = await handle.read(Buffer.alloc(100), { timeout: 60_000 });
    say({ bytesRead });
  },

  /** Reads a FIFO (its path is the argument) that the parent writes to when it likes. */
  async waits() {
    const handle = await open(process.argv[3] ?? '', 'r+');
    say({ ready: true });
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(100));
    say({ text: buffer.toString('utf8', 0, bytesRead) });
  },

  async 'aborted-open'() {
    const controller = new AbortController();
    const opening = outcome(open(fifoPath(), 'r', null, { signal: controller.signal }));
    await pause(30);
    controller.abort();
    say({ outcome: await opening });
  },

  /** The promise of a read that was aborted is settled; nothing of it keeps the process. */
  async 'aborted-read'() {
    const controller = new AbortController();
    const handle = await open(fifoPath(), 'r+');
    const reading = outcome(handle.read(Buffer.alloc(10), { signal: controller.signal }));
    await pause(30);
    controller.abort();
    say({ outcome: await reading });
  },

  async 'exit-pending'() {
    await pendingReads(COUNT);
    process.exit(7);
  },

  /** Regular files: the pool and the kernel are busy with it at the very moment. */
  async 'exit-busy'() {
    const handle = await open(sampleFile(), 'r+');
    for (let started = 0; started < COUNT; started++) {
      void outcome(handle.write(Buffer.alloc(4096, started)));
      void outcome(handle.sync());
      void outcome(open('.'));
    }
    setImmediate(() => process.exit(7));
  },

  /** Nobody awaits; the process goes on until all is done. */
  async 'natural-busy'() {
    const handle = await open(sampleFile());
    let doneCount = 0;
    for (let started = 0; started < COUNT; started++) {
      void handle.read(Buffer.alloc(4096), 0, 4096, 0).then(() => doneCount++);
    }
    process.once('exit', () => say({ doneCount }));
  },

  async 'throws-pending'() {
    await pendingReads(COUNT);
    throw new Error('thrown with reads pending');
  },

  /** A process that ends by process.exit() in a handler of the pump itself. */
  async 'exit-in-handler'() {
    const handle = await open(sampleFile());
    await pendingReads(COUNT);
    void handle.read(Buffer.alloc(16)).then(() => process.exit(7));
  },

  async 'close-in-exit-handler'() {
    const handle = await open(sampleFile());
    const stats = await handle.stat();
    process.on('exit', () => {
      void handle.close();
      say({ size: stats.size });
    });
  },

  /** Holds a lock on a FIFO and has reads of it pending when it exits. */
  async lock() {
    const handle = await open(process.argv[3] ?? '', 'r+');
    const stdio = ['ignore', 'inherit', 'inherit', handle.fd] as const;
    const { status } = spawnSync('flock', ['--exclusive', '--nonblock', '3'], {
      stdio: [...stdio],
    });
    for (let started = 0; started < 10; started++) void outcome(handle.read(Buffer.alloc(16)));
    await until(() => currentThread().inFlightCount === 10);
    await pause(10);
    say({ status });
    process.exit(0);
  },
});
