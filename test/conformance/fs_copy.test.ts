// Fs conformance, copyFile: against Node's, and where we go further (files without a size).
// Method: fs_oracle.ts. Not here: cancellation (fs_cancellation.test.ts).
import { execFileSync } from 'node:child_process';
import * as nodeFs from 'node:fs';
import { constants } from 'node:fs';
import { expect, it } from 'vitest';
import { asOtherUser, otherDevice } from '../support/file_system_facts.ts';
import { describeFs } from '../support/fs_lab.ts';
import { type AnyFs, expectSame, expectSameError } from '../support/fs_oracle.ts';

type Call = (fs: AnyFs, folder: string) => Promise<unknown>;

const { COPYFILE_EXCL, COPYFILE_FICLONE, COPYFILE_FICLONE_FORCE } = constants;
const LARGE_BYTES = 3 * 256 * 1024 + 1234;

/** Every byte depends on its place. */
function pattern(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) buffer.writeUInt32LE((at * 2654435761) >>> 0, at);
  return buffer;
}

function fill(folder: string): void {
  nodeFs.writeFileSync(`${folder}/source`, pattern(5000), { mode: 0o751 });
  nodeFs.chmodSync(`${folder}/source`, 0o4751);
  nodeFs.writeFileSync(`${folder}/large`, pattern(LARGE_BYTES));
  nodeFs.writeFileSync(`${folder}/empty`, '');
  nodeFs.writeFileSync(`${folder}/target`, pattern(9000), { mode: 0o600 });
  nodeFs.linkSync(`${folder}/source`, `${folder}/second`);
  nodeFs.symlinkSync('source', `${folder}/link`);
  nodeFs.mkdirSync(`${folder}/folder`);
}

const WORKING: readonly (readonly [string, Call])[] = [
  ['to a new file', (fs, f) => fs.copyFile(`${f}/source`, `${f}/new`)],
  ['over a longer file', (fs, f) => fs.copyFile(`${f}/source`, `${f}/target`)],
  ['a large file', (fs, f) => fs.copyFile(`${f}/large`, `${f}/new`)],
  ['an empty file', (fs, f) => fs.copyFile(`${f}/empty`, `${f}/target`)],
  ['through a link', (fs, f) => fs.copyFile(`${f}/link`, `${f}/new`)],
  ['onto itself', (fs, f) => fs.copyFile(`${f}/source`, `${f}/source`)],
  ['onto itself by another name', (fs, f) => fs.copyFile(`${f}/source`, `${f}/second`)],
  ['onto itself through a link', (fs, f) => fs.copyFile(`${f}/link`, `${f}/source`)],
  ['with EXCL', (fs, f) => fs.copyFile(`${f}/source`, `${f}/new`, COPYFILE_EXCL)],
  ['with FICLONE', (fs, f) => fs.copyFile(`${f}/source`, `${f}/new`, COPYFILE_FICLONE)],
  ['mode null', (fs, f) => fs.copyFile(`${f}/source`, `${f}/new`, null)],
  ['bytes', (fs, f) => fs.copyFile(Buffer.from(`${f}/source`), Buffer.from(`${f}/new`))],
];

const FAILING: readonly (readonly [string, string, Call])[] = [
  ['nothing', 'ENOENT', (fs, f) => fs.copyFile(`${f}/no`, `${f}/new`)],
  ['into nothing', 'ENOENT', (fs, f) => fs.copyFile(`${f}/source`, `${f}/no/new`)],
  ['a directory', 'EISDIR', (fs, f) => fs.copyFile(`${f}/folder`, `${f}/new`)],
  ['to a directory', 'EISDIR', (fs, f) => fs.copyFile(`${f}/source`, `${f}/folder`)],
  ['below a file', 'ENOTDIR', (fs, f) => fs.copyFile(`${f}/source`, `${f}/empty/new`)],
  ['EXCL, taken', 'EEXIST', (fs, f) => fs.copyFile(`${f}/source`, `${f}/target`, COPYFILE_EXCL)],
  ['EXCL, itself', 'EEXIST', (fs, f) => fs.copyFile(`${f}/source`, `${f}/source`, COPYFILE_EXCL)],
];

