// Cancellations, timeouts and completions that meet at the same moment, many thousand times.
// Data is numbered, so that a lost, doubled or misplaced byte shows. A second settlement would
// break an invariant and end the process.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { Prng } from '../../../lib/base/prng.ts';
import * as fs from '../../../lib/fs.ts';
import { configure, type Operation } from '../../../lib/index.ts';
import { descriptorCount, makeFifo, outcome, pause, runCommand, say, until } from './tools.ts';

const COUNT = Number(process.argv[3] ?? 1000);
const random = new Prng(Number(process.argv[4] ?? 1));

/** Waits a random short while: not at all, a microtask, a tick, a turn, or a few. */
async function jitter(): Promise<void> {
  const kind = random.nextBelow(5);
  if (kind === 1) await null;
  else if (kind === 2) await new Promise<void>((resolve) => process.nextTick(resolve));
  else if (kind > 2) {
    for (let turn = random.nextBelow(3); turn >= 0; turn--) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

interface Numbered {
  readonly handle: fs.FileHandle;
  send(): void;
  /** Reads one number without any cancellation. */
  receive(): Promise<number>;
  end(): Promise<void>;
}

/** A FIFO through which numbers of four bytes go. */
async function numbers(): Promise<Numbered> {
  const path = makeFifo(`numbers-${process.pid}`);
  const handle = await fs.open(path, 'r+');
  const writer = openSync(path, constants.O_WRONLY);
  const message = Buffer.alloc(4);
  let sentCount = 0;
  return {
    handle,
    send() {
      message.writeUInt32LE(sentCount++);
      writeSync(writer, message);
    },
    async receive() {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(4));
      assert.equal(bytesRead, 4);
      return buffer.readUInt32LE();
    },
    async end() {
      closeSync(writer);
      await handle.close();
    },
  };
}

/** Each round: one number is sent and one read is stopped, in some order. It arrives once. */
async function stopWhenDataComes(
  stopped: (
    handle: fs.FileHandle,
    buffer: Buffer,
  ) => { read: Operation<unknown>; stop?: () => void },
): Promise<Record<string, number>> {
  const channel = await numbers();
  const counts: Record<string, number> = { value: 0 };
  for (let expected = 0; expected < COUNT; expected++) {
    const buffer = Buffer.alloc(4);
    const { read, stop } = stopped(channel.handle, buffer);
    const ended = outcome(read);
    await jitter();
    if (random.nextBelow(2) === 0) {
      channel.send();
      await jitter();
      stop?.();
    } else {
      stop?.();
      await jitter();
      channel.send();
    }
    const code = await ended;
    counts[code] = (counts[code] ?? 0) + 1;
    const received = code === 'value' ? buffer.readUInt32LE() : await channel.receive();
    assert.equal(received, expected);
  }
  await channel.end();
  return counts;
}

/** Starts opens and aborts them; no descriptor stays. `width` at a time. */
async function abortOpens(path: string, width: number): Promise<Record<string, unknown>> {
  await fs.stat('.');
  const before = descriptorCount();
  const counts: Record<string, number> = {};
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started++ < COUNT) {
      const controller = new AbortController();
      const opening = fs.open(path, 'r', null, { signal: controller.signal });
      const ended = outcome(opening.then((handle) => handle.close()));
      await jitter();
      controller.abort();
      const code = await ended;
      counts[code] = (counts[code] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  // Opens that still wait in the pool come back when the FIFO is opened both ways.
  closeSync(openSync(path, 'r+'));
  const isFlat = await until(() => descriptorCount() <= before);
  return { counts, isFlat };
}

const BLOCK = 512;
const BLOCKS = 128;

/** Files whose blocks name their file and place. */
function placedFile(name: string, file: number): string {
  const data = Buffer.alloc(BLOCK * BLOCKS);
  for (let block = 0; block < BLOCKS; block++)
    data.writeUInt32LE(file * 1000 + block, block * BLOCK);
  writeFileSync(name, data);
  return name;
}

/** Few slots, used again at once by other operations; half of them are cancelled at some time. */
async function slotReuse(): Promise<Record<string, number>> {
  configure({ ring: { entries: 8, operations: 16 } });
  const handles = await Promise.all(
    [0, 1, 2].map((file) => fs.open(placedFile(`placed-${process.pid}-${file}`, file))),
  );
  const counts: Record<string, number> = { value: 0 };
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started++ < COUNT) {
      const file = random.nextBelow(handles.length);
      const block = random.nextBelow(BLOCKS);
      const buffer = Buffer.alloc(BLOCK, 0xff);
      const read = (handles[file] as fs.FileHandle).read(buffer, 0, BLOCK, block * BLOCK);
      const ended = outcome(read);
      const isCancelled = random.nextBelow(2) === 0;
      if (isCancelled) {
        await jitter();
        read.cancel();
      }
      const code = await ended;
      counts[code] = (counts[code] ?? 0) + 1;
      if (code === 'value') assert.equal(buffer.readUInt32LE(), file * 1000 + block);
      else assert.ok(isCancelled);
    }
  };
  await Promise.all(Array.from({ length: 40 }, lane));
  await Promise.all(handles.map((handle) => handle.close()));
  return counts;
}

