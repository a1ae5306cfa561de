// S-18. Not here: the type check and the lint rule against a bare `yield`.
// „VM-Suspensionssignale sind keine JDL-Result[T,E]-Werte.“
import { describe, expect, it } from 'vitest';
import { isSuspension } from '../../lib/base/suspension.ts';
import { channel, checkpoint, sleep, spawn, waitToken } from '../../lib/index.ts';
import { until, useLab } from '../scheduler/lab.ts';

const lab = useLab();

describe('S-18: suspension signals are no values that a program gets', () => {
  it('what `yield*` gives is the value of the operation, suspended or not', async () => {
    const ready = waitToken<string>();
    ready.wake('ready');
    const later = waitToken<string>();
    const pipe = channel<string>(1);
    const task = lab.rt.spawn(function* () {
      const values: unknown[] = [
        yield* ready.wait(),
        yield* later.wait(),
        yield* sleep(0),
        yield* sleep(2),
        yield* checkpoint(),
        yield* checkpoint(1_000_000),
        yield* spawn(() => 'child').join(),
        yield* spawn(() => 'child').settled(),
        yield* pipe.send('message'),
        yield* pipe.receive(),
      ];
      return values;
    });
    await until(() => task.state === 'waiting');
    later.wake('later');
    const values = await task.join();
    expect(values).toEqual([
      'ready',
      'later',
      undefined,
      undefined,
      undefined,
      undefined,
      'child',
      { status: 'success', value: 'child' },
      undefined,
      'message',
    ]);
    for (const value of values) expect(isSuspension(Object(value))).toBe(false);
  });

  it('a suspension is not an error either: neither `catch` nor `finally` runs for it', async () => {
    const log: string[] = [];
    await lab.rt.run(function* () {
      try {
        yield* sleep(2);
        yield* checkpoint(1_000_000);
        log.push('body');
      } catch {
        log.push('catch');
      } finally {
        log.push('finally');
      }
    });
    expect(log).toEqual(['body', 'finally']);
  });

  it('and no value of the program is taken for one', async () => {
    const operation = sleep(1);
    const forged = { done: false, value: undefined, waitable: operation };
    forged.value = forged as never;
    for (const value of [operation, forged, checkpoint(), undefined, 7]) {
      const task = lab.rt.spawn(function* (): Generator<never> {
        yield value as never;
      });
      expect((await task.settled()).status).toBe('trap');
    }
    await operation;
  });
});
