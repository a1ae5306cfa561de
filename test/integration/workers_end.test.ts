// Workers that end, by terminate() or by themselves, with operations in every state: no crash, no
// hang, no descriptor or thread left beyond the pool's bound, memory flat; many at once; two
// copies.
// Method: programs/workers.ts on each backend; counts grow with NEPHRITE_TEST_SCALE.
// Not here: how a process ends (exit_process.test.ts), outcomes per operation (test/lifecycle).
import { copyFileSync, mkdirSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { ChildLab } from '../support/child.ts';
import { describeChildBackends } from '../support/child_backends.ts';
import { describeSeed, SEED } from '../support/seed.ts';

const lab = new ChildLab('workers');
afterAll(() => lab.remove());

const SCALE = Number(process.env.NEPHRITE_TEST_SCALE ?? 1);
const TIMEOUT_MS = 20_000 * SCALE;
const CYCLES = 6 * SCALE;
// Threads that the machinery itself may add: the pool of files, io-wq workers not yet gone.
const MACHINERY_THREADS = 8;
const OPENS_PER_CYCLE = 2;
const WAITING_THREADS_MAX = 64 + 192;

const run = (args: readonly unknown[], backend = ''): Promise<Record<string, unknown>> =>
  lab.json('workers', { backend, args: args.map(String), timeoutMs: TIMEOUT_MS });

describeChildBackends('workers', (backend) => {
  // A FIFO's open or read that has begun holds one of libuv's four threads for ever.
  const itUnlessNode = backend === 'node' ? it.skip : it;
  const note = backend === 'node' ? ' (node:fs cannot take back what waits)' : '';

  it(
    'terminate() while completions pour in',
    async () => {
      const found = await run(['flood', CYCLES], backend);
      expect(found.leakedDescriptors).toBe(0);
      expect(found.addedThreads).toBeLessThanOrEqual(MACHINERY_THREADS);
    },
    TIMEOUT_MS,
  );

  // Node forgets a descriptor when its close is queued, and drops the queue at the end of a worker.
  const itUnlessForgotten = backend === 'node' ? it.skip : it;
  itUnlessForgotten(
    'fifty open files and sixty closes on their way: all are closed in the end',
    async () => {
      expect(await run(['files', CYCLES], backend)).toMatchObject({ leakedDescriptors: 0 });
    },
    TIMEOUT_MS,
  );

  itUnlessNode(
    `terminate() with reads, opens, direct reads, timers and signals pending${note}`,
    async () => {
      const found = await run(['everything', CYCLES], backend);
      expect(found.leakedDescriptors).toBe(0);
      // Opens that only a writer lets go.
      const stuckMost = Math.min(OPENS_PER_CYCLE * CYCLES, WAITING_THREADS_MAX);
      expect(found.addedThreads).toBeLessThanOrEqual(stuckMost + MACHINERY_THREADS);
    },
    TIMEOUT_MS,
  );

  itUnlessNode(
    `process.exit() in a worker with 120 operations pending${note}`,
    async () => {
      const found = await run(['exit-pending', CYCLES], backend);
      expect(found.leakedDescriptors).toBe(0);
      expect(found.addedThreads).toBeLessThanOrEqual(MACHINERY_THREADS);
    },
    TIMEOUT_MS,
  );

  itUnlessNode(
    `terminate() at any moment of its start or its work (${describeSeed})${note}`,
    async () => {
      expect(await run(['early', 9 * SCALE, SEED], backend)).toEqual({ leakedDescriptors: 0 });
    },
    TIMEOUT_MS,
  );

  itUnlessNode(
    `a worker that runs out of memory while completions come${note}`,
    async () => {
      const code = 'ERR_WORKER_OUT_OF_MEMORY';
      expect(await run(['out-of-memory'], backend)).toEqual({ code, bytes: true });
    },
    TIMEOUT_MS,
  );

  itUnlessNode(
    `a worker that died in 64 opens of a FIFO leaves room for others${note}`,
    async () => {
      expect(await run(['stuck-opens'], backend)).toEqual({ isOpen: true });
    },
  );
});

describe('workers: many', () => {
  it(
    'twenty at once: each loads the addon and reads a file',
    async () => {
      expect(await run(['at-once', 20])).toEqual({ count: 20 });
    },
    TIMEOUT_MS,
  );

  it(
    'one after the other: memory stays flat',
    async () => {
      const { addedMiB } = await run(['memory', 20 * SCALE]);
      expect(addedMiB).toBeLessThan(20);
    },
    TIMEOUT_MS,
  );
});

describe('workers: two copies of the package in one process', () => {
  it('both work, each with its own addon, and the process ends', async () => {
    const folder = lab.path('copy');
    mkdirSync(folder);
    const addonCopy = lab.path('copy/nephrite.node');
    copyFileSync(lab.addonPath, addonCopy);
    const bundle = lab.bundle('workers', folder);
    const { code, stdout, stderr } = await lab.run('workers', {
      args: ['two-copies', bundle, addonCopy],
    });
    expect(code, stderr).toBe(0);
    const [second, first] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string });
    expect(second).toMatchObject({ bytesRead: 6 });
    expect(first).toMatchObject({ name: second?.name });
  });
});
