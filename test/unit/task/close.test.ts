// Close of a runtime on the real clock: far deadlines, and tasks that are left behind.
// Not here: close on virtual time (test/unit/testing/).
import { describe, expect, it } from 'vitest';
import { Runtime, sleep } from '../../../lib/index.ts';

describe('close()', () => {
  it('takes deadlines beyond the 31 bits of a timer', async () => {
    const rt = await Runtime.start();
    const task = rt.spawn(() => sleep(30));
    expect(await rt.close({ deadline: 2 ** 31 })).toMatchObject({ drained: 1, cancelled: 0 });
    expect(task.outcome?.status).toBe('success');
  });

  it('lets an abandoned task come to the end of its `finally`', async () => {
    const rt = await Runtime.start();
    const task = rt.spawn(function* () {
      try {
        yield* sleep(1e6);
      } finally {
        yield* sleep(1100);
      }
    });
    await new Promise((resolve) => setImmediate(resolve));
    const { abandoned } = await rt.close({ deadline: 0 });
    expect(abandoned).toHaveLength(1);
    // Its timer keeps no process alive, nor this test: the interval does.
    const keeping = setInterval(() => {}, 1000);
    expect((await task.settled()).status).toBe('cancelled');
    clearInterval(keeping);
  });
});

describe('runtime: options and calls that make no sense', () => {
  it('close() inside a task of the runtime is refused: it would wait for itself', async () => {
    const rt = await Runtime.start();
    const outcome = await rt
      .spawn(function* () {
        rt.close();
        yield* sleep(0);
      })
      .settled();
    expect(outcome).toMatchObject({ error: { code: 'ERR_JOIN_CYCLE' } });
    await rt.close();
  });

  it.each([
    [{ capabilites: { spawn: false } }, 'ERR_INVALID_ARG_VALUE'],
    [{ workers: 2 }, 'ERR_OUT_OF_RANGE'],
    [{ backend: 'kqueue' }, 'ERR_INVALID_ARG_VALUE'],
    [{ ring: { entries: 3 } }, 'ERR_OUT_OF_RANGE'],
  ])('start(%j): %s', async (options, code) => {
    await expect(Runtime.start(options as never)).rejects.toMatchObject({ code });
  });
});
