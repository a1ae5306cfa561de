// Memory that operations use: a buffer that was transferred or collected meanwhile is never written
// by the kernel, its new owner's bytes stay; pool memory starts at 64-byte-aligned addresses.
// Method: programs/buffers.ts on each backend, with --expose-gc.
// Not here: argument checks of buffers (test/conformance), the pool's bookkeeping (unit/ring).
import { afterAll, expect, it } from 'vitest';
import { ChildLab } from '../../support/child.ts';
import { describeChildBackends } from '../../support/child_backends.ts';

const lab = new ChildLab('buffers');
afterAll(() => lab.remove());

describeChildBackends('memory of buffers', (backend) => {
  const run = (command: string): Promise<Record<string, unknown>> =>
    lab.json('buffers', { backend, args: [command], nodeFlags: ['--expose-gc'] });

  it('transferred while a read into it is pending: the new owner keeps its bytes', async () => {
    const { small, large, atOnce } = await run('transfer');
    expect(small).toEqual({ codes: ['ERR_INVALID_STATE'], isIntact: true });
    expect(large).toEqual({ codes: ['ERR_INVALID_STATE'], isIntact: true });
    expect(atOnce).toEqual({
      read: 'ERR_INVALID_STATE',
      // All of it when all had been copied by then, else what had been.
      write: expect.stringMatching(/^(value|ERR_INVALID_STATE)$/),
      isPrefix: true,
      hasLeaked: false,
      isIntact: true,
    });
  });

  const why = backend === 'node' ? ' (memory of V8 there: no kernel writes to it)' : '';
  const itUnlessNode = backend === 'node' ? it.skip : it;

  itUnlessNode(`pool memory cannot be transferred away${why}`, async () => {
    expect(await run('transfer-pool')).toEqual({ isOurs: true });
  });

  it('collected while reads into it are pending: the data arrives, nothing else changes', async () => {
    expect(await run('collect')).toEqual({ settledCount: 60, isIntact: true, isReturned: true });
  });

  itUnlessNode(`chunks and pool buffers start at 64-byte-aligned addresses${why}`, async () => {
    expect(await run('addresses')).toEqual({ count: 10, misaligned: [], isSearchSound: true });
  });
});
