// Fs conformance under a restriction: below its root restricted callers get what Node gives to one
// who is not: results, errors with their paths, and what the folders hold afterwards.
// Method: fs_oracle.ts, our calls under an authority over the test's folder. With
// NEPHRITE_RESTRICTED=1 the whole fs conformance runs so. Not here: what is refused
// (test/integration/file_authority.test.ts).
import * as nodeFs from 'node:fs';
import { constants } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FileAuthority } from '../../lib/io/authority.ts';
import { describeFs, type Fs, type FsLab } from '../support/fs_lab.ts';
import { type AnyFs, expectSame, expectSameError } from '../support/fs_oracle.ts';
import { Restriction } from '../support/restriction.ts';

type Call = (fs: AnyFs, folder: string) => Promise<unknown>;
type Handle = Awaited<ReturnType<Fs['open']>>;

function fill(folder: string): void {
  nodeFs.mkdirSync(`${folder}/a/b/c`, { recursive: true });
  nodeFs.writeFileSync(`${folder}/file`, 'content', { mode: 0o640 });
  nodeFs.writeFileSync(`${folder}/a/b/inner`, 'inner');
  nodeFs.symlinkSync('file', `${folder}/link`);
  nodeFs.symlinkSync(`${folder}/a/b`, `${folder}/absolute`);
  nodeFs.symlinkSync('../../absolute/', `${folder}/a/b/back`);
  nodeFs.symlinkSync('a/b/new', `${folder}/dangling`);
  nodeFs.symlinkSync('loop', `${folder}/loop`);
  nodeFs.symlinkSync('./a/.././a/b/inner', `${folder}/winding`);
}

const use = async (opened: Promise<unknown>, work: (file: Handle) => unknown): Promise<unknown> => {
  const file = (await opened) as Handle;
  try {
    return await work(file);
  } finally {
    await file.close();
  }
};
const text = (file: Handle): unknown => file.readFile('utf8');
const mode = (stats: unknown): number => (stats as nodeFs.Stats).mode;
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;

const WORKING: readonly (readonly [string, Call])[] = [
  ['access through links', (fs, f) => fs.access(`${f}/a/b/back/back/inner`, constants.R_OK)],
  ['appendFile through a dangling link', (fs, f) => fs.appendFile(`${f}/dangling`, 'x')],
  ['chmod through a link', (fs, f) => fs.chmod(`${f}/link`, 0o600)],
  ['copyFile', (fs, f) => fs.copyFile(`${f}/link`, `${f}/a/copy`)],
  ['copyFile over a link', (fs, f) => fs.copyFile(`${f}/file`, `${f}/winding`)],
  ['link of a link', (fs, f) => fs.link(`${f}/link`, `${f}/a/second`)],
  ['lstat of a link', (fs, f) => fs.lstat(`${f}/link`).then(mode)],
  ['lstat of a link and a slash', (fs, f) => fs.lstat(`${f}/absolute/`).then(mode)],
  ['lstat of a directory', (fs, f) => fs.lstat(`${f}/a/.`).then(mode)],
  ['lutimes', (fs, f) => fs.lutimes(`${f}/link`, 10, 20)],
  ['mkdir', (fs, f) => fs.mkdir(`${f}/a/new/`)],
  ['mkdir recursive', (fs, f) => fs.mkdir(`${f}/absolute/x/y/z`, { recursive: true })],
  ['mkdir recursive, all there', (fs, f) => fs.mkdir(`${f}/a/b/../b`, { recursive: true })],
  [
    'mkdtemp',
    async (fs, f) => {
      const name = String(await fs.mkdtemp(`${f}/a/made-`));
      await fs.rmdir(name);
      return name.slice(0, -6);
    },
  ],
  ['open and read', (fs, f) => use(fs.open(`${f}/winding`), text)],
  ['open a new file', (fs, f) => use(fs.open(`${f}/a/n`, 'wx', 0o604), (h) => h.write('new'))],
  ['open behind a dangling link', (fs, f) => use(fs.open(`${f}/dangling`, 'w'), () => 'open')],
  ['open a directory', (fs, f) => use(fs.open(`${f}/absolute`, O_DIRECTORY), () => 'open')],
  ['open without following', (fs, f) => use(fs.open(`${f}/file`, O_NOFOLLOW), text)],
  ['open the root', (fs, f) => use(fs.open(f, O_RDONLY), () => 'open')],
  ['readFile', (fs, f) => fs.readFile(`${f}//a/./b/../../link`, 'utf8')],
  ['readFile of a URL', (fs, f) => fs.readFile(pathToFileURL(`${f}/a/b/inner`))],
  ['readFile of bytes', (fs, f) => fs.readFile(Buffer.from(`${f}/a/b/inner`), 'utf8')],
  ['readFile with a limit', (fs, f) => fs.readFile(`${f}/file`, { encoding: 'hex' })],
  ['readdir', (fs, f) => fs.readdir(`${f}/absolute/`)],
  ['readdir with types', (fs, f) => fs.readdir(`${f}/a`, { withFileTypes: true })],
  ['readlink', (fs, f) => fs.readlink(`${f}/absolute`)],
  ['realpath', (fs, f) => fs.realpath(`${f}/a/b/back/../b/back/c`)],
  ['realpath of a file', (fs, f) => fs.realpath(`${f}/winding`, 'buffer')],
  ['rename', (fs, f) => fs.rename(`${f}/file`, `${f}/absolute/moved`)],
  ['rename a link', (fs, f) => fs.rename(`${f}/link`, `${f}/a/link`)],
  ['rename a directory and slashes', (fs, f) => fs.rename(`${f}/a/b/c/`, `${f}/a/d/`)],
  ['rm a link', (fs, f) => fs.rm(`${f}/absolute`)],
  ['rm a tree', (fs, f) => fs.rm(`${f}/a`, { recursive: true })],
  ['rm nothing, forced', (fs, f) => fs.rm(`${f}/no/thing`, { force: true })],
  ['rmdir', (fs, f) => fs.rmdir(`${f}/a/b/c/`)],
  ['stat through links', (fs, f) => fs.stat(`${f}/a/b/back/back/inner`).then(mode)],
  ['symlink', (fs, f) => fs.symlink('/anywhere', `${f}/a/b/sym`)],
  ['truncate', (fs, f) => fs.truncate(`${f}/link`, 3)],
  ['unlink', (fs, f) => fs.unlink(`${f}/a/b/back`)],
  ['utimes', (fs, f) => fs.utimes(`${f}/winding`, 10, 20)],
  ['writeFile', (fs, f) => fs.writeFile(`${f}/absolute/w`, 'written', { mode: 0o604 })],
  ['writeFile of parts', (fs, f) => fs.writeFile(`${f}/link`, ['a', 'b'])],
  [
    'a relative path',
    async (fs, f) => {
      process.chdir(`${f}/a/b`);
      return [
        await fs.readFile('../../file', 'utf8'),
        await fs.realpath('.'),
        await fs.readdir('..'),
      ];
    },
  ],
];

