// Fs conformance, rm: files, links and trees, against Node's, and what Node's does not bound.
// Method: fs_oracle.ts. Not here: cancellation (fs_cancellation.test.ts).
import * as nodeFs from 'node:fs';
import { expect, it } from 'vitest';
import { asOtherUser } from '../support/file_system_facts.ts';
import { describeFs } from '../support/fs_lab.ts';
import { type AnyFs, expectSame, expectSameError } from '../support/fs_oracle.ts';

type Call = (fs: AnyFs, folder: string) => Promise<unknown>;

const RAW = Buffer.from([0xe9, 0xff, 0x41]);
const TREE = { recursive: true };

function fill(folder: string): void {
  nodeFs.mkdirSync(`${folder}/tree/a/b/c`, { recursive: true });
  nodeFs.mkdirSync(`${folder}/tree/empty`);
  nodeFs.writeFileSync(`${folder}/kept`, 'kept');
  nodeFs.writeFileSync(`${folder}/tree/a/file`, '');
  nodeFs.writeFileSync(`${folder}/tree/a/b/c/deep`, '');
  nodeFs.writeFileSync(Buffer.concat([Buffer.from(`${folder}/tree/a/`), RAW]), '');
  nodeFs.symlinkSync('../kept', `${folder}/tree/out`);
  nodeFs.symlinkSync('..', `${folder}/tree/a/up`);
  nodeFs.symlinkSync('nowhere', `${folder}/tree/dangling`);
}

const WORKING: readonly (readonly [string, Call])[] = [
  ['a file', (fs, folder) => fs.rm(`${folder}/kept`)],
  ['a link', (fs, folder) => fs.rm(`${folder}/tree/out`)],
  ['a link to a directory, recursive', (fs, folder) => fs.rm(`${folder}/tree/a/up`, TREE)],
  ['a file, recursive', (fs, folder) => fs.rm(`${folder}/kept`, TREE)],
  ['a tree', (fs, folder) => fs.rm(`${folder}/tree`, TREE)],
  ['a tree by bytes', (fs, folder) => fs.rm(Buffer.from(`${folder}/tree`), TREE)],
  ['a tree with a slash', (fs, folder) => fs.rm(`${folder}/tree/`, TREE)],
  ['an empty directory, recursive', (fs, folder) => fs.rm(`${folder}/tree/empty`, TREE)],
  ['nothing, force', (fs, folder) => fs.rm(`${folder}/no`, { force: true })],
  ['nothing, force, recursive', (fs, f) => fs.rm(`${f}/no`, { force: true, ...TREE })],
];

const FAILING: readonly (readonly [string, string, Call])[] = [
  ['nothing', 'ENOENT', (fs, folder) => fs.rm(`${folder}/no`)],
  ['nothing, recursive', 'ENOENT', (fs, folder) => fs.rm(`${folder}/no`, TREE)],
  ['below a file', 'ENOTDIR', (fs, folder) => fs.rm(`${folder}/kept/x`, TREE)],
  ['below a file, force', 'ENOTDIR', (fs, f) => fs.rm(`${f}/kept/x`, { force: true })],
  ['a directory', 'ERR_FS_EISDIR', (fs, folder) => fs.rm(`${folder}/tree`)],
  ['an empty directory', 'ERR_FS_EISDIR', (fs, folder) => fs.rm(`${folder}/tree/empty`)],
  ['a directory, force', 'ERR_FS_EISDIR', (fs, f) => fs.rm(`${f}/tree`, { force: true })],
  ['a directory by bytes', 'ERR_FS_EISDIR', (fs, f) => fs.rm(Buffer.from(`${f}/tree`))],
];

