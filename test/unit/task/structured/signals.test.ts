// AbortSignal both ways and AsyncLocalStorage: signals that cancel tasks without leaking listeners,
// task.signal for APIs that take one, stores captured at spawn and restored at every resume.
// Not here: signals of single operations (io/), fromEvent.
import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  checkpoint,
  current,
  fromPromise,
  scope,
  sleep,
  spawn,
  type Task,
  waitToken,
} from '../../../../lib/index.ts';
import { test, turns, useRuntime } from './support.ts';

useRuntime();

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapMiB(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

describe('signals in', () => {
  it('aborting cancels the task with the signal’s reason; aborted before: never entered', async () => {
    const controller = new AbortController();
    const task = test.rt.with({ signal: controller.signal }).spawn(() => sleep(1e6));
    await test.rt.run(function* () {
      yield* sleep(5);
      controller.abort('why');
      expect(yield* task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    });
    let isEntered = false;
    const late = test.rt.with({ signal: controller.signal }).spawn(() => {
      isEntered = true;
    });
    expect(await late.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    expect(isEntered).toBe(false);
  });

  it('100,000 tasks share one signal: no listener is left and the heap stays flat', async () => {
    const { signal } = new AbortController();
    const started = test.rt.with({ signal });
    const body = function* () {
      yield* checkpoint();
    };
    const round = async (): Promise<void> => {
      for (let i = 0; i < 10_000; i++) started.spawn(body);
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      await test.rt.run(() => sleep(1));
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    };
    await round();
    const beforeMiB = heapMiB();
    for (let i = 0; i < 10; i++) await round();
    expect(heapMiB() - beforeMiB).toBeLessThan(5);
    expect(test.rt.dump()).toHaveLength(0);
  });

  it('and 10,000 that wait for it are all cancelled', async () => {
    const controller = new AbortController();
    const started = test.rt.with({ signal: controller.signal });
    const tasks: Task[] = Array.from({ length: 10_000 }, () =>
      started.spawn(() => waitToken().wait()),
    );
    await test.rt.run(() => sleep(1));
    controller.abort();
    await test.rt.run(() => sleep(1));
    expect(tasks.every((task) => task.outcome?.status === 'cancelled')).toBe(true);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});

describe('signals out', () => {
  it('task.signal is aborted at the request, so that what takes signals stops', async () => {
    const order: string[] = [];
    const task = test.rt.spawn(function* () {
      const { signal } = current();
      signal.addEventListener('abort', () => order.push('signal'));
      yield* fromPromise(
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      );
    });
    await test.rt.run(function* () {
      yield* sleep(1);
      task.cancel('why');
      expect(yield* task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
    });
    expect(order).toEqual(['signal']);
    expect(task.signal.aborted).toBe(true);
    expect(task.signal.reason).toBe('why');
  });

  it('a signal that is asked for after the request is aborted already', async () => {
    const task = test.rt.spawn(() => sleep(1e6));
    task.cancel('why');
    expect(task.signal.aborted).toBe(true);
    await task.settled();
  });

  it('100,000 signals of tasks leave nothing behind', async () => {
    const round = async (): Promise<void> => {
      for (let i = 0; i < 10_000; i++) void test.rt.spawn(() => void current().signal.aborted);
      await test.rt.run(() => sleep(1));
    };
    await round();
    const beforeMiB = heapMiB();
    for (let i = 0; i < 10; i++) await round();
    expect(heapMiB() - beforeMiB).toBeLessThan(5);
  });
});

describe('AsyncLocalStorage', () => {
  const store = new AsyncLocalStorage<string>();

  it('is captured at spawn and there after every resume: generators, async bodies, children', async () => {
    const seen: (string | undefined)[] = [];
    const look = (): void => void seen.push(store.getStore());
    const tasks = store.run('outer', () => [
      test.rt.spawn(function* () {
        look();
        yield* sleep(2);
        look();
        yield* checkpoint(1e9);
        look();
        yield* spawn(look).join();
        yield* scope(look);
      }),
      test.rt.spawn(async () => {
        look();
        await sleep(2);
        look();
      }),
    ]);
    await store.run('joiner', async () => {
      for (const task of tasks) await task.join();
      expect(store.getStore()).toBe('joiner');
    });
    expect(seen).toEqual(Array(7).fill('outer'));
    expect(store.getStore()).toBeUndefined();
  });

  it('does not leak from task to task, however they take turns', async () => {
    const names = Array.from({ length: 50 }, (_, i) => `store ${i}`);
    const wrong: unknown[] = [];
    const body = function* (expected: string | undefined) {
      for (let i = 0; i < 20; i++) {
        if (store.getStore() !== expected) wrong.push([store.getStore(), expected]);
        if (i % 2 === 0) yield* checkpoint(1e9);
        else yield* sleep(1);
      }
    };
    const tasks = names.map((name) => store.run(name, () => test.rt.spawn(body, name)));
    tasks.push(test.rt.spawn(body, undefined));
    for (const task of tasks) await task.join();
    expect(wrong).toEqual([]);
  });

  it('a store that a body enters stays its own', async () => {
    let seen: string | undefined = 'nothing';
    await test.rt.run(function* () {
      yield* store.run('inner', () => sleep(1));
      spawn(() => store.enterWith('entered'));
      yield* sleep(1);
      seen = store.getStore();
    });
    await turns();
    expect(seen).toBeUndefined();
  });
});
