// Rules of cancellation in generator bodies, by name: when and where it is delivered, what masks
// it, and what becomes of values that come too late. Owner: none. Method: as
// cancellation_rules.test.ts.
// Not here: races by the hundred thousand (cancellation_races.test.ts).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as fs from '../../lib/fs.ts';
import { checkpoint, current, sleep, type TaskGenerator, waitToken } from '../../lib/index.ts';
import { uncancellable } from '../../lib/task/structured/uncancellable.ts';
import { cancelWhileWaiting, descriptorCount, tick, until, useLab } from './lab.ts';

const lab = useLab();
const hour = 3_600_000;
const cancelWaiting = (body: (log: string[]) => TaskGenerator<unknown>, reason?: unknown) =>
  cancelWhileWaiting(lab, body, reason);
const folder = mkdtempSync(join(tmpdir(), 'nephrite-cancel-'));
const path = join(folder, 'file');
writeFileSync(path, 'x'.repeat(10_000));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('cancellation: delivery', () => {
  it('`catch` does not see it, `finally` does', async () => {
    const { log, task } = await cancelWaiting(function* (log) {
      try {
        yield* sleep(hour);
      } catch {
        log.push('catch');
      } finally {
        log.push('finally');
      }
      log.push('after');
    });
    expect(log).toEqual(['finally']);
    expect(task.outcome?.status).toBe('cancelled');
  });

  function* nested(log: string[], depth: number, wait: boolean): TaskGenerator<void> {
    try {
      if (depth > 0) yield* nested(log, depth - 1, wait);
      else yield* sleep(hour);
    } catch {
      log.push('catch');
    } finally {
      log.push(`enter ${depth}`);
      if (wait) yield* sleep(1);
      log.push(`leave ${depth}`);
    }
  }
  const unwound = [0, 1, 2].flatMap((depth) => [`enter ${depth}`, `leave ${depth}`]);

  it('unwinds nested generators from the inside out', async () => {
    const { log } = await cancelWaiting(function* (log) {
      yield* nested(log, 2, false);
      log.push('not reached');
    });
    expect(log).toEqual(unwound);
  });

  // As JavaScript has it, a generator whose `finally` has waited ends its `yield*` normally: the
  // outer one would go on behind it.
  it('unwinds nested generators whose `finally` waits from the inside out', async () => {
    const { log } = await cancelWaiting(function* (log) {
      yield* nested(log, 2, true);
      log.push('not reached');
    });
    expect(log).toEqual(unwound);
  });

  it('unwinds the outer ones when an inner `finally` waits and then throws', async () => {
    const error = new Error('inner');
    function* inner(log: string[]): TaskGenerator<void> {
      try {
        yield* sleep(hour);
      } finally {
        yield* sleep(1);
        log.push('inner');
        // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
        throw error;
      }
    }
    const { log, task } = await cancelWaiting(function* (log) {
      try {
        yield* inner(log);
        log.push('not reached');
      } finally {
        yield* sleep(1);
        log.push('outer');
      }
    });
    expect(log).toEqual(['inner', 'outer']);
    expect(task.outcome).toMatchObject({ status: 'failure', error: { error } });
  });

  it('cancels again an inner generator that waits in `finally` and continues', async () => {
    function* inner(log: string[]): TaskGenerator<void> {
      for (let round = 0; round < 3; round++) {
        try {
          yield* sleep(hour);
        } finally {
          yield* sleep(1);
          log.push(`finally ${round}`);
          // biome-ignore lint/correctness/noUnsafeFinally: that is the point.
          if (round < 2) continue;
        }
      }
    }
    const { log, task } = await cancelWaiting(function* (log) {
      yield* inner(log);
      log.push('not reached');
    });
    expect(log).toEqual(['finally 0', 'finally 1', 'finally 2']);
    expect(task.outcome?.status).toBe('cancelled');
  });

  it('leaves generators alone that a `finally` block ends for itself', async () => {
    function* numbers(log: string[]): Generator<number> {
      try {
        for (let value = 0; ; value++) yield value;
      } finally {
        log.push('numbers ended');
      }
    }
    function* inner(log: string[]): TaskGenerator<void> {
      try {
        yield* sleep(hour);
      } finally {
        for (const value of numbers(log)) if (value === 2) break;
        yield* sleep(1);
        log.push('inner');
      }
    }
    const { log } = await cancelWaiting(function* (log) {
      yield* inner(log);
      log.push('not reached');
    });
    expect(log).toEqual(['numbers ended', 'inner']);
    expect(Object.getPrototypeOf(numbers.prototype).return.name).toBe('return');
  });

  it('at a checkpoint', async () => {
    const log: string[] = [];
    let isStopped = false;
    const task = lab.rt.spawn(function* () {
      try {
        while (!isStopped) yield* checkpoint();
        log.push('stopped otherwise');
      } finally {
        log.push('finally');
      }
    });
    await tick();
    task.cancel();
    await until(() => task.state === 'completed', 1000);
    isStopped = true;
    expect([log, task.outcome?.status]).toEqual([['finally'], 'cancelled']);
  });

  it('in a loop over operations that are always ready', async () => {
    const gate = waitToken();
    gate.wake();
    let turns = 0;
    const task = lab.rt.spawn(function* () {
      for (;;) {
        yield* gate.wait();
        turns++;
      }
    });
    await tick();
    task.cancel();
    await until(() => task.state === 'completed', 1000);
    expect(task.outcome?.status).toBe('cancelled');
    expect(turns).toBeGreaterThan(0);
  });

  it('of oneself only sets the flag: it comes at the next suspension', async () => {
    const log: string[] = [];
    const task = lab.rt.spawn(function* () {
      try {
        expect(current().cancel('mine')).toBe(true);
        log.push(`cancelled ${current().cancelled}`);
        yield* sleep(hour);
        log.push('not reached');
      } finally {
        log.push('finally');
      }
    });
    expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'mine' });
    expect(log).toEqual(['cancelled true', 'finally']);
  });

  it('of oneself, and then a return: cancelled all the same, `finally` once', async () => {
    let finallyRuns = 0;
    const task = lab.rt.spawn(function* () {
      try {
        yield* checkpoint();
        current().cancel();
        return 'value';
      } finally {
        finallyRuns++;
      }
    });
    expect((await task.settled()).status).toBe('cancelled');
    expect(finallyRuns).toBe(1);
  });

  it('woken before it was cancelled: the value is delivered', async () => {
    const gate = waitToken<string>();
    const log: string[] = [];
    const task = lab.rt.spawn(function* () {
      log.push(yield* gate.wait());
      yield* checkpoint();
      log.push('not reached');
    });
    await tick();
    gate.wake('value');
    task.cancel();
    expect((await task.settled()).status).toBe('cancelled');
    expect(log).toEqual(['value']);
  });

  it('exactly at completion: before the last step it is cancelled, after it is not', async () => {
    const gate = waitToken<number>();
    const before = lab.rt.spawn(function* () {
      return yield* gate.wait();
    });
    const after = lab.rt.spawn(function* () {
      return yield* gate.wait();
    });
    await tick();
    after.settled().then(() => after.cancel());
    gate.wake(1);
    before.cancel();
    expect((await before.settled()).status).toBe('cancelled');
    expect((await after.settled()).status).toBe('success');
    await tick();
    expect(after.cancel()).toBe(false);
  });

  it('a throw before delivery is a failure with that error', async () => {
    const error = new Error('plain');
    const task = lab.rt.spawn(function* () {
      yield* checkpoint();
      current().cancel();
      throw error;
    });
    expect(await task.settled()).toEqual({ status: 'failure', error });
  });

  it('comes when the operation has settled, never earlier', async () => {
    const log: string[] = [];
    const task = lab.rt.spawn(function* () {
      try {
        const read = fs.readFile(path);
        read.then(
          () => log.push('operation'),
          () => log.push('operation'),
        );
        yield* read;
      } finally {
        log.push('finally');
      }
    });
    await until(() => task.state === 'waiting');
    task.cancel();
    await task.settled();
    expect(log).toEqual(['operation', 'finally']);
  });
});

