// Cancellations, timeouts and completions at the same moment, by the thousand: each operation
// settles once, with its data or the error of who stopped it; no byte is lost or misplaced, no
// descriptor leaks, one signal has one listener.
// Method: programs/races.ts on each backend with a seed; counts grow with NEPHRITE_TEST_SCALE.
// Not here: each operation in each state (test/lifecycle).
import { afterAll, expect, it } from 'vitest';
import { ChildLab } from '../support/child.ts';
import { describeChildBackends } from '../support/child_backends.ts';
import { describeSeed, SEED } from '../support/seed.ts';

const lab = new ChildLab('races');
afterAll(() => lab.remove());

const SCALE = Number(process.env.NEPHRITE_TEST_SCALE ?? 1);
const TIMEOUT_MS = 20_000 * SCALE;

describeChildBackends(`races (${describeSeed})`, (backend) => {
  const isNode = backend === 'node';
  const run = (command: string, count: number): Promise<Record<string, unknown>> => {
    const args = [command, String(count * SCALE), String(SEED)];
    const nodeFlags = ['--expose-gc'];
    return lab.json('races', { backend, args, nodeFlags, timeoutMs: TIMEOUT_MS });
  };
  /** Every round came to one of the two, and both occurred: the race was one. */
  const expectBoth = (counts: Record<string, unknown>, total: number, code: string): void => {
    const { value, [code]: stopped = 0, ...others } = counts as Record<string, number>;
    expect(others).toEqual({});
    expect((value ?? 0) + stopped).toBe(total * SCALE);
    expect(value).toBeGreaterThan(0);
    // node:fs cannot take a read back: the data comes, whatever was asked.
    if (isNode) expect(stopped).toBe(0);
    else expect(stopped).toBeGreaterThan(0);
  };

  it(
    'a read of a FIFO is aborted as its data comes: data or AbortError, no byte lost',
    async () => expectBoth(await run('aborts', 1000), 1000, 'ABORT_ERR'),
    TIMEOUT_MS,
  );

  it(
    'timeouts as long as the operation takes: data or timeout, no byte lost',
    async () => expectBoth(await run('timeouts', 120), 120, 'ERR_OPERATION_TIMEOUT'),
    TIMEOUT_MS,
  );

  it(
    'opens of a file are aborted at any moment: no descriptor stays',
    async () => {
      const { counts, isFlat } = await run('open-file', 1500);
      expect(counts).toMatchObject({ ABORT_ERR: expect.any(Number), value: expect.any(Number) });
      expect(isFlat).toBe(true);
    },
    TIMEOUT_MS,
  );

  const note = isNode ? ' (node:fs cannot take a started open back)' : '';
  (isNode ? it.skip : it)(
    `opens of a FIFO are aborted: no descriptor stays${note}`,
    async () => {
      expect(await run('open-fifo', 1000)).toEqual({
        counts: { ABORT_ERR: 1000 * SCALE },
        isFlat: true,
      });
    },
    TIMEOUT_MS,
  );

  it(
    'few slots, used again at once, half of their operations cancelled: no result goes astray',
    async () => {
      const counts = await run('slot-reuse', 2500);
      const { value = 0, ABORT_ERR: stopped = 0, ...others } = counts as Record<string, number>;
      expect(others).toEqual({});
      expect(value + stopped).toBe(2500 * SCALE);
    },
    TIMEOUT_MS,
  );

  it(
    'calls of many entries are aborted anywhere: done or AbortError, no descriptor stays',
    async () => {
      const { leaked, value, ABORT_ERR, ...others } = await run('anywhere', 500);
      expect(others).toEqual({});
      expect(leaked).toBe(0);
      expect(Number(value) + Number(ABORT_ERR)).toBe(500 * SCALE);
    },
    TIMEOUT_MS,
  );

  it(
    'twenty thousand operations behind one signal: one listener, memory flat',
    async () => {
      const found = await run('one-signal', 20_000);
      expect(found).toMatchObject({ mostListeners: 1, listenersLeft: 0 });
      expect(found.heapAddedMiB).toBeLessThan(2);
      // V8 keeps what its young generation has grown to: 30 MiB after any number of operations.
      expect(found.rssAddedMiB).toBeLessThan(48);
    },
    TIMEOUT_MS,
  );

  (isNode ? it.skip : it)(
    `writes that share a signal: each error tells its own bytesWritten${note}`,
    async () => {
      expect(await run('shared-signal', 1)).toEqual({ first: 65_536, second: 4096 });
    },
    TIMEOUT_MS,
  );
});
