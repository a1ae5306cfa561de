// S-13. Not here: every rule of cancellation (test/scheduler/cancellation_rules.test.ts).
// „Cancellation ist weder Throw[E] noch Trap.“
import { describe, expect, it } from 'vitest';
import { sleep, TaskCancelledError, TaskTrapError } from '../../lib/index.ts';
import { until, useLab } from '../scheduler/lab.ts';

const lab = useLab();

describe('S-13: cancellation is neither a throw nor a trap', () => {
  it('no `catch` of the body sees it, and the outcome is its own', async () => {
    const log: string[] = [];
    const task = lab.rt.spawn(function* () {
      try {
        yield* sleep(3_600_000);
      } catch (error) {
        log.push(`catch ${String(error)}`);
      } finally {
        log.push('finally');
      }
    });
    await until(() => task.state === 'waiting');
    task.cancel('reason');
    expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'reason' });
    expect(log).toEqual(['finally']);
  });

  it('is no unhandled failure when nobody joins', async () => {
    const task = lab.rt.spawn(function* () {
      yield* sleep(3_600_000);
    });
    await until(() => task.state === 'waiting');
    task.cancel();
    await until(() => task.state === 'completed');
    await new Promise((resolve) => setImmediate(resolve));
    expect(lab.unhandled).toEqual([]);
  });

  it('join() tells it apart from a trap and from what a body throws', async () => {
    const cancelled = lab.rt.spawn(() => 1);
    cancelled.cancel();
    const trapped = lab.rt.spawn(function* (): Generator<never> {
      yield 1 as never;
    });
    const failed = lab.rt.spawn(() => {
      throw new TypeError('own');
    });
    const errors = await Promise.all(
      [cancelled, trapped, failed].map((task) => task.join().catch((error: unknown) => error)),
    );
    expect(errors.map((error) => (error as Error).constructor)).toEqual([
      TaskCancelledError,
      TaskTrapError,
      TypeError,
    ]);
  });

  it('does not spread: the joiner of a cancelled task is not cancelled, nor trapped', async () => {
    const child = lab.rt.spawn(() => 1);
    child.cancel();
    const joiner = lab.rt.spawn(function* () {
      yield* child.join();
    });
    expect(await joiner.settled()).toMatchObject({
      status: 'failure',
      error: { code: 'ERR_TASK_CANCELLED' },
    });
    expect(joiner.cancellationRequested).toBe(false);
  });
});