describeFs('fs copyFile', (lab) => {
  for (const [name, call] of WORKING) {
    it(name, async () => {
      const { error } = await expectSame(lab, call, { setup: fill });
      expect(error).toBeUndefined();
    });
  }

  for (const [name, code, call] of FAILING) {
    it(`${name}: ${code}`, () => expectSameError(lab, code, call, { setup: fill }));
  }

  // Shared blocks where the file system can, the same error where it cannot; node has no clone.
  it('with FICLONE_FORCE', async (context) => {
    const clone: Call = (fs, f) => fs.copyFile(`${f}/source`, `${f}/new`, COPYFILE_FICLONE_FORCE);
    if (!lab.backend.isNative) {
      fill(lab.folder);
      await expect(clone(lab.fs as unknown as AnyFs, lab.folder)).rejects.toMatchObject({
        code: 'ENOTSUP',
        syscall: 'copyfile',
      });
      expect(nodeFs.existsSync(lab.path('new'))).toBe(false);
      return;
    }
    const { error } = await expectSame(lab, clone, { setup: fill });
    if (error === undefined) context.skip('this file system clones: no error to compare');
    expect(error?.code).toBe('ENOTSUP');
  });

  it('to another device', async (context) => {
    const device = otherDevice(lab.folder);
    if (device === null) context.skip('no second device here');
    const folder = nodeFs.mkdtempSync(`${device}/nephrite-copy-`);
    try {
      for (const bytes of [0, 1, 5000, LARGE_BYTES]) {
        const content = pattern(bytes);
        nodeFs.writeFileSync(lab.path('source'), content, { mode: 0o640 });
        await lab.fs.copyFile(lab.path('source'), `${folder}/copy`);
        expect(nodeFs.readFileSync(`${folder}/copy`).equals(content)).toBe(true);
        await lab.fs.copyFile(`${folder}/copy`, lab.path('back'));
        expect(nodeFs.readFileSync(lab.path('back')).equals(content)).toBe(true);
      }
    } finally {
      nodeFs.rmSync(folder, { recursive: true });
    }
  });

  // Node's copies nothing of them: their size is 0.
  it('files whose size the kernel does not know', async () => {
    for (const source of ['/proc/self/maps', '/proc/cpuinfo', '/proc/version']) {
      await lab.fs.copyFile(source, lab.path('copy'));
      const copied = nodeFs.readFileSync(lab.path('copy'), 'latin1');
      const expected = nodeFs.readFileSync(source, 'latin1');
      // The maps change while we look at them; what begins the same was read from the start.
      expect(copied.length).toBeGreaterThan(0);
      if (source !== '/proc/self/maps') expect(copied.length).toBe(expected.length);
      else expect(copied.length).toBeGreaterThan(4096);
      if (source === '/proc/version') expect(copied).toBe(expected);
    }
  });

  it('of a device nothing', async () => {
    await lab.fs.copyFile('/dev/zero', lab.path('copy'));
    expect(nodeFs.statSync(lab.path('copy')).size).toBe(0);
  });

  it('a pipe to its end', async (context) => {
    if (lab.backend.name === 'simulated') context.skip('the simulation stops at a waiting open');
    execFileSync('mkfifo', [lab.path('fifo')]);
    const content = pattern(300_000);
    const copy = lab.fs.copyFile(lab.path('fifo'), lab.path('copy'));
    await nodeFs.promises.writeFile(lab.path('fifo'), content);
    await copy;
    expect(nodeFs.readFileSync(lab.path('copy')).equals(content)).toBe(true);
  });

  it('a destination that cannot be filled is removed', async (context) => {
    fill(lab.folder);
    nodeFs.chmodSync(lab.folder, 0o777);
    nodeFs.chmodSync(lab.path('source'), 0o644);
    nodeFs.chmodSync(lab.path('target'), 0o666);
    // Not its owner: writing is allowed, setting the mode is not.
    const copy: Call = async (fs, folder) => {
      nodeFs.chmodSync(folder, 0o777);
      nodeFs.chmodSync(`${folder}/target`, 0o666);
      let result: unknown;
      const reason = await asOtherUser(async () => {
        result = await fs
          .copyFile(`${folder}/source`, `${folder}/target`)
          .catch((error: unknown) => ({ error }));
      });
      if (reason !== null) context.skip(reason);
      throw (result as { error: unknown }).error;
    };
    await expectSameError(lab, 'EPERM', copy, { setup: fill });
  });

  it('many at once, with a bounded number of descriptors', async () => {
    fill(lab.folder);
    const before = lab.openDescriptors();
    let most = 0;
    const copies = Array.from({ length: 300 }, async (_, index) => {
      await lab.fs.copyFile(lab.path('source'), lab.path(`copy-${index}`));
      most = Math.max(most, lab.openDescriptors());
    });
    await Promise.all(copies);
    expect(most).toBeLessThanOrEqual(before + 64);
    await lab.expectNoLeak(before);
    const expected = nodeFs.readFileSync(lab.path('source'));
    for (let index = 0; index < 300; index++) {
      expect(nodeFs.readFileSync(lab.path(`copy-${index}`)).equals(expected)).toBe(true);
    }
  });
});
