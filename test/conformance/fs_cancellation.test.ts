// Fs conformance, cancellation: signals and timeouts of every function, before and during it.
// Invariants under test: an aborted call fails with the AbortError of its signal, a late one with
// ERR_OPERATION_TIMEOUT; no descriptor is left, no listener on the signal, nothing half done that
// the function promises to undo.
// Not here: the deadlines themselves (test/unit), many aborts in a row (integration).
import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import * as nodeFs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeFs, type FsLab } from '../support/fs_lab.ts';
import type { AnyFs } from '../support/fs_oracle.ts';

/** A call of each function with these options, on a folder that has `file`, `link` and `tree`. */
const CALLS: Readonly<
  Record<string, (fs: AnyFs, folder: string, options: object) => Promise<unknown>>
> = {
  access: (fs, f, options) => fs.access(`${f}/file`, 0, options),
  appendFile: (fs, f, options) => fs.appendFile(`${f}/file`, 'x', options),
  chmod: (fs, f, options) => fs.chmod(`${f}/file`, 0o600, options),
  chown: (fs, f, options) => fs.chown(`${f}/file`, -1, -1, options),
  copyFile: (fs, f, options) => fs.copyFile(`${f}/file`, `${f}/copy`, 0, options),
  lchown: (fs, f, options) => fs.lchown(`${f}/link`, -1, -1, options),
  link: (fs, f, options) => fs.link(`${f}/file`, `${f}/second`, options),
  lstat: (fs, f, options) => fs.lstat(`${f}/link`, options),
  lutimes: (fs, f, options) => fs.lutimes(`${f}/link`, 1, 1, options),
  mkdir: (fs, f, options) => fs.mkdir(`${f}/new`, options),
  'mkdir recursive': (fs, f, options) => fs.mkdir(`${f}/x/y`, { recursive: true, ...options }),
  mkdtemp: (fs, f, options) => fs.mkdtemp(`${f}/t-`, options),
  open: (fs, f, options) => fs.open(`${f}/file`, 'r', 0, options),
  readFile: (fs, f, options) => fs.readFile(`${f}/file`, options),
  readdir: (fs, f, options) => fs.readdir(f, options),
  'readdir recursive': (fs, f, options) => fs.readdir(f, { recursive: true, ...options }),
  readMany: (fs, f, options) => fs.readMany([`${f}/file`], options),
  readlink: (fs, f, options) => fs.readlink(`${f}/link`, options),
  realpath: (fs, f, options) => fs.realpath(`${f}/link`, options),
  rename: (fs, f, options) => fs.rename(`${f}/file`, `${f}/new`, options),
  rm: (fs, f, options) => fs.rm(`${f}/file`, options),
  'rm recursive': (fs, f, options) => fs.rm(`${f}/tree`, { recursive: true, ...options }),
  rmdir: (fs, f, options) => fs.rmdir(`${f}/tree/empty`, options),
  stat: (fs, f, options) => fs.stat(`${f}/file`, options),
  statMany: (fs, f, options) => fs.statMany([`${f}/file`], options),
  symlink: (fs, f, options) => fs.symlink('x', `${f}/new`, null, options),
  truncate: (fs, f, options) => fs.truncate(`${f}/file`, 1, options),
  unlink: (fs, f, options) => fs.unlink(`${f}/file`, options),
  utimes: (fs, f, options) => fs.utimes(`${f}/file`, 1, 1, options),
  writeFile: (fs, f, options) => fs.writeFile(`${f}/file`, 'x', options),
};

function fill(folder: string): void {
  nodeFs.writeFileSync(`${folder}/file`, 'content');
  nodeFs.symlinkSync('file', `${folder}/link`);
  nodeFs.mkdirSync(`${folder}/tree/empty`, { recursive: true });
  for (let index = 0; index < 200; index++) nodeFs.writeFileSync(`${folder}/tree/${index}`, '');
}

