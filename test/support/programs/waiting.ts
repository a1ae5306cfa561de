// Operations that wait for another process, for long: what they leave to others, and what they
// cost. Not here: what is expected (test/integration/trouble_waiting.test.ts).
import { writeFileSync } from 'node:fs';
import { open, readFile } from '../../../lib/fs.ts';
import { makeFifo, outcome, pause, runCommand, say } from './tools.ts';

const BULK_BYTES = 256 * 1024;

await runCommand({
  /** More large reads of an empty FIFO than the pool has chunks of that size. */
  async chunks() {
    const fifo = await open(makeFifo(`chunks-${process.pid}`), 'r+');
    for (let count = 0; count < 400; count++) void outcome(fifo.read(Buffer.alloc(BULK_BYTES)));
    await pause(50);
    const path = `file-${process.pid}`;
    writeFileSync(path, Buffer.alloc(2 * BULK_BYTES));
    const file = await open(path, 'r+');
    const starved = pause(3000).then(() => 'starved');
    say({
      small: await Promise.race([outcome(file.read(Buffer.alloc(100))), starved]),
      bulk: await Promise.race([outcome(file.read(Buffer.alloc(BULK_BYTES))), starved]),
      write: await Promise.race([outcome(file.write(Buffer.alloc(BULK_BYTES))), starved]),
      whole: await Promise.race([outcome(readFile(path)), starved]),
    });
    process.exit(0);
  },

  /** Reads with timeouts, opens that were given up: how much processor time does waiting take? */
  async idle() {
    const fifo = await open(makeFifo(`idle-${process.pid}`), 'r+');
    for (let count = 0; count < 100; count++) {
      void outcome(fifo.read(Buffer.alloc(100), { timeout: 60_000 }));
    }
    const lonely = makeFifo(`lonely-${process.pid}`);
    const controller = new AbortController();
    const { signal } = controller;
    for (let count = 0; count < 10; count++) void outcome(open(lonely, 'r', null, { signal }));
    await pause(50);
    controller.abort();
    await pause(100);
    const before = process.cpuUsage();
    await pause(500);
    const { user, system } = process.cpuUsage(before);
    say({ cpuMs: Math.round((user + system) / 1000) });
    process.exit(0);
  },
});
