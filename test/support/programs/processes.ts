// A process among others: children while operations run, another user's rights, signals, threads.
// Run as a child by the integration tests: one command each, which prints what it saw as JSON.
import assert from 'node:assert/strict';
import { fork, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open, readFile, rename, stat } from '../../../lib/fs.ts';
import { backend } from '../../../lib/index.ts';
import { runFileSuite } from './file_suite.ts';
import {
  descriptorCount,
  makeFifo,
  openWriter,
  outcome,
  pause,
  runCommand,
  say,
  threadCount,
  until,
} from './tools.ts';

const BLOCK = 4096;

function sampleFile(): string {
  const path = `sample-${process.pid}`;
  const data = Buffer.alloc(256 * BLOCK);
  for (let block = 0; block < 256; block++) data.fill(block, block * BLOCK, (block + 1) * BLOCK);
  writeFileSync(path, data);
  return path;
}

/** Keeps `depth` verified reads in flight until told to stop; gives how many there were. */
async function readLoad(path: string, depth: number, isOver: () => boolean): Promise<number> {
  const handle = await open(path);
  const expected = Array.from({ length: 256 }, (_, block) => Buffer.alloc(BLOCK, block));
  let readCount = 0;
  const lanes = Array.from({ length: depth }, async (_, lane) => {
    const buffer = Buffer.alloc(BLOCK);
    for (let block = lane; !isOver(); block = (block + 7) % 256) {
      const { bytesRead } = await handle.read(buffer, 0, BLOCK, block * BLOCK);
      assert.equal(bytesRead, BLOCK);
      assert.ok(buffer.equals(expected[block] ?? buffer.subarray(1)));
      readCount++;
    }
  });
  await Promise.all(lanes);
  await handle.close();
  return readCount;
}

function exitOf(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => resolve(code)).once('error', reject);
  });
}

/** What a child of this process has open. */
function childDescriptors(): string[] {
  return spawnSync('ls', ['/proc/self/fd'], { encoding: 'utf8' }).stdout.trim().split('\n');
}

await runCommand({
  /**
   * Children of every kind while reads run: the reads stay right, a child has none of our files.
   */
  async children() {
    const before = childDescriptors();
    const path = sampleFile();
    let isOver = false;
    const load = readLoad(path, 32, () => isOver);
    const fifo = await open(makeFifo(`children-${process.pid}`), 'r+');
    const pending = fifo.read(Buffer.alloc(10));
    const codes: (number | null)[] = [];
    codes.push(await exitOf(fork(new URL(import.meta.url), ['grandchild', path])));
    for (let round = 0; round < 10; round++) codes.push(await exitOf(spawn('true')));
    const inherited = childDescriptors().filter((fd) => !before.includes(fd));
    isOver = true;
    const readCount = await load;
    await fifo.write('still here');
    const { bytesRead } = await pending;
    await fifo.close();
    say({ codes: [...new Set(codes)], inherited, hasRead: readCount > 0, bytesRead });
  },

  /** Run by `children`: a ring of its own, and the parent's is not there. */
  async grandchild() {
    const path = process.argv[3] ?? '';
    const data = await readFile(path);
    assert.equal(data.length, 256 * BLOCK);
    await readLoad(path, 8, () => true);
    process.disconnect();
  },

  /** Root starts everything, then gives up its rights. */
  async setuid() {
    const secret = `secret-${process.pid}`;
    writeFileSync(secret, 'for root only', { mode: 0o600 });
    writeFileSync('public', 'for all', { mode: 0o644 });
    const asRoot = await outcome(readFile(secret));
    // Threads of the pools exist, and one of them waits in a FIFO's open.
    const fifo = makeFifo(`setuid-${process.pid}`);
    const opening = open(fifo, 'r');
    await Promise.all(Array.from({ length: 20 }, () => rename('public', 'public')));
    await pause(20);
    process.setgroups?.([]);
    process.setgid?.(65534);
    process.setuid?.(65534);
    const after = {
      open: await outcome(open(secret)),
      'open again': await outcome(open(secret)),
      readFile: await outcome(readFile(secret)),
      create: await outcome(open(join(process.cwd(), 'private', 'x'), 'w')),
      'stat is allowed': await outcome(stat(secret)),
      'public is allowed': await outcome(readFile('public')),
    };
    closeSync(await openWriter(fifo));
    await (await opening).close();
    say({ asRoot, after });
  },

  /** Everything in the suite, again and again, while signals interrupt it. */
  async storm() {
    const endMs = performance.now() + Number(process.argv[3]);
    let roundCount = 0;
    while (performance.now() < endMs) {
      const folder = mkdtempSync(join(process.cwd(), 'storm-'));
      await runFileSuite(folder, makeFifo(join(folder, 'fifo')));
      rmSync(folder, { recursive: true });
      roundCount++;
    }
    say({ name: backend().name, hasRun: roundCount > 0 });
  },

  /** Ten thousand operations at once, forty of which wait for another process. */
  async threads() {
    const path = sampleFile();
    const fifo = makeFifo(`threads-${process.pid}`);
    const threadsBefore = threadCount();
    const descriptorsBefore = descriptorCount();
    const waiting = Array.from({ length: 40 }, () => open(fifo, 'r'));
    const handle = await open(path, 'r+');
    let threadsMost = 0;
    const timer = setInterval(() => {
      threadsMost = Math.max(threadsMost, threadCount());
    }, 1);
    const all: PromiseLike<unknown>[] = [];
    for (let index = 0; index < 3300; index++) {
      all.push(stat(path), handle.sync());
      all.push(open(path).then((opened) => opened.close()));
    }
    await Promise.all(all);
    clearInterval(timer);
    await handle.close();
    const writer = await openWriter(fifo);
    const handles = await Promise.all(waiting);
    await Promise.all(handles.map((opened) => opened.close()));
    closeSync(writer);
    await until(() => descriptorCount() <= descriptorsBefore + 3);
    const addedCount = Math.max(threadsMost, threadCount()) - threadsBefore;
    say({ addedCount, leaked: Math.max(0, descriptorCount() - descriptorsBefore - 3) });
  },
});