/** Whole calls of many entries, stopped somewhere in the middle: done, or an AbortError. */
async function stopAnywhere(): Promise<Record<string, number>> {
  await fs.stat('.');
  const before = descriptorCount();
  const folder = `any-${process.pid}`;
  const data = Buffer.alloc(700_000, 'd');
  writeFileSync(folder, data);
  const calls: readonly ((signal: AbortSignal, at: number) => PromiseLike<unknown>)[] = [
    (signal) => fs.readFile(folder, { signal }),
    (signal, at) => fs.writeFile(`${folder}-w${at % 8}`, data, { signal, flush: true }),
    (signal, at) => fs.appendFile(`${folder}-a${at % 8}`, 'x', { signal, flush: true }),
    (signal, at) => fs.copyFile(folder, `${folder}-c${at % 8}`, 0, { signal }),
    (signal) => fs.stat(folder, { signal }),
    (signal) => fs.readdir('.', { signal }),
    (signal) => fs.statMany([folder, folder, folder], { signal }),
  ];
  const counts: Record<string, number> = {};
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started++ < COUNT) {
      const controller = new AbortController();
      const call = calls[random.nextBelow(calls.length)];
      const ended = outcome(call?.(controller.signal, started) ?? Promise.resolve());
      for (let times = random.nextBelow(6); times > 0; times--) await jitter();
      controller.abort();
      const code = await ended;
      counts[code] = (counts[code] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  const isFlat = await until(() => descriptorCount() <= before);
  return { ...counts, leaked: isFlat ? 0 : descriptorCount() - before };
}

/** Any number of operations behind one signal: one listener, none when they are done. */
async function oneSignal(): Promise<Record<string, unknown>> {
  const { signal } = new AbortController();
  const listeners = (): number => getEventListeners(signal, 'abort').length;
  const handle = await fs.open(placedFile(`signal-${process.pid}`, 0));
  const buffers = Array.from({ length: 64 }, () => Buffer.alloc(16));
  let mostListeners = 0;
  const round = async (): Promise<void> => {
    const reads = buffers.map((buffer) =>
      handle.read(buffer, { position: 0, signal, timeout: 60_000 }),
    );
    mostListeners = Math.max(mostListeners, listeners());
    await Promise.all(reads);
  };
  for (let done = 0; done < COUNT / 2; done += 64) await round();
  globalThis.gc?.();
  const before = process.memoryUsage();
  for (let done = 0; done < COUNT / 2; done += 64) await round();
  globalThis.gc?.();
  const after = process.memoryUsage();
  const heapAddedMiB = Math.round((after.heapUsed - before.heapUsed) / 2 ** 20);
  const rssAddedMiB = Math.round((after.rss - before.rss) / 2 ** 20);
  await handle.close();
  return { mostListeners, listenersLeft: listeners(), heapAddedMiB, rssAddedMiB };
}

/** Writes of one signal to full pipes: each error tells its own bytesWritten. */
async function sharedSignal(): Promise<Record<string, unknown>> {
  const controller = new AbortController();
  const { signal } = controller;
  const handles = await Promise.all(
    ['a', 'b'].map((name) => fs.open(makeFifo(`${name}-${process.pid}`), 'r+')),
  );
  // The second pipe is filled but for a page.
  await (handles[1] as fs.FileHandle).write(Buffer.alloc(61440));
  const ends = handles.map((handle) =>
    handle.write(Buffer.alloc(200_000), { signal }).then(
      () => -1,
      (error: { bytesWritten?: number }) => error.bytesWritten ?? -1,
    ),
  );
  await pause(50);
  controller.abort();
  const [first, second] = await Promise.all(ends);
  await Promise.all(handles.map((handle) => handle.close()));
  return { first, second };
}

await runCommand({
  async aborts() {
    const counts = await stopWhenDataComes((handle, buffer) => {
      const controller = new AbortController();
      const read = handle.read(buffer, { signal: controller.signal });
      return { read, stop: () => controller.abort() };
    });
    say(counts);
  },

  /** The number is sent at about the time when the timeout expires. */
  async timeouts() {
    const channel = await numbers();
    const counts: Record<string, number> = { value: 0 };
    for (let expected = 0; expected < COUNT; expected++) {
      const buffer = Buffer.alloc(4);
      const ended = outcome(channel.handle.read(buffer, { timeout: 2 }));
      const sendMs = performance.now() + 1.5 + random.nextFraction() * 1.5;
      while (performance.now() < sendMs)
        await new Promise<void>((resolve) => setImmediate(resolve));
      channel.send();
      const code = await ended;
      counts[code] = (counts[code] ?? 0) + 1;
      const received = code === 'value' ? buffer.readUInt32LE() : await channel.receive();
      assert.equal(received, expected);
    }
    await channel.end();
    say(counts);
  },

  async 'open-file'() {
    say(await abortOpens(placedFile(`open-${process.pid}`, 1), 64));
  },

  async 'open-fifo'() {
    say(await abortOpens(makeFifo(`open-${process.pid}`), 64));
  },

  'slot-reuse': async () => say(await slotReuse()),
  anywhere: async () => say(await stopAnywhere()),
  'one-signal': async () => say(await oneSignal()),
  'shared-signal': async () => say(await sharedSignal()),
});