const FAILING: readonly (readonly [string, string, Call])[] = [
  ['access in a loop', 'ELOOP', (fs, f) => fs.access(`${f}/loop/x`)],
  ['access below a file', 'ENOTDIR', (fs, f) => fs.access(`${f}/file/x`)],
  ['access of a file and a slash', 'ENOTDIR', (fs, f) => fs.access(`${f}/file/`)],
  ['access of an empty path', 'ENOENT', (fs) => fs.access('')],
  ['chmod of nothing', 'ENOENT', (fs, f) => fs.chmod(`${f}/dangling`, 0o600)],
  ['copyFile of a directory', 'EISDIR', (fs, f) => fs.copyFile(`${f}/file`, `${f}/a`)],
  ['link to a taken name', 'EEXIST', (fs, f) => fs.link(`${f}/file`, `${f}/link`)],
  ['link of a directory', 'EPERM', (fs, f) => fs.link(`${f}/a`, `${f}/x`)],
  ['lstat of a long name', 'ENAMETOOLONG', (fs, f) => fs.lstat(`${f}/${'n'.repeat(300)}`)],
  ['mkdir of what is there', 'EEXIST', (fs, f) => fs.mkdir(`${f}/dangling`)],
  ['mkdir in nothing', 'ENOENT', (fs, f) => fs.mkdir(`${f}/no/x`)],
  [
    'mkdir recursive below a file',
    'ENOTDIR',
    (fs, f) => fs.mkdir(`${f}/file/x/y`, { recursive: true }),
  ],
  ['open a loop', 'ELOOP', (fs, f) => fs.open(`${f}/loop`)],
  ['open a link without following', 'ELOOP', (fs, f) => fs.open(`${f}/link`, O_NOFOLLOW)],
  [
    'open a link exclusively',
    'EEXIST',
    (fs, f) => fs.open(`${f}/dangling`, O_CREAT | O_EXCL | O_RDWR),
  ],
  ['open a file as a directory', 'ENOTDIR', (fs, f) => fs.open(`${f}/file`, O_DIRECTORY)],
  ['open a directory to write', 'EISDIR', (fs, f) => fs.open(`${f}/a`, 'w')],
  ['open with a slash to make', 'EISDIR', (fs, f) => fs.open(`${f}/new/`, 'w')],
  ['readFile of a directory', 'EISDIR', (fs, f) => fs.readFile(`${f}/a`)],
  ['readFile of nothing', 'ENOENT', (fs, f) => fs.readFile(`${f}/a/no`)],
  ['readdir of a file', 'ENOTDIR', (fs, f) => fs.readdir(`${f}/link`)],
  ['readlink of a file', 'EINVAL', (fs, f) => fs.readlink(`${f}/file`)],
  ['readlink of a directory', 'EINVAL', (fs, f) => fs.readlink(`${f}/a/.`)],
  ['realpath of nothing', 'ENOENT', (fs, f) => fs.realpath(`${f}/dangling`)],
  ['rename nothing', 'ENOENT', (fs, f) => fs.rename(`${f}/no`, `${f}/x`)],
  ['rename a file to a directory', 'EISDIR', (fs, f) => fs.rename(`${f}/file`, `${f}/a`)],
  ['rename into itself', 'EINVAL', (fs, f) => fs.rename(`${f}/a`, `${f}/a/b/c/x`)],
  ['rename a point', 'EBUSY', (fs, f) => fs.rename(`${f}/a/.`, `${f}/x`)],
  ['rmdir of what is full', 'ENOTEMPTY', (fs, f) => fs.rmdir(`${f}/a`)],
  ['rmdir of a point', 'EINVAL', (fs, f) => fs.rmdir(`${f}/a/b/c/.`)],
  ['rmdir of two points', 'ENOTEMPTY', (fs, f) => fs.rmdir(`${f}/a/b/c/..`)],
  ['rmdir of a link', 'ENOTDIR', (fs, f) => fs.rmdir(`${f}/absolute`)],
  ['symlink at a taken name', 'EEXIST', (fs, f) => fs.symlink('x', `${f}/file`)],
  ['symlink to an empty path', 'ENOENT', (fs, f) => fs.symlink('', `${f}/x`)],
  ['truncate a directory', 'EISDIR', (fs, f) => fs.truncate(`${f}/a`)],
  ['unlink a directory', 'EISDIR', (fs, f) => fs.unlink(`${f}/a`)],
  ['unlink a file and a slash', 'ENOTDIR', (fs, f) => fs.unlink(`${f}/file/`)],
  ['writeFile to a directory', 'EISDIR', (fs, f) => fs.writeFile(`${f}/a`, 'x')],
  ['writeFile in nothing', 'ENOENT', (fs, f) => fs.writeFile(`${f}/no/x`, 'x')],
];