describe('cancellation: masks', () => {
  it('uncancellable: comes at the first suspension after the section', async () => {
    const gate = waitToken();
    const log: string[] = [];
    const task = lab.rt.spawn(function* () {
      yield* uncancellable(function* () {
        yield* gate.wait();
        yield* sleep(1);
        log.push('section');
      });
      log.push('after');
      yield* sleep(hour);
      log.push('not reached');
    });
    await until(() => task.state === 'waiting');
    task.cancel();
    await tick();
    expect(task.state).toBe('waiting');
    gate.wake();
    expect((await task.settled()).status).toBe('cancelled');
    expect(log).toEqual(['section', 'after']);
  });

  it('masks nest', async () => {
    const log: string[] = [];
    const task = lab.rt.spawn(function* () {
      yield* uncancellable(function* () {
        yield* uncancellable(function* () {
          yield* sleep(1);
        });
        log.push(`inner over ${current().cancelled}`);
        yield* sleep(1);
        log.push('outer over');
      });
      yield* checkpoint();
      log.push('not reached');
    });
    await until(() => task.state === 'waiting');
    task.cancel();
    await task.settled();
    expect(log).toEqual(['inner over true', 'outer over']);
  });
});

describe('cancellation: what comes too late', () => {
  it('a file that is opened all the same is closed', async () => {
    await fs.stat(path);
    const before = descriptorCount();
    const tasks = Array.from({ length: 200 }, () =>
      lab.rt.spawn(function* () {
        const file = yield* fs.open(path);
        try {
          yield* sleep(hour);
        } finally {
          yield* file.close();
        }
      }),
    );
    await until(() => tasks.every((task) => task.state !== 'runnable'));
    for (const task of tasks) task.cancel();
    for (const task of tasks) expect((await task.settled()).status).toBe('cancelled');
    await until(() => descriptorCount() <= before);
  });

  it('a file that waited for its `yield*` while the budget was spent is closed', async () => {
    await fs.stat(path);
    const before = descriptorCount();
    lab.rt.engines.register({ engineId: 'hasty', reductionLimit: 1, timerWheelConfig: {} });
    const task = lab.rt.with({ engine: 'hasty' }).spawn(function* () {
      const opening = fs.open(path);
      while (!opening.isSettled) yield* sleep(1);
      current().cancel();
      yield* opening;
    });
    expect((await task.settled()).status).toBe('cancelled');
    await until(() => descriptorCount() <= before);
  });

  it('operations that the body left open are cancelled, silently', async () => {
    const never = waitToken();
    const task = lab.rt.spawn(function* () {
      void never.wait();
      void sleep(hour);
      yield* checkpoint();
      return 'done';
    });
    expect(await task.join()).toBe('done');
    expect(never.waitingCount).toBe(0);
  });

  it('a sleep that its engine refuses leaves nothing behind', async () => {
    lab.rt.engines.register({
      engineId: 'small',
      timerWheelConfig: {},
      resourceLimits: { timersMax: 1 },
    });
    const task = lab.rt.with({ engine: 'small' }).spawn(function* () {
      void sleep(hour);
      let code: unknown;
      try {
        void sleep(hour);
      } catch (error) {
        code = (error as { code?: string }).code;
      }
      expect(current().firstOwned?.nextOwned).toBe(undefined);
      yield* checkpoint();
      return code;
    });
    expect(await task.join()).toBe('ERR_ENGINE_LIMIT');
  });

  it('handlers of an operation that a task cancels are not the task’s code', async () => {
    const op = sleep(hour);
    let ranIn = 'nowhere';
    op.catch(() => {
      try {
        ranIn = current().name;
      } catch {
        ranIn = 'outside';
      }
    });
    await lab.rt.run(function* canceller() {
      op.cancel();
      yield* checkpoint();
    });
    await until(() => ranIn !== 'nowhere');
    expect(ranIn).toBe('outside');
  });
});
