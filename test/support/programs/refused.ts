// Under a filter or a limit: which backend is chosen, what is refused and why, and whether files
// still work; on the main thread and on workers.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { chmod, open } from '../../../lib/fs.ts';
import { backend } from '../../../lib/index.ts';
import { runFileSuite } from './file_suite.ts';
import { descriptorCount, makeFifo, runCommand, say } from './tools.ts';

interface Found {
  readonly name: string;
  readonly refused: unknown;
  readonly details: unknown;
  /** Descriptors that choosing and opening a backend left open. */
  readonly openedCount: number;
}

async function useFiles(fifo: string): Promise<Found> {
  const countBefore = descriptorCount();
  const { name, refused, details } = backend();
  const openedCount = descriptorCount() - countBefore;
  const folder = mkdtempSync(join(process.cwd(), 'suite-'));
  try {
    await runFileSuite(folder, fifo);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { name, refused, details, openedCount };
}

const fifoName = (index: number): string => `suite-fifo-${process.pid}-${index}`;

if (isMainThread) {
  await runCommand({
    async suite() {
      say(await useFiles(makeFifo(fifoName(0))));
    },

    async workers() {
      const found = Array.from({ length: 4 }, (_, index) => {
        const fifo = makeFifo(fifoName(index));
        return new Promise<Found>((resolve, reject) => {
          const worker = new Worker(new URL(import.meta.url), { workerData: fifo });
          worker.once('message', resolve).once('error', reject);
        });
      });
      say({ found: await Promise.all(found) });
    },

    /** RLIMIT_NPROC comes down before io_uring has had a reason to start a worker of its own. */
    async 'no-more-threads'() {
      const folder = mkdtempSync(join(process.cwd(), 'threads-'));
      try {
        const file = await open(join(folder, 'file'), 'w');
        await chmod(join(folder, 'file'), 0o600); // the pool has its thread now
        const args = ['--pid', String(process.pid), '--nproc=1:1'];
        const { status } = spawnSync('prlimit', args);
        const mayStartProcess = spawnSync('true').error === undefined;
        await file.write('jade');
        await file.sync();
        await file.close();
        say({ name: backend().name, status, mayStartProcess });
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },

    /** Names io_uring through the environment: what does the user read? */
    named() {
      try {
        say({ name: backend().name });
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        say({ code, message });
      }
    },
  });
} else {
  parentPort?.postMessage(await useFiles(workerData as string));
}
