// Which files a generator task may name is its own, whatever restricted async task has woken it or
// made the functions that it calls. Not here: stores (async_context.test.ts).
import { AsyncResource } from 'node:async_hooks';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readFile } from '../../../lib/fs.ts';
import { Runtime, sleep, waitToken } from '../../../lib/index.ts';

const NOTHING = { capabilities: { files: [] } };
let rt: Runtime;
let folder: string;
let path: string;
beforeEach(async () => {
  rt = await Runtime.start();
  folder = await mkdtemp(join(tmpdir(), 'nephrite-authority-'));
  path = join(folder, 'file');
  await writeFile(path, 'text');
});
afterEach(async () => {
  await rt.close({ deadline: 0 });
  await rm(folder, { recursive: true });
});

// First in the file: the reader must be spawned before any async context was entered.
it('an unrestricted task in a turn that a restricted async one has armed', async () => {
  const token = waitToken();
  const reader = rt.spawn(function* () {
    yield* token.wait();
    return String(yield* readFile(path));
  });
  await new Promise((resolve) => setImmediate(resolve));
  await rt.with(NOTHING).run(async () => {
    await sleep(1);
    token.wake();
  });
  expect(await reader.join()).toBe('text');
});

it('an unrestricted task that calls a function bound to the context of a restricted one', async () => {
  const bound = await rt.with(NOTHING).run(async () => {
    await sleep(1);
    return AsyncResource.bind(() => readFile(path));
  });
  const read = rt.run(function* () {
    return String(yield* bound());
  });
  expect(await read).toBe('text');
});
