// Rules of cancellation in generator bodies, by name: what asking for it means, and what `finally`
// may do. Owner: none. Method: each test brings a body to a place, cancels it there, and looks at
// what ran and what came out. Not here: when it is delivered (cancellation_delivery.test.ts), async
// bodies (cancellation_async.test.ts), bodies that survive (survivors.test.ts).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as fs from '../../lib/fs.ts';
import {
  checkpoint,
  current,
  sleep,
  spawn,
  TaskCancelledError,
  type TaskGenerator,
  waitToken,
} from '../../lib/index.ts';
import { cancelWhileWaiting, tick, until, useLab } from './lab.ts';

const lab = useLab();
const hour = 3_600_000;
const cancelWaiting = (body: (log: string[]) => TaskGenerator<unknown>, reason?: unknown) =>
  cancelWhileWaiting(lab, body, reason);
const folder = mkdtempSync(join(tmpdir(), 'nephrite-cancel-'));
const path = join(folder, 'file');
writeFileSync(path, 'x'.repeat(10_000));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('cancellation: asking for it', () => {
  it('is sticky; the first reason wins; asking again says false', async () => {
    const task = lab.rt.spawn(function* () {
      yield* sleep(hour);
    });
    await tick();
    expect([task.cancel('one'), task.cancel('two'), task.cancellationRequested]).toEqual([
      true,
      false,
      true,
    ]);
    expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'one' });
    expect(task.cancellationRequested).toBe(true);
  });

  it('of a completed task is a no-op that says false, and the next task is well', async () => {
    const task = lab.rt.spawn(() => 1);
    expect(await task.join()).toBe(1);
    expect(task.cancel()).toBe(false);
    expect(task.cancellationRequested).toBe(false);
    expect(await lab.rt.run(() => 2)).toBe(2);
    expect(task.outcome).toEqual({ status: 'success', value: 1 });
  });

  it('before its first run: the body is never entered', async () => {
    let isEntered = false;
    const task = lab.rt.spawn(function* () {
      isEntered = true;
      yield* checkpoint();
    });
    task.cancel('early');
    expect(task.state).toBe('runnable');
    expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'early' });
    expect(isEntered).toBe(false);
  });

  it('join() of a cancelled task throws TaskCancelledError with the reason', async () => {
    const reason = new Error('why');
    const { task } = await cancelWaiting(function* () {
      yield* sleep(hour);
    }, reason);
    const error = await task.join().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskCancelledError);
    expect(error).toMatchObject({ code: 'ERR_TASK_CANCELLED', reason, cause: reason });
  });

  it('is not the joiner’s own cancellation', async () => {
    const joiner = lab.rt.spawn(function* () {
      const child = spawn(function* () {
        yield* sleep(hour);
      });
      yield* checkpoint();
      child.cancel();
      try {
        yield* child.join();
      } catch (error) {
        return (error as Error).name;
      }
      return 'nothing thrown';
    });
    expect(await joiner.join()).toBe('TaskCancelledError');
  });

  it('aborts task.signal, with the reason', async () => {
    let signal: AbortSignal | undefined;
    const { task } = await cancelWaiting(function* () {
      signal = current().signal;
      yield* sleep(hour);
    }, 'told');
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toBe('told');
    expect(task.signal).toBe(signal);
  });
});

