// The wait protocol of Operation: subscribe, unsubscribe, cancel, and `yield*` through the
// iterator.
// Not here: then/catch/finally (operation_promise.test.ts).
import { describe, expect, it } from 'vitest';
import { InvariantError } from '../../../lib/base/assert.ts';
import {
  fulfilledOperation,
  ManualOperation,
  type Operation,
  type OperationWaiter,
  rejectedOperation,
} from '../../../lib/base/operation.ts';
import { Prng } from '../../../lib/base/prng.ts';
import type { Suspension } from '../../../lib/base/suspension.ts';
import { describeSeed, SEED } from '../../support/seed.ts';

class Waiter implements OperationWaiter {
  nextWaiter: OperationWaiter | undefined = undefined;
  readonly name: string;
  readonly calls: string[];
  onCall: (() => void) | undefined;

  constructor(name: string, calls: string[], onCall?: () => void) {
    this.name = name;
    this.calls = calls;
    this.onCall = onCall;
  }

  operationSettled(operation: Operation<unknown>): void {
    this.calls.push(`${this.name}:${operation.state}`);
    this.onCall?.();
  }
}

const failure = new Error('failed');
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('operation: wait protocol', () => {
  it('subscribe: called once at settlement, in order, with the state readable', () => {
    const operation = new ManualOperation<number>();
    const calls: string[] = [];
    for (const name of ['a', 'b', 'c']) operation.subscribe(new Waiter(name, calls));
    expect(operation.isSettled).toBe(false);
    expect(calls).toEqual([]);
    operation.resolveWith(1);
    expect(calls).toEqual(['a:1', 'b:1', 'c:1']);
    expect(operation.settledValue).toBe(1);
  });

  it('subscribe: at once when already settled', () => {
    const calls: string[] = [];
    fulfilledOperation(1).subscribe(new Waiter('a', calls));
    rejectedOperation(failure).subscribe(new Waiter('b', calls));
    expect(calls).toEqual(['a:1', 'b:2']);
  });

  it('subscribe: a waiter in two lists is a broken invariant', () => {
    const [first, second] = [new ManualOperation(), new ManualOperation()];
    const waiter = new Waiter('a', []);
    first.subscribe(waiter);
    expect(() => second.subscribe(waiter)).toThrow(InvariantError);
    expect(() => first.subscribe(waiter)).toThrow(InvariantError);
  });

  it('subscribe: a waiter is free for the next operation while it is being called', () => {
    const [first, second] = [new ManualOperation<number>(), new ManualOperation<number>()];
    const calls: string[] = [];
    const waiter = new Waiter('a', calls, () => {
      if (!second.isSettled) second.subscribe(waiter);
    });
    first.subscribe(waiter);
    first.resolveWith(1);
    second.resolveWith(2);
    expect(calls).toEqual(['a:1', 'a:1']);
  });

  it('unsubscribe: not called any more; a stranger is ignored', () => {
    const operation = new ManualOperation<number>();
    const calls: string[] = [];
    const waiters = ['a', 'b', 'c', 'd'].map((name) => new Waiter(name, calls));
    for (const waiter of waiters) operation.subscribe(waiter);
    const [first, second, , last] = waiters;
    if (first === undefined || second === undefined || last === undefined) throw new Error('four');
    operation.unsubscribe(new Waiter('stranger', calls));
    operation.unsubscribe(second);
    operation.unsubscribe(last);
    operation.unsubscribe(first);
    operation.unsubscribe(first);
    operation.resolveWith(1);
    expect(calls).toEqual(['c:1']);
  });

  it('unsubscribe: during the calls, keeps those that follow from being called', () => {
    const operation = new ManualOperation<number>();
    const calls: string[] = [];
    const last = new Waiter('c', calls);
    operation.subscribe(new Waiter('a', calls, () => operation.unsubscribe(last)));
    operation.subscribe(new Waiter('b', calls));
    operation.subscribe(last);
    operation.resolveWith(1);
    expect(calls).toEqual(['a:1', 'b:1']);
  });

  it('unsubscribe: works between the settlement of a link and its calls', async () => {
    const operation = new ManualOperation<number>();
    const link = operation.then();
    const calls: string[] = [];
    const waiter = new Waiter('a', calls);
    link.subscribe(waiter);
    operation.resolveWith(1);
    expect(link.isSettled).toBe(true);
    link.unsubscribe(waiter);
    await turn();
    expect(calls).toEqual([]);
  });

  it('random subscribe and unsubscribe agree with an array', () => {
    const random = new Prng(SEED);
    for (let round = 0; round < 50; round++) {
      const operation = new ManualOperation<number>();
      const calls: string[] = [];
      const all = Array.from({ length: 12 }, (_, index) => new Waiter(`w${index}`, calls));
      const model: Waiter[] = [];
      for (let step = 0; step < 60; step++) {
        const waiter = all[random.nextBelow(all.length)] as Waiter;
        const at = model.indexOf(waiter);
        if (at >= 0) {
          operation.unsubscribe(waiter);
          model.splice(at, 1);
        } else {
          operation.subscribe(waiter);
          model.push(waiter);
        }
      }
      operation.resolveWith(1);
      expect(calls, describeSeed).toEqual(model.map(({ name }) => `${name}:1`));
    }
  });

  it('onSettled: one housekeeper, called before the waiters', () => {
    const operation = new ManualOperation<number>();
    const calls: string[] = [];
    operation.subscribe(new Waiter('waiter', calls));
    operation.onSettled(new Waiter('housekeeper', calls));
    expect(() => operation.onSettled(new Waiter('second', calls))).toThrow(InvariantError);
    operation.resolveWith(1);
    expect(calls).toEqual(['housekeeper:1', 'waiter:1']);
  });

  it('onSettled: a housekeeper that throws keeps no waiter waiting', () => {
    const operation = new ManualOperation<number>();
    const calls: string[] = [];
    operation.onSettled({
      nextWaiter: undefined,
      operationSettled: () => {
        throw failure;
      },
    });
    operation.subscribe(new Waiter('a', calls));
    expect(() => operation.resolveWith(1)).toThrow(failure);
    expect(calls).toEqual(['a:1']);
  });

  it('cancel: of a link reaches the operation it came from, until it has settled', () => {
    const reasons: unknown[] = [];
    class Cancellable extends ManualOperation<number> {
      override cancel(reason?: unknown): void {
        reasons.push(reason);
      }
    }
    const operation = new Cancellable();
    const link = operation.then().finally(() => {});
    link.cancel('why');
    expect(reasons).toEqual(['why']);
    operation.resolveWith(1);
    operation.then().cancel('too late');
    expect(reasons).toEqual(['why', 'too late']);
  });
});

