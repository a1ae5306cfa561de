// File authority while names are replaced: another thread swaps a directory and a file for links
// that lead out, as fast as it can, and a restricted caller uses both names meanwhile.
// Method: real parallelism (a worker); the outside is compared at the end, and no content of it may
// ever come back. That both outcomes occur (allowed and refused) is asserted, or nothing was tried.
// Not here: names that stay (file_authority.test.ts).
import * as nodeFs from 'node:fs';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { buildSync } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { describeFs } from '../support/fs_lab.ts';
import { type AnyFs, snapshot } from '../support/fs_oracle.ts';
import { Restriction } from '../support/restriction.ts';
import { ROOT } from '../support/root.ts';

const ROUNDS = 60;
const SECRET = 'secret of the outside';

type Attack = (fs: AnyFs, path: (name: string) => string, round: number) => Promise<unknown>;

const ATTACKS: readonly Attack[] = [
  (fs, path) => fs.readFile(path('leaf'), 'utf8'),
  (fs, path) => fs.readFile(path('dir/secret'), 'utf8'),
  (fs, path) => fs.readMany([path('leaf'), path('dir/secret'), path('dir/../dir/secret')], 'utf8'),
  (fs, path) => fs.writeFile(path('leaf'), 'file'),
  (fs, path) => fs.writeFile(path('dir/secret'), 'file'),
  (fs, path) => fs.writeFile(path('dir/new'), 'file', { flag: 'wx' }),
  (fs, path) => fs.appendFile(path('leaf'), 'file'),
  (fs, path) => fs.truncate(path('dir/secret')),
  (fs, path) => fs.truncate(path('leaf')),
  (fs, path) => fs.chmod(path('leaf'), 0o600),
  (fs, path) => fs.utimes(path('leaf'), 1, 1),
  (fs, path, round) => fs.mkdir(path(`dir/made${round}`)),
  (fs, path, round) => fs.mkdir(path(`dir/made${round}/deep/er`), { recursive: true }),
  (fs, path) => fs.mkdtemp(path('dir/made')),
  (fs, path) => fs.rename(path('mine'), path('dir/mine')),
  (fs, path) => fs.rename(path('dir/mine'), path('mine')),
  (fs, path) => fs.link(path('leaf'), path('dir/linked')),
  (fs, path) => fs.link(path('dir/secret'), path('stolen')),
  (fs, path) => fs.symlink('x', path('dir/x')),
  (fs, path) => fs.unlink(path('dir/secret')),
  (fs, path) => fs.rm(path('dir/sub'), { recursive: true, force: true }),
  (fs, path) => fs.copyFile(path('leaf'), path('copy')),
  (fs, path) => fs.copyFile(path('mine'), path('dir/secret')),
  (fs, path) => fs.readdir(path('dir'), { recursive: true }),
  (fs, path) => fs.realpath(path('dir')),
  (fs, path) => fs.stat(path('leaf')).then((stats) => (stats as nodeFs.Stats).size),
  (fs, path) => fs.open(path('dir'), constants.O_DIRECTORY).then(listAndClose),
];

async function listAndClose(handle: unknown): Promise<unknown> {
  const file = handle as { fd: number; close(): Promise<void> };
  try {
    return nodeFs.readlinkSync(`/proc/self/fd/${file.fd}`);
  } finally {
    await file.close();
  }
}

/** Whether a value tells something of the outside. */
function tellsOutside(value: unknown, outside: string): boolean {
  if (value === SECRET.length) return true;
  const text = JSON.stringify(value) ?? '';
  return text.includes(SECRET) || text.includes(outside) || text.includes('only-outside');
}

describeFs('file authority in races', (lab) => {
  let restriction: Restriction;
  beforeAll(async () => {
    restriction = await Restriction.load();
  });

  it.skipIf(process.platform !== 'linux')(
    'whatever replaces the names',
    async () => {
      const outside = lab.path('outside');
      nodeFs.mkdirSync(lab.path('inside/dir/sub'), { recursive: true });
      nodeFs.mkdirSync(`${outside}/sub/only-outside`, { recursive: true });
      nodeFs.writeFileSync(`${outside}/secret`, SECRET);
      nodeFs.writeFileSync(lab.path('inside/leaf'), 'file');
      nodeFs.writeFileSync(lab.path('inside/mine'), 'mine');
      const before = snapshot(outside);
      const program = join(lab.folder, 'swap_names.mjs');
      const entry = join(ROOT, 'test', 'support', 'programs', 'swap_names.ts');
      buildSync({
        entryPoints: [entry],
        outfile: program,
        bundle: true,
        format: 'esm',
        platform: 'node',
      });
      const stop = new Int32Array(new SharedArrayBuffer(4));
      const workerData = { folder: lab.path('inside'), stop };
      const worker = new Worker(program, { workerData });
      // It may fail at any time, also while nobody waits for a message.
      const failed = new Promise<never>((_, reject) => worker.once('error', reject));
      failed.catch(() => {});
      const message = (): Promise<unknown> =>
        Promise.race([failed, new Promise((resolve) => worker.once('message', resolve))]);
      await message();
      const authority = restriction.authority({ path: lab.path('inside'), write: true });
      const fs = restriction.wrap(lab.fs, () => authority) as unknown as AnyFs;
      const path = (name: string): string => `${lab.folder}/inside/${name}`;
      const counts: Record<string, number> = { allowed: 0 };
      for (let round = 0; round < ROUNDS; round++) {
        const outcomes = await Promise.allSettled(ATTACKS.map((attack) => attack(fs, path, round)));
        for (const [at, outcome] of outcomes.entries()) {
          if (outcome.status === 'rejected') {
            const { code } = outcome.reason as { code: string };
            counts[code] = (counts[code] ?? 0) + 1;
            continue;
          }
          counts.allowed++;
          expect(tellsOutside(outcome.value, outside), `${ATTACKS[at]}`).toBe(false);
        }
        if (!nodeFs.existsSync(path('mine'))) nodeFs.writeFileSync(path('mine'), 'mine');
      }
      const swapped = message();
      Atomics.store(stop, 0, 1);
      expect(await swapped).toBeGreaterThan(ROUNDS);
      await worker.terminate();
      expect(snapshot(outside)).toEqual(before);
      expect(counts.allowed).toBeGreaterThan(ROUNDS);
      expect(counts.ERR_CAPABILITY_DENIED).toBeGreaterThan(0);
      if (process.env.NEPHRITE_SHOW) console.log(lab.backend.name, counts);
    },
    60_000,
  );
});