describe('cancellation: `finally`', () => {
  it('that waits, is masked', async () => {
    const { log, task } = await cancelWaiting(function* (log) {
      try {
        yield* sleep(hour);
      } finally {
        yield* sleep(1);
        log.push('waited');
        log.push(String((yield* fs.readFile(path)).length));
      }
    });
    expect(log).toEqual(['waited', '10000']);
    expect(task.outcome?.status).toBe('cancelled');
  });

  it('that waits twice, and joins a child', async () => {
    const { log } = await cancelWaiting(function* (log) {
      try {
        yield* sleep(hour);
      } finally {
        yield* sleep(1);
        log.push('one');
        const child = spawn(function* () {
          yield* sleep(1);
          return 'child';
        });
        log.push(yield* child.join());
      }
    });
    expect(log).toEqual(['one', 'child']);
  });

  it('that waits is not cancelled by asking again', async () => {
    const log: string[] = [];
    const cleanup = waitToken<string>();
    const task = lab.rt.spawn(function* () {
      try {
        yield* sleep(hour);
      } finally {
        log.push(yield* cleanup.wait());
      }
    });
    await until(() => task.state === 'waiting');
    task.cancel('first');
    await until(() => task.waitCondition?.startsWith('token') === true);
    expect(task.cancel('second')).toBe(false);
    await tick();
    expect(task.state).toBe('waiting');
    cleanup.wake('cleaned');
    expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'first' });
    expect(log).toEqual(['cleaned']);
  });

  it('that loops and waits in each round', async () => {
    const { log } = await cancelWaiting(function* (log) {
      try {
        yield* sleep(hour);
      } finally {
        for (let round = 0; round < 3; round++) {
          yield* sleep(1);
          log.push(`round ${round}`);
          yield* checkpoint();
        }
      }
    });
    expect(log).toEqual(['round 0', 'round 1', 'round 2']);
  });

  it('that continues: cancelled again at the next suspension', async () => {
    const { log, task } = await cancelWaiting(function* (log) {
      for (let round = 0; round < 3; round++) {
        try {
          log.push(`try ${round}`);
          yield* sleep(hour);
        } finally {
          log.push(`finally ${round}`);
          // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
          if (round < 2) continue;
        }
      }
    });
    expect(log.length).toBe(6);
    expect(task.outcome?.status).toBe('cancelled');
  });

  it('that waits and continues: cancelled again too', async () => {
    const { log, task } = await cancelWaiting(function* (log) {
      for (let round = 0; round < 3; round++) {
        try {
          log.push(`try ${round}`);
          yield* sleep(hour);
        } finally {
          yield* sleep(1);
          log.push(`finally ${round}`);
          // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
          if (round < 2) continue;
        }
      }
    });
    expect(log.length).toBe(6);
    expect(task.outcome?.status).toBe('cancelled');
  });

  it('that breaks: the body goes on and ends, cancelled', async () => {
    const { log, task } = await cancelWaiting(function* (log) {
      for (;;) {
        try {
          yield* sleep(hour);
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
          break;
        }
      }
      log.push('after');
      return 'value';
    });
    expect(log).toEqual(['after']);
    expect(task.outcome?.status).toBe('cancelled');
  });

  it('that throws: failure, with the cancellation suppressed in it', async () => {
    const error = new Error('in finally');
    const { task } = await cancelWaiting(function* () {
      try {
        yield* sleep(hour);
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
        throw error;
      }
    }, 'why');
    expect(task.outcome).toMatchObject({ status: 'failure', error: { error } });
    const { suppressed } = (task.outcome as { error: { suppressed: unknown } }).error;
    expect(suppressed).toBeInstanceOf(TaskCancelledError);
    expect(suppressed).toMatchObject({ reason: 'why' });
  });

  it('that waits and then throws: the same', async () => {
    const error = new Error('in finally');
    const { task } = await cancelWaiting(function* () {
      try {
        yield* sleep(hour);
      } finally {
        yield* sleep(1);
        // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
        throw error;
      }
    });
    expect(task.outcome).toMatchObject({ status: 'failure', error: { error } });
  });

  it('that returns: the value is ignored', async () => {
    const { task } = await cancelWaiting(function* () {
      try {
        yield* sleep(hour);
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
        return 'value';
      }
    }, 'why');
    expect(task.outcome).toEqual({ status: 'cancelled', reason: 'why' });
  });

  it('an error that `finally` catches itself is nobody’s', async () => {
    const { log, task } = await cancelWaiting(function* (log) {
      try {
        yield* sleep(hour);
      } finally {
        try {
          yield* fs.readFile(join(folder, 'missing'));
        } catch (error) {
          log.push((error as NodeJS.ErrnoException).code ?? '');
        }
      }
    });
    expect(log).toEqual(['ENOENT']);
    expect(task.outcome?.status).toBe('cancelled');
  });

  it('of a trapped body that throws: failure, with the trap suppressed in it', async () => {
    const error = new Error('in finally');
    const task = lab.rt.spawn(function* (): Generator<never, void, unknown> {
      try {
        yield 1 as never;
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
        throw error;
      }
    });
    expect(await task.settled()).toMatchObject({
      status: 'failure',
      error: { error, suppressed: { code: 'ERR_TASK_TRAPPED', info: { kind: 'foreign-yield' } } },
    });
  });
});
