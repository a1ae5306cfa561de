// Backend conformance, names: open, rename, unlink, mkdir, link, symlink, readlink, realpath,
// access. Method: as backend_files; every error is one that node:fs gives for the same call.
// Not here: what a name's file holds (backend_files, backend_attributes, backend_directories).
import * as fs from 'node:fs';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeBackends } from '../support/backend_cases.ts';
import { expectSameError, nodeResult, useBackend } from '../support/backend_harness.ts';
import { asOtherUser, otherDevice } from '../support/file_system_facts.ts';

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_DIRECTORY, O_NOFOLLOW } = constants;
const { F_OK, R_OK, W_OK, X_OK } = constants;

describeBackends('backend paths', (backend) => {
  const harness = useBackend(backend);

  async function text(
    operation: 'readlink' | 'realpath',
    path: string | Uint8Array,
    bytes = 4096,
  ): Promise<string | number> {
    const region = harness.driver.region(bytes);
    const result = await harness.ring[operation](path, region);
    return result < 0 ? result : Buffer.from(region.bytes.subarray(0, result)).toString('latin1');
  }

  describe('open errors', () => {
    it('ENOENT, ENOTDIR, EISDIR, EEXIST', async () => {
      const { ring } = harness;
      const missing = harness.path('missing');
      const file = harness.path('file');
      fs.writeFileSync(file, '');
      const below = join(file, 'below');
      expectSameError(await ring.open(missing, O_RDONLY), 'ENOENT', () =>
        fs.openSync(missing, 'r'),
      );
      expectSameError(await ring.open('', O_RDONLY), 'ENOENT', () => fs.openSync('', 'r'));
      expectSameError(await ring.open(below, O_RDONLY), 'ENOTDIR', () => fs.openSync(below, 'r'));
      expectSameError(await ring.open(file, O_DIRECTORY), 'ENOTDIR', () =>
        fs.openSync(file, O_DIRECTORY),
      );
      expectSameError(await ring.open(harness.folder, O_WRONLY), 'EISDIR', () =>
        fs.openSync(harness.folder, O_WRONLY),
      );
    });

    it('ELOOP: links in a circle, and a link where none may be followed', async () => {
      const { ring } = harness;
      const [a, b] = [harness.path('a'), harness.path('b')];
      fs.symlinkSync(a, b);
      fs.symlinkSync(b, a);
      expectSameError(await ring.open(a, O_RDONLY), 'ELOOP', () => fs.openSync(a, 'r'));
      fs.writeFileSync(harness.path('file'), '');
      const link = harness.path('link');
      fs.symlinkSync(harness.path('file'), link);
      expectSameError(await ring.open(link, O_RDONLY | O_NOFOLLOW), 'ELOOP', () =>
        fs.openSync(link, O_NOFOLLOW),
      );
    });

    it('ENAMETOOLONG: a long component, a long path', async () => {
      const { ring } = harness;
      const component = harness.path('x'.repeat(256));
      expectSameError(await ring.open(component, O_RDONLY), 'ENAMETOOLONG', () =>
        fs.openSync(component, 'r'),
      );
      const longest = `/${'d/'.repeat(2047)}`;
      expect(longest.length).toBe(4095);
      expectSameError(await ring.open(longest, O_RDONLY), 'ENOENT', () =>
        fs.openSync(longest, 'r'),
      );
      for (const long of [`${longest}d`, `${longest}d/d`, `/${'d/'.repeat(8000)}`]) {
        expectSameError(await ring.open(long, O_RDONLY), 'ENAMETOOLONG', () =>
          fs.openSync(long, 'r'),
        );
      }
    });

    it('EACCES: as a user who may not', async (context) => {
      fs.chmodSync(harness.folder, 0o755);
      const file = harness.path('private');
      fs.writeFileSync(file, 'content', { mode: 0o600 });
      const closed = harness.path('closed');
      fs.mkdirSync(closed, { mode: 0o700 });
      const reason = await asOtherUser(async () => {
        const { ring } = harness;
        expectSameError(await ring.open(file, O_RDONLY), 'EACCES', () => fs.openSync(file, 'r'));
        const inside = join(closed, 'inside');
        expectSameError(await ring.open(inside, O_RDONLY), 'EACCES', () =>
          fs.openSync(inside, 'r'),
        );
        const created = harness.path('new');
        expectSameError(await ring.mkdir(created), 'EACCES', () => fs.mkdirSync(created));
        expectSameError(await ring.unlink(file), 'EACCES', () => fs.unlinkSync(file));
        expectSameError((await ring.stat({ path: inside })).result, 'EACCES', () =>
          fs.statSync(inside),
        );
        expectSameError(await ring.chmod({ path: file }, 0o777), 'EPERM', () =>
          fs.chmodSync(file, 0o777),
        );
      });
      if (reason !== null) context.skip(reason);
    });
  });

  it('open tells the kind of what it opened, or 0', async () => {
    fs.writeFileSync(harness.path('file'), 'content');
    for (const [path, mode] of [
      [harness.path('file'), constants.S_IFREG],
      [harness.folder, constants.S_IFDIR],
    ] as const) {
      const { result, flags } = await harness.ring.openFully(path, O_RDONLY);
      expect([0, mode >> 12]).toContain(flags & 0xf);
      expect(await harness.ring.close(result)).toBe(0);
    }
  });

  it('rename: moves, replaces, and its errors', async () => {
    const { ring } = harness;
    const [a, b, missing] = [harness.path('a'), harness.path('b'), harness.path('missing')];
    fs.writeFileSync(a, 'a');
    fs.writeFileSync(b, 'b');
    expect(await ring.rename(a, b)).toBe(0);
    expect(fs.readdirSync(harness.folder)).toEqual(['b']);
    expect(fs.readFileSync(b, 'utf8')).toBe('a');
    expectSameError(await ring.rename(missing, a), 'ENOENT', () => fs.renameSync(missing, a));
    const full = harness.path('full');
    fs.mkdirSync(join(full, 'inside'), { recursive: true });
    const empty = harness.path('empty');
    fs.mkdirSync(empty);
    expectSameError(await ring.rename(empty, full), 'ENOTEMPTY', () => fs.renameSync(empty, full));
    expectSameError(await ring.rename(b, full), 'EISDIR', () => fs.renameSync(b, full));
    expectSameError(await ring.rename(full, b), 'ENOTDIR', () => fs.renameSync(full, b));
    const within = join(full, 'inside', 'deeper');
    expectSameError(await ring.rename(full, within), 'EINVAL', () => fs.renameSync(full, within));
  });

  it('EXDEV: rename and link to another file system', async (context) => {
    const other = otherDevice(harness.folder);
    if (other === null) {
      context.skip('no second writable file system found');
      return;
    }
    const from = harness.path('file');
    fs.writeFileSync(from, 'content');
    const to = join(other, `nephrite-exdev-${process.pid}`);
    const { ring } = harness;
    expectSameError(await ring.rename(from, to), 'EXDEV', () => fs.renameSync(from, to));
    expectSameError(await ring.link(from, to), 'EXDEV', () => fs.linkSync(from, to));
    expect(fs.existsSync(from)).toBe(true);
  });

  it('unlink and rmdir', async () => {
    const { ring } = harness;
    const [file, folder] = [harness.path('file'), harness.path('folder')];
    fs.writeFileSync(file, '');
    fs.mkdirSync(join(folder, 'inside'), { recursive: true });
    expectSameError(await ring.rmdir(folder), 'ENOTEMPTY', () => fs.rmdirSync(folder));
    expectSameError(await ring.rmdir(file), 'ENOTDIR', () => fs.rmdirSync(file));
    const unlinkFolder = nodeResult(() => fs.unlinkSync(folder));
    expect(unlinkFolder).toBeLessThan(0);
    expect(await ring.unlink(folder)).toBe(unlinkFolder);
    expect(await ring.unlink(file)).toBe(0);
    expectSameError(await ring.unlink(file), 'ENOENT', () => fs.unlinkSync(file));
    expect(await ring.rmdir(join(folder, 'inside'))).toBe(0);
    expect(await ring.rmdir(folder)).toBe(0);
    expect(fs.readdirSync(harness.folder)).toEqual([]);
  });

  it('mkdir with a mode, and its errors', async () => {
    const { ring } = harness;
    const folder = harness.path('folder');
    expect(await ring.mkdir(folder, 0o750)).toBe(0);
    expect(fs.statSync(folder).mode & 0o777).toBe(0o750 & ~process.umask());
    expectSameError(await ring.mkdir(folder), 'EEXIST', () => fs.mkdirSync(folder));
    const deep = harness.path('missing/deep');
    expectSameError(await ring.mkdir(deep), 'ENOENT', () => fs.mkdirSync(deep));
  });

  it('link and symlink, also dangling, and their errors', async () => {
    const { ring } = harness;
    const [file, hard, soft] = [harness.path('file'), harness.path('hard'), harness.path('soft')];
    fs.writeFileSync(file, 'content');
    expect(await ring.link(file, hard)).toBe(0);
    expect(fs.statSync(hard).ino).toBe(fs.statSync(file).ino);
    expectSameError(await ring.link(file, hard), 'EEXIST', () => fs.linkSync(file, hard));
    const missing = harness.path('missing');
    const to = harness.path('to');
    expectSameError(await ring.link(missing, to), 'ENOENT', () => fs.linkSync(missing, to));
    expect(await ring.symlink('no/such/target', soft)).toBe(0);
    expect(fs.readlinkSync(soft)).toBe('no/such/target');
    expectSameError(await ring.symlink('x', soft), 'EEXIST', () => fs.symlinkSync('x', soft));
    expectSameError(await ring.symlink('', to), 'ENOENT', () => fs.symlinkSync('', to));
  });

  it('a hard link to a symbolic link is one too', async () => {
    fs.symlinkSync('target', harness.path('soft'));
    expect(await harness.ring.link(harness.path('soft'), harness.path('hard'))).toBe(0);
    expect(fs.readlinkSync(harness.path('hard'))).toBe('target');
  });

  it('readlink: the target, and what is too long or no link', async () => {
    const link = harness.path('link');
    fs.symlinkSync('some/target', link);
    expect(await text('readlink', link)).toBe('some/target');
    const tooLong = nodeResult(() => fs.openSync('x'.repeat(5000), 'r'));
    expect(await text('readlink', link, 5)).toBe(tooLong);
    expect(await text('readlink', link, 12)).toBe('some/target');
    fs.writeFileSync(harness.path('file'), '');
    const file = harness.path('file');
    expectSameError(Number(await text('readlink', file)), 'EINVAL', () => fs.readlinkSync(file));
    const missing = harness.path('missing');
    expectSameError(Number(await text('readlink', missing)), 'ENOENT', () =>
      fs.readlinkSync(missing),
    );
  });

  it('realpath: through links and dots, and its errors', async () => {
    fs.mkdirSync(harness.path('real/deep'), { recursive: true });
    fs.symlinkSync('real', harness.path('link'));
    const expected = fs.realpathSync.native(harness.path('real/deep'));
    expect(await text('realpath', harness.path('link/./deep/../deep'))).toBe(expected);
    expect(await text('realpath', '.')).toBe(process.cwd());
    const tooLong = nodeResult(() => fs.openSync('x'.repeat(5000), 'r'));
    expect(await text('realpath', harness.path('link'), 3)).toBe(tooLong);
    const missing = harness.path('missing');
    expectSameError(Number(await text('realpath', missing)), 'ENOENT', () =>
      fs.realpathSync.native(missing),
    );
    fs.symlinkSync('loop', harness.path('loop'));
    expectSameError(Number(await text('realpath', harness.path('loop'))), 'ELOOP', () =>
      fs.realpathSync.native(harness.path('loop')),
    );
  });

  it('access: each mode as node:fs answers it', async () => {
    const { ring } = harness;
    const file = harness.path('file');
    fs.writeFileSync(file, '', { mode: 0o400 });
    for (const mode of [F_OK, R_OK, W_OK, X_OK, R_OK | W_OK]) {
      expect(await ring.access(file, mode)).toBe(nodeResult(() => fs.accessSync(file, mode)));
    }
    expectSameError(await ring.access(file, X_OK), 'EACCES', () => fs.accessSync(file, X_OK));
    const missing = harness.path('missing');
    expectSameError(await ring.access(missing, F_OK), 'ENOENT', () => fs.accessSync(missing));
    const einval = nodeResult(() => fs.readlinkSync(file));
    expect(await ring.access(file, 0xff)).toBe(einval);
  });

  it.skipIf(process.platform !== 'linux')(
    'names that are not UTF-8 (skip: only Linux has them)',
    async () => {
      const { ring } = harness;
      const name = Buffer.concat([
        Buffer.from(`${harness.folder}/`),
        Buffer.from([0xff, 0xc0, 0x41]),
      ]);
      const fd = await ring.open(name, O_RDWR | O_CREAT);
      expect(await ring.write(fd, 'content')).toBe(7);
      expect(await ring.close(fd)).toBe(0);
      const names = fs.readdirSync(harness.folder, { encoding: 'buffer' });
      expect(names).toEqual([Buffer.from([0xff, 0xc0, 0x41])]);
      expect((await ring.stat({ path: name })).result).toBe(0);
      const link = harness.path('link');
      expect(await ring.symlink(name, link)).toBe(0);
      expect(await text('readlink', link)).toBe(name.toString('latin1'));
      expect(await text('realpath', link)).toBe(name.toString('latin1'));
      expect(await ring.rename(name, Buffer.concat([name, Buffer.from([0xfe])]))).toBe(0);
      expect(await ring.unlink(Buffer.concat([name, Buffer.from([0xfe])]))).toBe(0);
    },
  );
});
