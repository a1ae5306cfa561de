// Operations that wait for another process must leave memory and processor time to the others.
// Method: programs/waiting.ts. Not on the node backend, where four of them stop everything.
// Not here: slots (test/lifecycle, ring full), threads (trouble_process.test.ts).
import { afterAll, expect, it } from 'vitest';
import { ChildLab } from '../support/child.ts';
import { describeChildBackends } from '../support/child_backends.ts';

const lab = new ChildLab('waiting');
afterAll(() => lab.remove());

describeChildBackends(
  'waiting',
  (backend) => {
    it('four hundred large reads of an empty FIFO leave chunks to files', async () => {
      expect(await lab.json('waiting', { backend, args: ['chunks'] })).toEqual({
        small: 'value',
        bulk: 'value',
        write: 'value',
        whole: 'value',
      });
    });

    it('waiting takes no processor time', async () => {
      const { cpuMs } = await lab.json('waiting', { backend, args: ['idle'] });
      // A pump that spins takes all 500; V8's own housekeeping a few.
      expect(cpuMs).toBeLessThan(100);
    });
  },
  ['io_uring', 'epoll'],
);
