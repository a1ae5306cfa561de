// Explicit parallelism: suspension creates no task, spawn does. Both files are read at the same
// time; `first` may fail before anybody joins it, and the failure is thrown at the join.
// Run: node scripts/run_ts.js examples/seed_spawn_join.ts FILE FILE
import { pathToFileURL } from 'node:url';
import { readFile } from '../lib/fs.ts';
import { Runtime, spawn, type TaskGenerator } from '../lib/index.ts';

export function* load(path: string): TaskGenerator<string> {
  return yield* readFile(path, 'utf8');
}

export function* loadBoth(pathA: string, pathB: string): TaskGenerator<[string, string]> {
  const first = spawn(load, pathA);
  const b = yield* load(pathB);
  const a = yield* first.join();
  return [a, b];
}

export async function main(pathA: string, pathB: string): Promise<[string, string]> {
  await using runtime = await Runtime.start();
  return await runtime.run(loadBoth, pathA, pathB);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(await main(process.argv[2], process.argv[3]));
}
