// The end of a process: by itself when nothing is pending, not before, and at once when told to,
// whatever is pending. No crash, no lock that outlives it.
// Method: programs/exits.ts on each backend. Not here: workers (workers_*.test.ts).
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { ChildLab } from '../support/child.ts';
import { type ChildBackend, describeChildBackends } from '../support/child_backends.ts';

const lab = new ChildLab('exit');
afterAll(() => lab.remove());

/** Tells an end from a hang; starting node on a busy machine takes seconds. */
const EXIT_MS_MAX = 15_000;
// uv_library_shutdown() joins libuv's pool: Node's own fs does the same with a FIFO.
const NODE_JOINS = 'node:fs waits for calls that its pool has begun';

async function ends(backend: ChildBackend, command: string, code: number): Promise<string> {
  const result = await lab.run('exits', { backend, args: [command] });
  expect(result, result.stderr).toMatchObject({ code, signal: null });
  expect(result.durationMs).toBeLessThan(EXIT_MS_MAX);
  return result.stdout;
}

/** True when nobody holds a lock on the FIFO. */
function isUnlocked(path: string): boolean {
  const fd = openSync(path, 'r+');
  const { status } = spawnSync('flock', ['--exclusive', '--nonblock', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', fd],
  });
  closeSync(fd);
  return status === 0;
}

describeChildBackends('exit', (backend) => {
  it('ends by itself when nothing is pending', async () => {
    expect(await ends(backend, 'idle', 0)).toBe('{"bytesRead":100}\n');
  });

  it('a pending read keeps it alive until the data comes', async () => {
    const path = lab.fifo(`waits-${backend}`);
    let wasAlive = false;
    const result = await lab.run('exits', {
      backend,
      args: ['waits', path],
      onLine: (line, child) => {
        if (!line.includes('ready')) return;
        setTimeout(() => {
          wasAlive = child.exitCode === null;
          writeFileSync(path, 'at last');
        }, 200);
      },
    });
    expect(wasAlive).toBe(true);
    expect(result).toMatchObject({ code: 0, stdout: '{"ready":true}\n{"text":"at last"}\n' });
  });

  it('all that was started is done before it ends by itself', async () => {
    expect(await ends(backend, 'natural-busy', 0)).toBe('{"doneCount":1000}\n');
  });

  it('process.exit() with a thousand file operations on their way', async () => {
    await ends(backend, 'exit-busy', 7);
  });

  it('an exit handler that closes a handle', async () => {
    expect(await ends(backend, 'close-in-exit-handler', 0)).toBe('{"size":65536}\n');
  });

  const itUnlessNode = backend === 'node' ? it.skip : it;
  const note = backend === 'node' ? ` (${NODE_JOINS})` : '';

  itUnlessNode(`an aborted open of a FIFO does not keep it alive${note}`, async () => {
    expect(await ends(backend, 'aborted-open', 0)).toBe('{"outcome":"ABORT_ERR"}\n');
  });

  itUnlessNode(`an aborted read of a FIFO does not keep it alive${note}`, async () => {
    expect(await ends(backend, 'aborted-read', 0)).toBe('{"outcome":"ABORT_ERR"}\n');
  });

  itUnlessNode(`process.exit() with a thousand reads of a FIFO pending${note}`, async () => {
    expect(await ends(backend, 'exit-pending', 7)).toBe('{"inFlight":1000}\n');
  });

  itUnlessNode(`process.exit() from a handler, reads pending${note}`, async () => {
    await ends(backend, 'exit-in-handler', 7);
  });

  itUnlessNode(`an uncaught throw with a thousand reads pending${note}`, async () => {
    const { code, stderr, durationMs } = await lab.run('exits', {
      backend,
      args: ['throws-pending'],
    });
    expect(code).toBe(1);
    expect(stderr).toContain('Error: thrown with reads pending');
    expect(durationMs).toBeLessThan(EXIT_MS_MAX);
  });

  itUnlessNode(`a lock does not outlive it, reads pending on the locked file${note}`, async () => {
    for (let round = 0; round < 4; round++) {
      const path = lab.fifo(`lock-${backend}-${round}`);
      let isFree = false;
      const { stdout, stderr } = await lab.run('exits', {
        backend,
        args: ['lock', path],
        // At the exit itself: the pipes' ends come later.
        onStart: (child) => child.once('exit', () => (isFree = isUnlocked(path))),
      });
      expect(stdout, stderr).toBe('{"status":0}\n');
      expect(isFree).toBe(true);
    }
  });
});
