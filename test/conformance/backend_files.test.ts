// Backend conformance, open files: read, write, sync, truncate, close, at the level of the ring.
// Method: every case runs on real files and is compared with what node:fs does to the same.
// Not here: names (backend_paths), directories (backend_directories), the rings (backend_ring).
import * as fs from 'node:fs';
import { constants } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeBackends } from '../support/backend_cases.ts';
import { expectSameError, nodeResult, useBackend } from '../support/backend_harness.ts';
import { OFFSET_POSITION } from '../support/ring_operations.ts';

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = constants;
const BAD_FD = 999_999;
const MIB = 1024 * 1024;

describeBackends('backend files', (backend) => {
  const harness = useBackend(backend);

  async function openNew(name: string, content = '', flags = O_RDWR): Promise<number> {
    fs.writeFileSync(harness.path(name), content);
    const fd = await harness.ring.open(harness.path(name), flags);
    expect(fd).toBeGreaterThan(2);
    return fd;
  }

  describe('read and write', () => {
    it('reads what is there, at an offset, and nothing at the end', async () => {
      const fd = await openNew('file', 'hello world');
      const region = harness.driver.region(5);
      expect(await harness.ring.read(fd, region, 6)).toBe(5);
      expect(Buffer.from(region.bytes).toString()).toBe('world');
      expect(await harness.ring.read(fd, region, 11)).toBe(0);
      expect(await harness.ring.read(fd, region, 1_000_000)).toBe(0);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('reads less than asked where the file ends, and leaves the rest of the buffer', async () => {
      const fd = await openNew('file', 'hello world');
      const region = harness.driver.region(64);
      region.bytes.fill(0xee);
      expect(await harness.ring.read(fd, region, 6)).toBe(5);
      expect(region.bytes[5]).toBe(0xee);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('writes at an offset and leaves a hole', async () => {
      const fd = await openNew('file');
      expect(await harness.ring.write(fd, 'tail', 4096)).toBe(4);
      const content = fs.readFileSync(harness.path('file'));
      expect(content.length).toBe(4100);
      expect(content.subarray(4096).toString()).toBe('tail');
      expect(content.subarray(0, 4096).every((byte) => byte === 0)).toBe(true);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('offset -1 uses and moves the file position', async () => {
      const fd = await openNew('file', 'abcdefgh');
      const region = harness.driver.region(3);
      expect(await harness.ring.read(fd, region, OFFSET_POSITION)).toBe(3);
      expect(Buffer.from(region.bytes).toString()).toBe('abc');
      expect(await harness.ring.read(fd, region, 7)).toBe(1);
      expect(await harness.ring.read(fd, region, OFFSET_POSITION)).toBe(3);
      expect(Buffer.from(region.bytes).toString()).toBe('def');
      expect(await harness.ring.write(fd, 'XY', OFFSET_POSITION)).toBe(2);
      expect(fs.readFileSync(harness.path('file'), 'utf8')).toBe('abcdefXY');
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('zero bytes: 0 and no change', async () => {
      const fd = await openNew('file', 'content');
      expect(await harness.ring.read(fd, harness.driver.region(0), 0)).toBe(0);
      expect(await harness.ring.write(fd, '', 3)).toBe(0);
      expect(fs.readFileSync(harness.path('file'), 'utf8')).toBe('content');
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('O_APPEND writes at the end whatever the offset', async () => {
      const fd = await openNew('file', 'first', O_WRONLY | O_APPEND);
      expect(await harness.ring.write(fd, 'second', 0)).toBe(6);
      expect(fs.readFileSync(harness.path('file'), 'utf8')).toBe('firstsecond');
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('offsets beyond 2^32 and beyond 2^53', async () => {
      const fd = await openNew('file');
      expect(await harness.ring.write(fd, 'far', 5 * 2 ** 32 + 1)).toBe(3);
      const region = harness.driver.region(8);
      expect(await harness.ring.read(fd, region, 5 * 2 ** 32)).toBe(4);
      expect(Buffer.from(region.bytes.subarray(0, 4)).toString()).toBe('\0far');
      expect(await harness.ring.read(fd, region, 2n ** 53n + 1n)).toBe(0);
      const write = () => fs.writeSync(fd, 'x', Number.MAX_SAFE_INTEGER);
      expectSameError(await harness.ring.write(fd, 'x', 2 ** 53 - 1), 'EFBIG', write);
      // node:fs cannot say it (a bigint position means "none" to its write): same as just below.
      expectSameError(await harness.ring.write(fd, 'x', 2n ** 62n), 'EFBIG', write);
      expect(fs.fstatSync(fd).size).toBe(5 * 2 ** 32 + 4);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('a megabyte goes and comes unchanged', async () => {
      const fd = await openNew('file');
      const data = Buffer.alloc(MIB);
      for (let index = 0; index < data.length; index++) data[index] = (index * 2654435761) >>> 24;
      expect(await harness.ring.write(fd, data, 3)).toBe(MIB);
      const region = harness.driver.region(MIB);
      expect(await harness.ring.read(fd, region, 3)).toBe(MIB);
      expect(Buffer.compare(region.bytes, data)).toBe(0);
      expect(await harness.ring.close(fd)).toBe(0);
    });
  });

  describe('errors of open files', () => {
    it('EBADF: no such descriptor, for every operation on one', async () => {
      const { ring, driver } = harness;
      const region = driver.region(16);
      const bytes = Buffer.alloc(16);
      const badFd = (call: () => unknown) => nodeResult(call);
      expectSameError(await ring.read(BAD_FD, region), 'EBADF', () => fs.readSync(BAD_FD, bytes));
      expect(await ring.write(BAD_FD, 'x')).toBe(badFd(() => fs.writeSync(BAD_FD, 'x')));
      expect(await ring.sync(BAD_FD)).toBe(badFd(() => fs.fsyncSync(BAD_FD)));
      expect(await ring.sync(BAD_FD, true)).toBe(badFd(() => fs.fdatasyncSync(BAD_FD)));
      expect(await ring.truncate(BAD_FD, 0)).toBe(badFd(() => fs.ftruncateSync(BAD_FD, 0)));
      expect(await ring.close(BAD_FD)).toBe(badFd(() => fs.closeSync(BAD_FD)));
      expect((await ring.stat({ fd: BAD_FD })).result).toBe(badFd(() => fs.fstatSync(BAD_FD)));
      expect(await ring.chmod({ fd: BAD_FD }, 0o600)).toBe(badFd(() => fs.fchmodSync(BAD_FD, 0)));
      expect(await ring.chown({ fd: BAD_FD }, 0, 0)).toBe(badFd(() => fs.fchownSync(BAD_FD, 0, 0)));
      expect(await ring.utimes({ fd: BAD_FD }, 1, 1)).toBe(
        badFd(() => fs.futimesSync(BAD_FD, 1, 1)),
      );
      expect(await ring.readdir(BAD_FD, region)).toBe(badFd(() => fs.fstatSync(BAD_FD)));
    });

    it('EBADF: descriptors below 0, for which node:fs throws', async () => {
      const { ring, driver } = harness;
      const ebadf = nodeResult(() => fs.fstatSync(BAD_FD));
      expect(ebadf).toBeLessThan(0);
      for (const fd of [-1, -2, -(2 ** 31)]) {
        expect(await ring.read(fd, driver.region(1))).toBe(ebadf);
        expect(await ring.write(fd, 'x')).toBe(ebadf);
        expect(await ring.sync(fd)).toBe(ebadf);
        expect(await ring.close(fd)).toBe(ebadf);
        expect((await ring.stat({ fd })).result).toBe(ebadf);
      }
    });

    it('EBADF: the descriptor was opened for the other direction', async () => {
      const reader = await openNew('file', 'content', O_RDONLY);
      const writer = await harness.ring.open(harness.path('file'), O_WRONLY);
      expectSameError(await harness.ring.write(reader, 'x'), 'EBADF', () =>
        fs.writeSync(reader, 'x'),
      );
      expectSameError(await harness.ring.read(writer, harness.driver.region(4)), 'EBADF', () =>
        fs.readSync(writer, Buffer.alloc(4)),
      );
      expect(await harness.ring.close(reader)).toBe(0);
      expect(await harness.ring.close(writer)).toBe(0);
    });

    it('EISDIR: read of a directory', async () => {
      const fd = await harness.ring.open(harness.folder, O_RDONLY);
      expectSameError(await harness.ring.read(fd, harness.driver.region(8)), 'EISDIR', () =>
        fs.readSync(fd, Buffer.alloc(8)),
      );
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('EINVAL: offsets below -1 and ends beyond 2^63', async () => {
      const fd = await openNew('file', 'content');
      const region = harness.driver.region(8);
      const einval = nodeResult(() => fs.readlinkSync(harness.path('file')));
      expect(await harness.ring.read(fd, region, -2)).toBe(einval);
      expect(await harness.ring.write(fd, 'x', -2)).toBe(einval);
      expect(await harness.ring.read(fd, region, -(2n ** 63n))).toBe(einval);
      expect(await harness.ring.read(fd, region, 2n ** 63n - 1n)).toBe(einval);
      expect(await harness.ring.truncate(fd, -1)).toBe(einval);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it.skipIf(!fs.existsSync('/dev/full'))('ENOSPC: /dev/full (skip: not there)', async () => {
      const fd = await harness.ring.open('/dev/full', O_WRONLY);
      expectSameError(await harness.ring.write(fd, 'x', OFFSET_POSITION), 'ENOSPC', () =>
        fs.writeSync(fd, 'x'),
      );
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('a closed descriptor is gone', async () => {
      const fd = await openNew('file', 'content');
      expect(await harness.ring.close(fd)).toBe(0);
      expectSameError(await harness.ring.close(fd), 'EBADF', () => fs.closeSync(fd));
    });
  });

  describe('sync and truncate', () => {
    it('sync and data sync', async () => {
      const fd = await openNew('file', 'content');
      expect(await harness.ring.sync(fd)).toBe(0);
      expect(await harness.ring.sync(fd, true)).toBe(0);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('truncate shortens and lengthens', async () => {
      const fd = await openNew('file', 'content');
      expect(await harness.ring.truncate(fd, 3)).toBe(0);
      expect(fs.readFileSync(harness.path('file'), 'utf8')).toBe('con');
      expect(await harness.ring.truncate(fd, 5 * 2 ** 32)).toBe(0);
      expect(fs.statSync(harness.path('file')).size).toBe(5 * 2 ** 32);
      expect(await harness.ring.close(fd)).toBe(0);
    });

    it('truncate errors: too large, not writable', async () => {
      const fd = await openNew('file', 'content');
      expectSameError(await harness.ring.truncate(fd, 2 ** 53 - 1), 'EFBIG', () =>
        fs.ftruncateSync(fd, 2 ** 53 - 1),
      );
      expectSameError(await harness.ring.truncate(fd, 2n ** 62n), 'EFBIG', () =>
        fs.ftruncateSync(fd, 2 ** 53 - 1),
      );
      expect(await harness.ring.close(fd)).toBe(0);
      const reader = await harness.ring.open(harness.path('file'), O_RDONLY);
      expectSameError(await harness.ring.truncate(reader, 1), 'EINVAL', () =>
        fs.ftruncateSync(reader, 1),
      );
      expect(await harness.ring.close(reader)).toBe(0);
    });
  });

  it('open flags: create, exclusive, truncate', async () => {
    const path = harness.path('file');
    const fd = await harness.ring.open(path, O_RDWR | O_CREAT | O_EXCL, 0o640);
    const umask = process.umask();
    expect(fs.statSync(path).mode & 0o777).toBe(0o640 & ~umask);
    expect(await harness.ring.write(fd, 'content')).toBe(7);
    expect(await harness.ring.close(fd)).toBe(0);
    expectSameError(await harness.ring.open(path, O_RDWR | O_CREAT | O_EXCL), 'EEXIST', () =>
      fs.openSync(path, 'wx'),
    );
    const truncated = await harness.ring.open(path, O_WRONLY | O_TRUNC);
    expect(fs.statSync(path).size).toBe(0);
    expect(await harness.ring.close(truncated)).toBe(0);
  });

  it('descriptors are not inherited by children', async () => {
    const fd = await openNew('file', 'content');
    if (process.platform === 'linux') {
      const info = fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
      const flags = Number.parseInt(/flags:\s*(\d+)/.exec(info)?.[1] ?? '', 8);
      expect(flags & 0o2000000).not.toBe(0); // O_CLOEXEC
    }
    expect(await harness.ring.close(fd)).toBe(0);
  });
});
