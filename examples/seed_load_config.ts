// Transparent suspension, as far as generators go: loadConfig() reads like straight code and may
// suspend the task at the read; only the mark `yield*` is JavaScript's.
// Run: node scripts/run_ts.js examples/seed_load_config.ts FILE
import { pathToFileURL } from 'node:url';
import { readFile } from '../lib/fs.ts';
import { Runtime, type TaskGenerator } from '../lib/index.ts';

export interface Config {
  readonly host: string;
  readonly workers: number;
}

function parseConfig(text: string): Config {
  const { host, workers } = JSON.parse(text) as Record<string, unknown>;
  if (typeof host !== 'string') throw new TypeError('config: host must be a string');
  if (typeof workers !== 'number') throw new TypeError('config: workers must be a number');
  return { host, workers };
}

/** An error of the read, or of the text, is thrown here and seen by whoever calls. */
export function* loadConfig(path: string): TaskGenerator<Config> {
  const data = yield* readFile(path, 'utf8');
  return parseConfig(data);
}

export async function main(path: string): Promise<Config> {
  await using runtime = await Runtime.start();
  return await runtime.run(loadConfig, path);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(await main(process.argv[2]));
}
