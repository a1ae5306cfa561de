// A process among others: children while operations run, rights given up after the start, a storm
// of signals, and how many threads ten thousand operations may bring.
// Method: programs/processes.ts on each backend. Not here: how a process ends
// (exit_process.test.ts).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ChildLab } from '../support/child.ts';
import { describeChildBackends } from '../support/child_backends.ts';

const lab = new ChildLab('process');
let storm = '';
beforeAll(() => {
  if (process.platform === 'linux') storm = lab.compile('signal_storm.c', '-shared', '-fPIC');
});
afterAll(() => lab.remove());

const SCALE = Number(process.env.NEPHRITE_TEST_SCALE ?? 1);
const IS_ROOT = process.getuid?.() === 0;

describeChildBackends('process', (backend) => {
  it('children of every kind under load: both sides work, no descriptor is inherited', async () => {
    expect(await lab.json('processes', { backend, args: ['children'] })).toEqual({
      codes: [0],
      inherited: [],
      hasRead: true,
      bytesRead: 10,
    });
  });

  it.skipIf(!IS_ROOT)('rights given up by setuid are gone everywhere (needs root)', async () => {
    expect(await lab.json('processes', { backend, args: ['setuid'] })).toEqual({
      asRoot: 'value',
      after: {
        open: 'EACCES',
        'open again': 'EACCES',
        readFile: 'EACCES',
        create: 'ENOENT',
        'stat is allowed': 'value',
        'public is allowed': 'value',
      },
    });
  });

  it('SIGALRM and SIGPROF a thousand times a second, without SA_RESTART: no failure', async () => {
    const args = ['storm', String(700 * SCALE)];
    const options = { backend, args, env: { LD_PRELOAD: storm }, timeoutMs: 15_000 * SCALE };
    expect(await lab.json('processes', options)).toEqual({ name: backend, hasRun: true });
  });

  // node:fs would run nothing at all while four of the forty wait.
  const note = backend === 'node' ? ' (node:fs has four threads for all)' : '';
  const itUnlessNode = backend === 'node' ? it.skip : it;

  itUnlessNode(`ten thousand operations and forty opens of FIFOs: few threads${note}`, async () => {
    const found = await lab.json('processes', { backend, args: ['threads'] });
    expect(found.leaked).toBe(0);
    // 40 that wait, 8 + 8 workers of io_uring, the pool of files, what V8 may add.
    expect(found.addedCount).toBeLessThanOrEqual(40 + 16 + 8 + 4);
  });
});