describeFs('fs below a root', (lab) => {
  let restriction: Restriction;
  let authority: FileAuthority;
  const cwd = process.cwd();
  // What the oracle needs of a lab.
  const restricted = (): FsLab =>
    ({ folder: lab.folder, fs: restriction.wrap(lab.fs, () => authority) }) as unknown as FsLab;

  beforeAll(async () => {
    restriction = await Restriction.load();
  });
  beforeEach(() => {
    authority = restriction.authority({ path: lab.folder, write: true });
  });
  afterEach(() => process.chdir(cwd));

  describe.skipIf(process.platform !== 'linux')('as for others', () => {
    for (const [name, call] of WORKING) {
      it(name, async () => {
        const { error } = await expectSame(restricted(), call, { setup: fill });
        expect(error).toBeUndefined();
      });
    }

    for (const [name, code, call] of FAILING) {
      it(`${name}: ${code}`, () => expectSameError(restricted(), code, call, { setup: fill }));
    }
  });

  it.skipIf(process.platform !== 'linux')('aborted at any step, nothing is left open', async () => {
    fill(lab.folder);
    const { fs } = restricted();
    await fs.stat(lab.folder);
    const before = lab.openDescriptors();
    for (let turns = 0; turns < 12; turns++) {
      const controller = new AbortController();
      const { signal } = controller;
      const calls = [
        fs.stat(`${lab.folder}/a/b/back/inner`, { signal }),
        fs.readFile(`${lab.folder}/a/b/back/inner`, { signal }),
        fs.rename(`${lab.folder}/a/b/inner`, `${lab.folder}/a/b/inner`, { signal }),
        fs.open(`${lab.folder}/a/b/inner`, 'r', null, { signal }).then((file) => file.close()),
      ];
      const settled = Promise.allSettled(calls);
      for (let turn = 0; turn < turns; turn++) await new Promise((next) => setImmediate(next));
      controller.abort();
      for (const each of await settled) {
        if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'ABORT_ERR' });
      }
    }
    await lab.expectNoLeak(before);
  });
});
