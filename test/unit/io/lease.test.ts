// Leases: what an entry's paths lead through is held until the entry has ended, also when its
// operation was given up before, since the number of a descriptor may be a stranger's by then.
// Not here: who needs that (lib/io/path_walk.ts).
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as abi from '../../../lib/abi/layout.ts';
import { DEFAULT_BACKEND_OPTIONS } from '../../../lib/backend/backend.ts';
import { createNodeBackend } from '../../../lib/backend/node/node_backend.ts';
import { AbortError } from '../../../lib/base/errors.ts';
import { IoThread } from '../../../lib/io/io_thread.ts';
import { type Lease, startUnguarded } from '../../../lib/io/path_operation.ts';

class CountingLease implements Lease {
  held = 0;
  ended = 0;
  hold(): void {
    this.held++;
  }
  release(): void {
    this.ended++;
  }
}

let thread: IoThread;
let lease: CountingLease;
beforeEach(() => {
  lease = new CountingLease();
  thread = new IoThread((onWake) => createNodeBackend({ ...DEFAULT_BACKEND_OPTIONS, onWake }));
});
afterEach(() => thread.close());

const start = (path: string) =>
  startUnguarded(thread, { opcode: abi.OP_ACCESS, syscall: 'access', path, lease }, () => 'there');

it('is given back once when an operation succeeds, fails or never starts', async () => {
  expect(await start('/')).toBe('there');
  await expect(start('/no/such')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(start('x'.repeat(5000))).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  expect(lease).toMatchObject({ held: 3, ended: 3 });
});

it('is held by an entry whose operation was given up', async () => {
  const operation = start('/');
  thread.pump();
  operation.cancelWith(new AbortError());
  await expect(operation).rejects.toMatchObject({ code: 'ABORT_ERR' });
  expect(lease).toMatchObject({ held: 1, ended: 0 });
  while (lease.ended === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(lease.ended).toBe(1);
});

it('is given back when the thread closes', async () => {
  const operation = start('/');
  thread.close();
  await expect(operation).rejects.toMatchObject({ code: 'ERR_POLLER_CLOSED' });
  expect(lease).toMatchObject({ held: 1, ended: 1 });
});
