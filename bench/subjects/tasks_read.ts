// Tasks that read files: `depth` tasks, each waiting with `yield*` for one 4 KiB read after the
// other. The counterpart is readLoop in promises.ts, line for line, with `await`.
// Not here: the case (cases/tasks_read.ts).
import { performance } from 'node:perf_hooks';
import { type AllocateBuffers, openFlags } from './memory.ts';
import { asWords, expectBytes, type RunState } from './run_state.ts';
import type { IndexApi } from './tasks_nephrite.ts';

type FsApi = typeof import('../../lib/fs.ts');
type FileHandle = Awaited<ReturnType<FsApi['open']>>;
type TaskGenerator<T> = import('../../lib/index.ts').TaskGenerator<T>;

export async function runTasksRead(
  fs: FsApi,
  index: IndexApi,
  allocate: AllocateBuffers,
  run: RunState,
): Promise<void> {
  const { spawn } = index;
  const { path, depth } = run.request;
  const buffers = allocate(run.request);
  await spawn(function* () {
    const file = yield* fs.open(path, openFlags(run.request));
    try {
      run.begin();
      const tasks = Array.from({ length: depth }, (_, i) => spawn(readTask, file, buffers[i], run));
      for (const task of tasks) yield* task.join();
      run.end();
    } finally {
      yield* file.close();
    }
  }).join();
}

function* readTask(file: FileHandle, buffer: Uint8Array, run: RunState): TaskGenerator<void> {
  const { ops, blockBytes } = run.request;
  const words = asWords(buffer);
  while (run.next < ops) {
    const opIndex = run.next++;
    const timed = run.isTimed(opIndex);
    const startedMs = timed ? performance.now() : 0;
    const position = run.sequence[opIndex] * blockBytes;
    const { bytesRead } = yield* file.read(buffer, 0, blockBytes, position);
    expectBytes(bytesRead, blockBytes);
    run.addRead(words);
    if (timed) run.addSample(startedMs);
  }
}
