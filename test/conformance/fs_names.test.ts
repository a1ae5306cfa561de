// Fs conformance, names: access, rename, unlink, link, symlink, readlink, realpath, against Node's.
// Method: fs_oracle.ts. Not here: bad arguments (fs_arguments.test.ts), trees
// (fs_directories.test.ts).
import * as nodeFs from 'node:fs';
import { constants } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { describeFs } from '../support/fs_lab.ts';
import { type AnyFs, expectSame, expectSameError } from '../support/fs_oracle.ts';

const RAW = Buffer.from([0xe9, 0xff, 0x41]);

function fill(folder: string): void {
  nodeFs.writeFileSync(`${folder}/file`, 'content', { mode: 0o640 });
  nodeFs.writeFileSync(`${folder}/other`, 'other');
  nodeFs.mkdirSync(`${folder}/folder/inner`, { recursive: true });
  nodeFs.symlinkSync('file', `${folder}/link`);
  nodeFs.symlinkSync('nowhere', `${folder}/dangling`);
  nodeFs.symlinkSync('loop', `${folder}/loop`);
}

const raw = (folder: string): Buffer => Buffer.concat([Buffer.from(`${folder}/`), RAW]);

type Call = (fs: AnyFs, folder: string) => Promise<unknown>;

const WORKING: readonly (readonly [string, Call])[] = [
  ['access', (fs, folder) => fs.access(`${folder}/file`)],
  ['access with a mode', (fs, folder) => fs.access(`${folder}/file`, constants.R_OK)],
  ['access with mode null', (fs, folder) => fs.access(`${folder}/file`, null)],
  ['access of a URL', (fs, folder) => fs.access(pathToFileURL(`${folder}/file`))],
  ['rename over a file', (fs, folder) => fs.rename(`${folder}/file`, `${folder}/other`)],
  ['rename a directory', (fs, folder) => fs.rename(`${folder}/folder`, `${folder}/new`)],
  ['rename bytes', (fs, folder) => fs.rename(Buffer.from(`${folder}/file`), raw(folder))],
  ['unlink', (fs, folder) => fs.unlink(`${folder}/file`)],
  ['unlink a link, not its target', (fs, folder) => fs.unlink(`${folder}/link`)],
  ['link', (fs, folder) => fs.link(`${folder}/file`, `${folder}/second`)],
  ['symlink', (fs, folder) => fs.symlink('any/target', `${folder}/new`)],
  ['symlink to bytes', (fs, folder) => fs.symlink(RAW, `${folder}/new`)],
  ['symlink with a type', (fs, folder) => fs.symlink('a', `${folder}/new`, 'dir')],
  ['readlink', (fs, folder) => fs.readlink(`${folder}/link`)],
  ['readlink as a buffer', (fs, folder) => fs.readlink(`${folder}/link`, 'buffer')],
  ['readlink in hex', (fs, folder) => fs.readlink(`${folder}/link`, { encoding: 'hex' })],
  ['readlink, options null', (fs, folder) => fs.readlink(`${folder}/link`, null)],
  ['realpath', (fs, folder) => fs.realpath(`${folder}/folder/../folder/./inner/../../link`)],
  ['realpath as a buffer', (fs, folder) => fs.realpath(`${folder}/link`, 'buffer')],
  ['realpath in latin1', (fs, folder) => fs.realpath(`${folder}/link`, { encoding: 'latin1' })],
];

const FAILING: readonly (readonly [string, string, Call])[] = [
  ['access of nothing', 'ENOENT', (fs, folder) => fs.access(`${folder}/no`)],
  ['access of an empty path', 'ENOENT', (fs) => fs.access('')],
  ['access below a file', 'ENOTDIR', (fs, folder) => fs.access(`${folder}/file/x`)],
  ['access, not executable', 'EACCES', (fs, folder) => fs.access(`${folder}/file`, constants.X_OK)],
  ['access in a loop', 'ELOOP', (fs, folder) => fs.access(`${folder}/loop`)],
  ['access of a long name', 'ENAMETOOLONG', (fs) => fs.access(`/tmp/${'n'.repeat(300)}`)],
  ['access of a long path', 'ENAMETOOLONG', (fs) => fs.access('/'.repeat(5000))],
  ['rename nothing', 'ENOENT', (fs, folder) => fs.rename(`${folder}/no`, `${folder}/new`)],
  ['rename into nothing', 'ENOENT', (fs, folder) => fs.rename(`${folder}/file`, `${folder}/no/x`)],
  ['rename bytes', 'ENOENT', (fs, folder) => fs.rename(raw(folder), raw(`${folder}/no`))],
  ['rename a file to a directory', 'EISDIR', (fs, f) => fs.rename(`${f}/file`, `${f}/folder`)],
  ['rename into itself', 'EINVAL', (fs, f) => fs.rename(`${f}/folder`, `${f}/folder/inner/x`)],
  ['unlink nothing', 'ENOENT', (fs, folder) => fs.unlink(`${folder}/no`)],
  ['unlink a directory', 'EISDIR', (fs, folder) => fs.unlink(`${folder}/folder`)],
  ['link nothing', 'ENOENT', (fs, folder) => fs.link(`${folder}/no`, `${folder}/new`)],
  ['link to a taken name', 'EEXIST', (fs, folder) => fs.link(`${folder}/file`, `${folder}/other`)],
  ['link a directory', 'EPERM', (fs, folder) => fs.link(`${folder}/folder`, `${folder}/new`)],
  ['symlink at a taken name', 'EEXIST', (fs, folder) => fs.symlink('x', `${folder}/file`)],
  ['symlink to an empty path', 'ENOENT', (fs, folder) => fs.symlink('', `${folder}/new`)],
  ['symlink in nothing', 'ENOENT', (fs, folder) => fs.symlink('x', `${folder}/no/new`)],
  ['readlink of a file', 'EINVAL', (fs, folder) => fs.readlink(`${folder}/file`)],
  ['readlink of nothing', 'ENOENT', (fs, folder) => fs.readlink(`${folder}/no`)],
  ['readlink in no encoding', 'ERR_INVALID_ARG_VALUE', (fs, f) => fs.readlink(`${f}/link`, 'no')],
  ['realpath of nothing', 'ENOENT', (fs, folder) => fs.realpath(`${folder}/no`)],
  ['realpath of a dangling link', 'ENOENT', (fs, folder) => fs.realpath(`${folder}/dangling`)],
  ['realpath in a loop', 'ELOOP', (fs, folder) => fs.realpath(`${folder}/loop`)],
];

describeFs('fs names', (lab) => {
  for (const [name, call] of WORKING) {
    it(name, async () => {
      const { error } = await expectSame(lab, call, { setup: fill });
      expect(error).toBeUndefined();
    });
  }

  for (const [name, code, call] of FAILING) {
    it(`${name}: ${code}`, () => expectSameError(lab, code, call, { setup: fill }));
  }

  it('the longest path that the system takes', async () => {
    const longest = `${lab.folder}/${'./'.repeat(2000)}`.slice(0, 4090).replace(/\.?$/, '/x');
    nodeFs.writeFileSync(longest, '');
    await lab.fs.access(longest);
    await lab.fs.rename(longest, `${longest}y`);
    expect(nodeFs.readdirSync(lab.folder)).toEqual(['xy']);
  });
});
