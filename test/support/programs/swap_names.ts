// Swap names: a worker that replaces names as fast as it can, until it is told to stop: a directory
// and a file by links that lead out, and back.
// Data: { folder, stop }: `stop` is shared, 1 ends it; it answers with how often it has swapped.
// Not here: who uses the names meanwhile (test/integration/file_authority_races.test.ts).
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const { folder, stop } = workerData as { folder: string; stop: Int32Array };
const at = (name: string): string => `${folder}/${name}`;

symlinkSync('../outside', at('linkdir'));
parentPort?.postMessage('ready');

// dir: directory -> link -> directory; leaf: file -> link -> file. Links replace atomically.
function swap(): void {
  renameSync(at('dir'), at('spare2'));
  renameSync(at('linkdir'), at('dir'));
  symlinkSync('../outside/secret', at('next'));
  renameSync(at('next'), at('leaf'));
  renameSync(at('dir'), at('linkdir'));
  renameSync(at('spare2'), at('dir'));
  writeFileSync(at('next'), 'file');
  renameSync(at('next'), at('leaf'));
}

// Whoever uses the names renames and removes them too, between any two steps.
function repair(): void {
  for (const name of ['dir', 'spare2', 'linkdir', 'next']) {
    rmSync(at(name), { recursive: true, force: true });
  }
  mkdirSync(at('dir/sub'), { recursive: true });
  symlinkSync('../outside', at('linkdir'));
}

let swapCount = 0;
while (Atomics.load(stop, 0) === 0) {
  try {
    swap();
    swapCount++;
  } catch {
    try {
      repair();
    } catch {
      // In the next round.
    }
  }
}
parentPort?.postMessage(swapCount);
