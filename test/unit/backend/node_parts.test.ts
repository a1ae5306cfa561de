// Parts of the `node` backend that its conformance cannot reach on this platform: directories
// without /proc, device numbers of other systems, one wake per turn.
// Not here: what the backend answers (test/conformance).
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as abi from '../../../lib/abi/layout.ts';
import { Directories } from '../../../lib/backend/node/directories.ts';
import { NodeOperation } from '../../../lib/backend/node/node_operation.ts';
import { splitDevice } from '../../../lib/backend/node/stat_record.ts';
import { WakeTimer } from '../../../lib/backend/wake_timer.ts';
import { errnoOf } from '../../../lib/base/errno.ts';
import { decodeRecords } from '../../support/ring_operations.ts';
import { SEED } from '../../support/seed.ts';

describe('node directories without /proc', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nephrite-directories-'));
    writeFileSync(join(folder, 'file'), '');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** One READDIR, giving the names or the errno. */
  function readdir(directories: Directories, fd: number): Promise<string[] | number> {
    return new Promise((resolve) => {
      const buffer = new Uint8Array(1024);
      const operation = new NodeOperation(0, ({ result }) => {
        const records = result < 0 ? [] : decodeRecords(buffer.subarray(0, result));
        resolve(result < 0 ? result : records.map(({ name }) => name.toString()));
      });
      operation.entry.words[abi.SUBMISSION_FD_INDEX] = fd;
      operation.entry.bufferBytes = buffer.length;
      operation.buffer = buffer;
      directories.startReaddir(operation);
    });
  }

  it.each([null, '/no/such/folder'])('directories: by the path of the open (%s)', async (proc) => {
    const directories = new Directories(proc);
    const fd = openSync(folder, 'r');
    directories.remember(fd, Buffer.from(folder), constants.O_RDONLY);
    expect(await readdir(directories, fd)).toEqual(['file']);
    expect(await readdir(directories, fd)).toEqual([]);
    directories.forget(fd);
    closeSync(fd);
  });

  it('directories: a relative path is that of the moment of the open', async () => {
    const before = process.cwd();
    const directories = new Directories(null);
    const fd = openSync(folder, 'r');
    process.chdir(join(folder, '..'));
    directories.remember(fd, Buffer.from(basename(folder)), constants.O_RDONLY);
    mkdirSync(join(folder, 'elsewhere'));
    process.chdir(join(folder, 'elsewhere'));
    expect(await readdir(directories, fd)).toEqual(['elsewhere', 'file']);
    process.chdir(before);
    closeSync(fd);
  });

  it('directories: a descriptor that nobody opened here', async () => {
    const fd = openSync(folder, 'r');
    expect(await readdir(new Directories(null), fd)).toBe(errnoOf('ENOTSUP'));
    closeSync(fd);
  });
});

describe('node stat record', () => {
  it('devices: any 64-bit number comes back when it is put together as glibc does it', () => {
    const property = fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (device) => {
      const { major, minor } = splitDevice(device);
      const [high, low] = [BigInt(major), BigInt(minor)];
      const majorBits = ((high & 0xfffn) << 8n) | ((high & 0xffff_f000n) << 32n);
      expect(majorBits | (low & 0xffn) | ((low & 0xffff_ff00n) << 12n)).toBe(device);
    });
    fc.assert(property, { seed: SEED });
  });
});

describe('wake timer', () => {
  it('wake timer: once per turn, and not again until there was a collection', async () => {
    let calls = 0;
    const timer = new WakeTimer(() => calls++);
    for (let count = 0; count < 5; count++) timer.arm();
    await nextTurn();
    expect(calls).toBe(1);
    timer.arm();
    await nextTurn();
    expect(calls).toBe(1);
    timer.disarm();
    timer.arm();
    await nextTurn();
    expect(calls).toBe(2);
  });

  it('wake timer: collected before the turn ends, nobody is called; a forced wake is', async () => {
    let calls = 0;
    const timer = new WakeTimer(() => calls++);
    timer.arm();
    timer.disarm();
    await nextTurn();
    expect(calls).toBe(0);
    timer.force();
    timer.disarm();
    await nextTurn();
    expect(calls).toBe(1);
    timer.force();
    timer.stop();
    timer.arm();
    await nextTurn();
    expect(calls).toBe(1);
  });
});
