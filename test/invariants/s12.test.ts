// S-12. Not here: failures that nobody joins (test/scheduler).
// „Throw[E] unwindet nicht über Task-Grenzen; es wird beim Task-Ausgang materialisiert.“
import { describe, expect, it } from 'vitest';
import { checkpoint, sleep, spawn, type Task } from '../../lib/index.ts';
import { useLab } from '../scheduler/lab.ts';

const lab = useLab();

class OwnError extends Error {
  readonly extra = 42;
}

describe('S-12: a throw does not unwind over the border of a task; it becomes its outcome', () => {
  it('neither the parent nor a sibling is unwound', async () => {
    const error = new OwnError('child');
    const log: string[] = [];
    const parent = lab.rt.spawn(function* () {
      const failing = spawn(function* () {
        yield* checkpoint();
        throw error;
      });
      const sibling = spawn(function* () {
        yield* sleep(2);
        return 'sibling';
      });
      try {
        yield* sleep(4);
        log.push('parent goes on');
      } finally {
        log.push('once');
      }
      log.push(yield* sibling.join());
      return (yield* failing.settled()).status;
    });
    expect(await parent.join()).toBe('failure');
    expect(log).toEqual(['parent goes on', 'once', 'sibling']);
  });

  it('is materialised: the outcome holds the very object, whatever was thrown', async () => {
    for (const thrown of [new OwnError('x'), 'text', '', 0, undefined, null, { plain: true }]) {
      const task = lab.rt.spawn(() => {
        throw thrown;
      });
      expect(await task.settled()).toEqual({ status: 'failure', error: thrown });
      expect((task.outcome as { error: unknown }).error).toBe(thrown);
    }
  });

  it('join() throws it again in the joiner, where `catch` sees it', async () => {
    const error = new OwnError('child', { cause: 'why' });
    const joiner = lab.rt.spawn(function* () {
      const child: Task<void> = spawn(() => {
        throw error;
      });
      try {
        yield* child.join();
      } catch (caught) {
        return caught === error;
      }
      return false;
    });
    expect(await joiner.join()).toBe(true);
    const outside = lab.rt.run(() => {
      throw error;
    });
    await expect(outside).rejects.toBe(error);
  });

  it('a joiner that does not catch it fails with the same object', async () => {
    const error = new OwnError('deep');
    const outer = lab.rt.spawn(function* () {
      yield* spawn(function* () {
        yield* spawn(() => {
          throw error;
        }).join();
      }).join();
    });
    expect(await outer.settled()).toEqual({ status: 'failure', error });
  });
});
