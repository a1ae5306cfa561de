// Backend conformance, READ_FILE: a small file from open to close in one entry.
// Method: where a backend takes it, the bytes are those of the file; everything it must decline (a
// FIFO, /proc, a directory, too large, empty) is -EAGAIN and has no effect; errors of the open are
// Node's. The node backend declines all of it (ENOTSUP). Not here: the fall-back (integration/).
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { expect, it } from 'vitest';
import * as abi from '../../lib/abi/layout.ts';
import { errnoOf } from '../../lib/base/errno.ts';
import { describeBackends } from '../support/backend_cases.ts';
import { useBackend } from '../support/backend_harness.ts';
import type { Region } from '../support/ring_driver.ts';

/** What the process has open: the others in it open and close files of their own meanwhile. */
function openFiles(): string[] {
  return fs.readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [fs.readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

const DECLINED = [errnoOf('EAGAIN'), errnoOf('ENOTSUP')];

describeBackends('backend whole files', (backend) => {
  const harness = useBackend(backend);

  async function readFile(path: string, region: Region): Promise<number> {
    const { ring } = harness;
    const paths = ring.paths(path);
    const buffer = ring.buffer(region);
    const flags = abi.ENTRY_HAS_PATH | abi.ENTRY_HAS_BUFFER;
    return ring.result({ opcode: abi.OP_READ_FILE, ...buffer, ...paths, flags });
  }

  it('the bytes of a small file, and the descriptor is closed', async () => {
    fs.writeFileSync(harness.path('file'), 'hello');
    const region = harness.driver.region(64);
    region.bytes.fill(0xee);
    const result = await readFile(harness.path('file'), region);
    if (!backend.isNative) {
      expect(DECLINED).toContain(result);
      return;
    }
    expect(result).toBe(5);
    expect(Buffer.from(region.bytes.subarray(0, 5)).toString()).toBe('hello');
    expect(region.bytes[5]).toBe(0xee);
    expect(openFiles()).not.toContain(harness.path('file'));
  });

  it('declines what needs a second look, without an effect', async () => {
    const region = harness.driver.region(64);
    fs.writeFileSync(harness.path('empty'), '');
    fs.writeFileSync(harness.path('large'), 'x'.repeat(65));
    fs.mkdirSync(harness.path('folder'));
    expect(spawnSync('mkfifo', [harness.path('fifo')]).status).toBe(0);
    for (const path of ['empty', 'large', 'folder', 'fifo'].map((name) => harness.path(name))) {
      expect(DECLINED).toContain(await readFile(path, region));
    }
    expect(DECLINED).toContain(await readFile('/proc/self/status', region));
    expect(DECLINED).toContain(await readFile('/dev/zero', region));
  });

  it('a missing file is ENOENT where the backend takes it', async () => {
    const result = await readFile(harness.path('missing'), harness.driver.region(64));
    expect([errnoOf('ENOENT'), ...DECLINED]).toContain(result);
    if (backend.isNative) expect(result).toBe(errnoOf('ENOENT'));
  });

  it('without a path or a buffer: EINVAL', async () => {
    const paths = harness.ring.paths(harness.path('file'));
    const result = await harness.ring.result({ opcode: abi.OP_READ_FILE, ...paths });
    expect(result).toBe(errnoOf('EINVAL'));
  });
});