/** Lets everything that is in flight end. */
async function settle(lab: FsLab): Promise<void> {
  while (lab.thread.inFlightCount > 0) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

describeFs('fs cancellation', (lab) => {
  const ours = (): AnyFs => lab.fs as unknown as AnyFs;

  it('an aborted signal: nothing is started', async () => {
    fill(lab.folder);
    const reason = new Error('not any more');
    const signal = AbortSignal.abort(reason);
    for (const [name, call] of Object.entries(CALLS)) {
      const before = lab.submissionCount;
      const failed = { name: 'AbortError', code: 'ABORT_ERR', cause: reason };
      await expect(call(ours(), lab.folder, { signal }), name).rejects.toMatchObject(failed);
      lab.thread.pump();
      expect(lab.submissionCount, name).toBe(before);
    }
    expect(nodeFs.readdirSync(lab.folder).sort()).toEqual(['file', 'link', 'tree']);
  });

  describe('aborted while it is on its way', () => {
    for (const [name, call] of Object.entries(CALLS)) {
      it(`${name}`, async () => {
        fill(lab.folder);
        await settle(lab);
        const before = lab.openDescriptors();
        const control = new AbortController();
        const result = call(ours(), lab.folder, { signal: control.signal });
        const reason = new Error('changed my mind');
        control.abort(reason);
        // What is faster than the abort may succeed; nothing else may happen.
        const outcome = await result.then(
          () => 'done',
          (error: unknown) => error,
        );
        if (outcome !== 'done') {
          expect(outcome).toMatchObject({ name: 'AbortError', cause: reason });
        } else if (name === 'open') {
          await (await (result as Promise<{ close(): Promise<void> }>)).close();
        }
        await settle(lab);
        await lab.expectNoLeak(before);
        expect(getEventListeners(control.signal, 'abort')).toEqual([]);
      });
    }
  });

  describe('aborted between two steps', () => {
    for (const name of ['rm recursive', 'readdir recursive', 'mkdir recursive', 'copyFile']) {
      it(name, async () => {
        fill(lab.folder);
        nodeFs.writeFileSync(lab.path('file'), Buffer.alloc(1_000_000));
        await settle(lab);
        const before = lab.openDescriptors();
        for (let turns = 0; turns < 12; turns++) {
          nodeFs.mkdirSync(lab.path(`tree/turn-${turns}/inner`), { recursive: true });
          const control = new AbortController();
          const result = CALLS[name](ours(), lab.folder, { signal: control.signal });
          const outcome = result.then(
            () => 'done',
            (error: { name: string }) => error.name,
          );
          for (let turn = 0; turn < turns; turn++) {
            await new Promise((resolve) => setImmediate(resolve));
          }
          control.abort();
          expect(['done', 'AbortError']).toContain(await outcome);
          if (name === 'copyFile' && (await outcome) === 'AbortError') {
            // It was removed, or not even begun.
            await settle(lab);
            expect(nodeFs.existsSync(lab.path('copy'))).toBe(false);
          }
          nodeFs.rmSync(lab.path('copy'), { force: true });
          await settle(lab);
          await lab.expectNoLeak(before);
        }
      });
    }
  });

  it('a timeout stops what would wait, and says how long it was', async (context) => {
    if (lab.backend.name === 'simulated') context.skip('the simulation stops at a waiting open');
    if (lab.backend.name === 'node')
      context.skip('node cannot take an open back: its thread waits on');
    execFileSync('mkfifo', [lab.path('fifo')]);
    const before = lab.openDescriptors();
    const calls = [
      lab.fs.open(lab.path('fifo'), 'r', 0, { timeout: 20 }),
      lab.fs.readFile(lab.path('fifo'), { timeout: 20 }),
      lab.fs.copyFile(lab.path('fifo'), lab.path('copy'), 0, { timeout: 20 }),
    ];
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({
        name: 'TimeoutError',
        code: 'ERR_OPERATION_TIMEOUT',
        timeoutMs: 20,
      });
    }
    expect(nodeFs.existsSync(lab.path('copy'))).toBe(false);
    // open(2) cannot be taken back: those that still wait get their other side, and are closed.
    const { O_RDWR, O_NONBLOCK } = nodeFs.constants;
    const otherSide = nodeFs.openSync(lab.path('fifo'), O_RDWR | O_NONBLOCK);
    await settle(lab);
    nodeFs.closeSync(otherSide);
    await lab.expectNoLeak(before);
  });

  it('a timeout that is not needed leaves nothing behind', async () => {
    fill(lab.folder);
    for (const [name, call] of Object.entries(CALLS)) {
      if (/^(rm|unlink|rename)/.test(name)) continue;
      const result = await call(ours(), lab.folder, { timeout: 60_000 });
      if (name === 'open') await (result as { close(): Promise<void> }).close();
      if (name === 'mkdir') nodeFs.rmdirSync(lab.path('new'));
    }
    const { deadlineCount } = await import('../../lib/time/deadlines.ts');
    expect(deadlineCount()).toBe(0);
  });

  it('cancel() of a composite stops its steps', async () => {
    fill(lab.folder);
    const removal = lab.fs.rm(lab.path('tree'), { recursive: true });
    removal.cancel('no reason');
    await expect(removal).rejects.toMatchObject({ name: 'AbortError', cause: 'no reason' });
    removal.cancel();
    await settle(lab);
    expect(nodeFs.readdirSync(lab.path('tree')).length).toBeGreaterThan(0);
  });

  it('a stream of entries: by signal, by leaving the loop, by return()', async () => {
    fill(lab.folder);
    await settle(lab);
    const before = lab.openDescriptors();
    const control = new AbortController();
    const names: string[] = [];
    const read = async (): Promise<void> => {
      for await (const name of lab.fs.readdir(lab.path('tree'), { signal: control.signal })) {
        names.push(name);
        if (names.length === 5) control.abort();
      }
    };
    await expect(read()).rejects.toMatchObject({ name: 'AbortError' });
    expect(names).toHaveLength(5);
    for await (const name of lab.fs.readdir(lab.path('tree'))) {
      expect(name).toBeDefined();
      break;
    }
    const iterator = lab.fs.readdir(lab.path('tree'))[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.return?.();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    await settle(lab);
    await lab.expectNoLeak(before);
    expect(getEventListeners(control.signal, 'abort')).toEqual([]);
  });
});
