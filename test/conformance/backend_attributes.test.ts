// Backend conformance, attributes: stat by path, link and descriptor, utimes, chmod, chown.
// Method: the record's fields are compared with those of node:fs, one by one.
// Not here: how the fs layer makes a Stats object of a record.
import * as fs from 'node:fs';
import { constants } from 'node:fs';
import { connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import * as abi from '../../lib/abi/layout.ts';
import { describeBackends } from '../support/backend_cases.ts';
import { expectSameError, nodeResult, useBackend } from '../support/backend_harness.ts';

const IS_LINUX = process.platform === 'linux';

function timeNs(record: DataView, secAt: number, nsecAt: number): bigint {
  return record.getBigInt64(secAt, true) * 1_000_000_000n + BigInt(record.getUint32(nsecAt, true));
}

/** As glibc composes it. */
function device(record: DataView, majorAt: number, minorAt: number): bigint {
  const major = BigInt(record.getUint32(majorAt, true));
  const minor = BigInt(record.getUint32(minorAt, true));
  const majorBits = ((major & 0xfffn) << 8n) | ((major & 0xffff_f000n) << 32n);
  return majorBits | (minor & 0xffn) | ((minor & 0xffff_ff00n) << 12n);
}

function decodeRecord(record: DataView): Record<string, bigint> {
  return {
    dev: device(record, abi.STAT_DEV_MAJOR_OFFSET, abi.STAT_DEV_MINOR_OFFSET),
    rdev: device(record, abi.STAT_RDEV_MAJOR_OFFSET, abi.STAT_RDEV_MINOR_OFFSET),
    ino: record.getBigUint64(abi.STAT_INO_OFFSET, true),
    mode: BigInt(record.getUint16(abi.STAT_MODE_OFFSET, true)),
    nlink: BigInt(record.getUint32(abi.STAT_NLINK_OFFSET, true)),
    uid: BigInt(record.getUint32(abi.STAT_UID_OFFSET, true)),
    gid: BigInt(record.getUint32(abi.STAT_GID_OFFSET, true)),
    size: record.getBigUint64(abi.STAT_SIZE_OFFSET, true),
    blksize: BigInt(record.getUint32(abi.STAT_BLKSIZE_OFFSET, true)),
    blocks: record.getBigUint64(abi.STAT_BLOCKS_OFFSET, true),
    atimeNs: timeNs(record, abi.STAT_ATIME_SEC_OFFSET, abi.STAT_ATIME_NSEC_OFFSET),
    mtimeNs: timeNs(record, abi.STAT_MTIME_SEC_OFFSET, abi.STAT_MTIME_NSEC_OFFSET),
    ctimeNs: timeNs(record, abi.STAT_CTIME_SEC_OFFSET, abi.STAT_CTIME_NSEC_OFFSET),
    birthtimeNs: timeNs(record, abi.STAT_BTIME_SEC_OFFSET, abi.STAT_BTIME_NSEC_OFFSET),
  };
}

function decodeStats(stats: fs.BigIntStats): Record<string, bigint> {
  const { dev, rdev, ino, mode, nlink, uid, gid, size, blksize, blocks } = stats;
  const { atimeNs, mtimeNs, ctimeNs, birthtimeNs } = stats;
  const numbers = { dev, rdev, ino, mode, nlink, uid, gid, size, blksize, blocks };
  return { ...numbers, atimeNs, mtimeNs, ctimeNs, birthtimeNs };
}

const BIGINT = { bigint: true } as const;

describeBackends('backend attributes', (backend) => {
  const harness = useBackend(backend);

  describe('stat', () => {
    it('a file, by path and by descriptor', async () => {
      const file = harness.path('file');
      fs.writeFileSync(file, 'content', { mode: 0o640 });
      const byPath = await harness.ring.stat({ path: file });
      expect(byPath.result).toBe(0);
      expect(decodeRecord(byPath.record)).toEqual(decodeStats(fs.statSync(file, BIGINT)));
      const fd = await harness.ring.open(file, constants.O_RDONLY);
      const byFd = await harness.ring.stat({ fd });
      expect(byFd.result).toBe(0);
      expect(decodeRecord(byFd.record)).toEqual(decodeStats(fs.fstatSync(fd, BIGINT)));
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('a link is followed by path, and not by link', async () => {
      const [file, link] = [harness.path('file'), harness.path('link')];
      fs.writeFileSync(file, 'content');
      fs.symlinkSync(file, link);
      const followed = await harness.ring.stat({ path: link });
      expect(decodeRecord(followed.record)).toEqual(decodeStats(fs.statSync(link, BIGINT)));
      const itself = await harness.ring.stat({ link });
      expect(decodeRecord(itself.record)).toEqual(decodeStats(fs.lstatSync(link, BIGINT)));
      expect(decodeRecord(itself.record)).not.toEqual(decodeRecord(followed.record));
    });

    it('directories, devices and sockets', async () => {
      const socket = harness.path('socket');
      const server = createServer().listen(socket);
      await new Promise((resolve) => server.once('listening', resolve));
      const paths = [harness.folder, socket, '/'];
      if (IS_LINUX) paths.push('/dev/null', '/dev/zero');
      for (const path of paths) {
        const { result, record } = await harness.ring.stat({ path });
        expect(result).toBe(0);
        expect(decodeRecord(record)).toEqual(decodeStats(fs.statSync(path, BIGINT)));
      }
      // A descriptor that is no file: the server's end of a connection.
      const client = connect(socket);
      await new Promise((resolve) => client.once('connect', resolve));
      client.destroy();
      await new Promise((resolve) => server.close(resolve));
    });

    it('large sizes and times before 1970', async () => {
      const file = harness.path('file');
      fs.writeFileSync(file, '');
      fs.truncateSync(file, 5 * 2 ** 32);
      fs.utimesSync(file, new Date(-1500), new Date(-1));
      const { record } = await harness.ring.stat({ path: file });
      const decoded = decodeRecord(record);
      expect(decoded.mtimeNs).toBe(-1_000_000n);
      expect(decoded).toEqual(decodeStats(fs.statSync(file, BIGINT)));
    });

    it('errors: ENOENT, ENOTDIR, ELOOP', async () => {
      const { ring } = harness;
      const missing = harness.path('missing');
      expectSameError((await ring.stat({ path: missing })).result, 'ENOENT', () =>
        fs.statSync(missing),
      );
      fs.writeFileSync(harness.path('file'), '');
      const below = harness.path('file/below');
      expectSameError((await ring.stat({ path: below })).result, 'ENOTDIR', () =>
        fs.statSync(below),
      );
      const loop = harness.path('loop');
      fs.symlinkSync('loop', loop);
      expectSameError((await ring.stat({ path: loop })).result, 'ELOOP', () => fs.statSync(loop));
      expect((await ring.stat({ link: loop })).result).toBe(0);
    });
  });

  describe('utimes', () => {
    const TIMES = [0, 1, 1_700_000_000.5, 1_700_000_000.123_456, 4_102_444_800.25];

    it('by path and by descriptor: the times node:fs would set', async () => {
      const [ours, theirs] = [harness.path('ours'), harness.path('theirs')];
      fs.writeFileSync(ours, '');
      fs.writeFileSync(theirs, '');
      const fd = await harness.ring.open(ours, constants.O_RDWR);
      for (const [index, seconds] of TIMES.entries()) {
        const subject = index % 2 === 0 ? { path: ours } : { fd };
        expect(await harness.ring.utimes(subject, seconds, seconds + 2)).toBe(0);
        fs.utimesSync(theirs, seconds, seconds + 2);
        const [actual, expected] = [fs.statSync(ours, BIGINT), fs.statSync(theirs, BIGINT)];
        expect(actual.atimeNs).toBe(expected.atimeNs);
        expect(actual.mtimeNs).toBe(expected.mtimeNs);
      }
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('before 1970, in whole milliseconds', async () => {
      const file = harness.path('file');
      fs.writeFileSync(file, '');
      expect(await harness.ring.utimes({ path: file }, -1.5, -1_000_000)).toBe(0);
      const { atimeNs, mtimeNs } = fs.statSync(file, BIGINT);
      expect([atimeNs, mtimeNs]).toEqual([-1_500_000_000n, -1_000_000_000_000_000n]);
    });

    it('of a link itself, and errors', async () => {
      const { ring } = harness;
      const [file, link] = [harness.path('file'), harness.path('link')];
      fs.writeFileSync(file, '');
      fs.utimesSync(file, 5, 6);
      fs.symlinkSync(file, link);
      expect(await ring.utimes({ link }, 100, 200)).toBe(0);
      expect(fs.lstatSync(link).mtimeMs).toBe(200_000);
      expect(fs.statSync(file).mtimeMs).toBe(6_000);
      const missing = harness.path('missing');
      expectSameError(await ring.utimes({ path: missing }, 1, 1), 'ENOENT', () =>
        fs.utimesSync(missing, 1, 1),
      );
    });
  });

  it('chmod by path, through a link, by descriptor', async () => {
    const { ring } = harness;
    const [file, link] = [harness.path('file'), harness.path('link')];
    fs.writeFileSync(file, '');
    fs.symlinkSync(file, link);
    const mode = () => fs.statSync(file).mode & 0o7777;
    expect(await ring.chmod({ path: file }, 0o604)).toBe(0);
    expect(mode()).toBe(0o604);
    expect(await ring.chmod({ path: link }, 0o1640)).toBe(0);
    expect(mode()).toBe(0o1640);
    const fd = await ring.open(file, constants.O_RDONLY);
    expect(await ring.chmod({ fd }, 0o600)).toBe(0);
    expect(mode()).toBe(0o600);
    expect(await ring.close(fd)).toBe(0);
    const missing = harness.path('missing');
    expectSameError(await ring.chmod({ path: missing }, 0o600), 'ENOENT', () =>
      fs.chmodSync(missing, 0o600),
    );
  });

  it.runIf(IS_LINUX)('chmod of a link itself is ENOTSUP on Linux', async () => {
    fs.writeFileSync(harness.path('file'), '');
    fs.symlinkSync('file', harness.path('link'));
    const enotsup = -95; // as the kernel counts; node:fs has no call to ask
    expect(await harness.ring.chmod({ link: harness.path('link') }, 0o600)).toBe(enotsup);
  });

  it('chown by path, of a link itself, by descriptor', async () => {
    const { ring } = harness;
    const [file, link] = [harness.path('file'), harness.path('link')];
    fs.writeFileSync(file, '');
    fs.symlinkSync(file, link);
    const isRoot = process.geteuid?.() === 0;
    const [uid, gid] = isRoot ? [1234, 4321] : [process.geteuid?.() ?? -1, -1];
    const unchanged = 2 ** 32 - 1;
    expect(await ring.chown({ path: file }, uid, gid)).toBe(
      nodeResult(() => fs.chownSync(file, uid, gid)),
    );
    expect(await ring.chown({ link }, uid, unchanged)).toBe(0);
    if (isRoot) {
      expect(fs.statSync(file)).toMatchObject({ uid: 1234, gid: 4321 });
      expect(fs.lstatSync(link)).toMatchObject({ uid: 1234, gid: 0 });
    }
    const fd = await ring.open(file, constants.O_RDONLY);
    expect(await ring.chown({ fd }, unchanged, unchanged)).toBe(0);
    expect(await ring.close(fd)).toBe(0);
    const missing = harness.path('missing');
    expectSameError(await ring.chown({ path: missing }, 0, 0), 'ENOENT', () =>
      fs.chownSync(missing, 0, 0),
    );
  });
});