describe('operation: yield*', () => {
  function* body(operation: Operation<number>): Generator<Suspension, string> {
    try {
      return `got ${yield* operation}`;
    } catch (error) {
      return `caught ${String(error)}`;
    }
  }

  it('on a settled one does not suspend', () => {
    expect(body(fulfilledOperation(5)).next()).toEqual({ done: true, value: 'got 5' });
    const failed = body(rejectedOperation<number>(failure)).next();
    expect(failed).toEqual({ done: true, value: `caught ${failure}` });
  });

  it('on an unsettled one yields a suspension that names it, once', () => {
    const operation = new ManualOperation<number>();
    const task = body(operation);
    const { done, value } = task.next();
    expect(done).toBe(false);
    expect((value as Suspension).waitable).toBe(operation);
    operation.resolveWith(7);
    expect(task.next()).toEqual({ done: true, value: 'got 7' });
  });

  it('a failure is thrown at the yield*', () => {
    const operation = new ManualOperation<number>();
    const task = body(operation);
    task.next();
    operation.subscribe(new Waiter('scheduler', []));
    operation.rejectWith(failure);
    expect(task.next()).toEqual({ done: true, value: `caught ${failure}` });
  });

  it('resumed too early: ERR_FOREIGN_YIELD says what to do', () => {
    const operation = new ManualOperation<number>();
    const iterator = operation[Symbol.iterator]();
    iterator.next();
    expect(() => iterator.next()).toThrow(
      expect.objectContaining({
        code: 'ERR_FOREIGN_YIELD',
        message: expect.stringContaining('yield*'),
      }),
    );
  });

  it('return() ends it without yielding, and runs the finally blocks of the task', () => {
    const operation = new ManualOperation<number>();
    const seen: string[] = [];
    const task = (function* (): Generator<Suspension, void> {
      try {
        yield* operation;
        seen.push('resumed');
      } catch {
        seen.push('caught');
      } finally {
        seen.push('finally');
      }
    })();
    task.next();
    expect(task.return()).toEqual({ done: true, value: undefined });
    expect(seen).toEqual(['finally']);
  });

  it('generator.throw() arrives as that error, not as a TypeError', () => {
    const task = body(new ManualOperation<number>());
    task.next();
    expect(task.throw(failure)).toEqual({ done: true, value: `caught ${failure}` });
  });
});