describeFs('fs rm', (lab) => {
  for (const [name, call] of WORKING) {
    it(name, async () => {
      const { error } = await expectSame(lab, call, { setup: fill });
      expect(error).toBeUndefined();
    });
  }

  for (const [name, code, call] of FAILING) {
    it(`${name}: ${code}`, () => expectSameError(lab, code, call, { setup: fill }));
  }

  it('says that it is the directory, with what Node tells of it', async () => {
    fill(lab.folder);
    const info = { code: 'EISDIR', message: 'is a directory', syscall: 'rm', errno: 21 };
    await expect(lab.fs.rm(lab.path('tree'))).rejects.toMatchObject({
      info: { ...info, path: lab.path('tree') },
    });
  });

  it('a wide and deep tree, with a bounded number of descriptors', async () => {
    let deep = lab.path('tree');
    for (let depth = 0; depth < 25; depth++) {
      for (let index = 0; index < 4; index++) {
        nodeFs.mkdirSync(`${deep}/side-${index}`, { recursive: true });
        nodeFs.writeFileSync(`${deep}/side-${index}/file`, '');
      }
      deep = `${deep}/next`;
    }
    nodeFs.mkdirSync(lab.path('tree/flat'));
    for (let index = 0; index < 500; index++) {
      nodeFs.writeFileSync(lab.path(`tree/flat/${'n'.repeat(index % 90)}${index}`), '');
    }
    const before = lab.openDescriptors();
    let most = 0;
    let isDone = false;
    const removal = lab.fs.rm(lab.path('tree'), TREE).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      most = Math.max(most, lab.openDescriptors());
      await new Promise((resolve) => setImmediate(resolve));
    }
    await removal;
    expect(nodeFs.existsSync(lab.path('tree'))).toBe(false);
    // Node's own listing opens the directory once more.
    const perDirectory = lab.backend.isNative ? 1 : 2;
    expect(most).toBeLessThanOrEqual(before + 4 * perDirectory);
    await lab.expectNoLeak(before);
  });

  it('two of the same tree at once', async () => {
    // Often, since what they take from each other is a race.
    for (let round = 0; round < 20; round++) {
      fill(lab.folder);
      const both = [1, 2, 3].map(() => lab.fs.rm(lab.path('tree'), { ...TREE, force: true }));
      await Promise.all(both);
      expect(nodeFs.readdirSync(lab.folder)).toEqual(['kept']);
    }
  });

  it('a tree in which another user owns a directory', async (context) => {
    const remove: Call = async (fs, folder) => {
      nodeFs.chmodSync(folder, 0o755);
      nodeFs.chmodSync(`${folder}/tree`, 0o777);
      let result: unknown;
      const reason = await asOtherUser(async () => {
        result = await fs.rm(`${folder}/tree/a`, TREE).catch((error: unknown) => ({ error }));
      });
      if (reason !== null) context.skip(reason);
      throw (result as { error: unknown }).error;
    };
    nodeFs.chmodSync(lab.folder, 0o755);
    // The first of several that cannot be removed: any one is right.
    const anyChild = {
      adjust: ({ error }: { error?: object }) => ({
        error: { ...error, syscall: '', path: '', message: '' },
      }),
    };
    await expectSameError(lab, 'EACCES', remove, { setup: fill, ...anyChild });
  });

  // In a sticky directory only its owner removes a file: EPERM, which is tried again.
  const fillSticky = (): void => {
    nodeFs.chmodSync(lab.folder, 0o755);
    nodeFs.mkdirSync(lab.path('sticky'));
    nodeFs.chmodSync(lab.path('sticky'), 0o1777);
    nodeFs.writeFileSync(lab.path('sticky/file'), '');
  };
  const retries = { maxRetries: 2, retryDelay: 40 };

  it('tries again as often as asked, waiting longer each time', async (context) => {
    fillSticky();
    const countBefore = lab.submissionCount;
    const startMs = performance.now();
    const reason = await asOtherUser(async () => {
      const removal = lab.fs.rm(lab.path('sticky/file'), retries);
      await expect(removal).rejects.toMatchObject({ code: 'EPERM', syscall: 'unlink' });
    });
    if (reason !== null) context.skip(reason);
    expect(lab.submissionCount - countBefore).toBe(4); // lstat and three unlinks
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(120);
  });

  it('succeeds when the reason is gone at the next attempt', async (context) => {
    fillSticky();
    const countBefore = lab.submissionCount;
    let removal: Promise<void> | undefined;
    const reason = await asOtherUser(async () => {
      removal = lab.fs.rm(lab.path('sticky/file'), { ...retries, retryDelay: 200 });
      removal.catch(() => {});
      while (lab.submissionCount < countBefore + 2 || lab.thread.inFlightCount > 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    if (reason !== null) context.skip(reason);
    await removal;
    expect(nodeFs.readdirSync(lab.path('sticky'))).toEqual([]);
    expect(lab.submissionCount - countBefore).toBe(3);
  });
});
