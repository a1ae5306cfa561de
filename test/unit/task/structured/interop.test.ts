// fromPromise and fromEvent: in tasks and ordinary code, late results, listeners on every way out.
// Not here: signals as settings of tasks (signals.test.ts).
import { EventEmitter, getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { AbortError, fromEvent, fromPromise, sleep, spawnLocal } from '../../../../lib/index.ts';
import { rejectionOf, test, turns, useRuntime } from './support.ts';

useRuntime();

const code = (value: string) => expect.objectContaining({ code: value });

describe('fromPromise', () => {
  it('gives what the promise gives, itself', async () => {
    await test.rt.run(function* () {
      expect(yield* fromPromise(Promise.resolve(1))).toBe(1);
      expect(yield* fromPromise(new Promise((resolve) => setImmediate(resolve, 2)))).toBe(2);
      const root = new Error('root');
      try {
        yield* fromPromise(Promise.reject(root));
        expect.unreachable();
      } catch (error) {
        expect(error).toBe(root);
      }
    });
    const operation = sleep(1);
    expect(fromPromise(operation)).toBe(operation);
    await operation;
  });

  it('cancelled: at once; the late result is ignored, a late failure is nobody’s', async () => {
    const stray: unknown[] = [];
    const listener = (error: unknown): void => {
      stray.push(error);
    };
    process.on('unhandledRejection', listener);
    try {
      let fail: (error: Error) => void = () => {};
      const task = spawnLocal(function* () {
        yield* fromPromise(
          new Promise((_resolve, reject) => {
            fail = reject;
          }),
        );
      });
      await turns();
      expect(task.waitCondition).toBe('promise');
      task.cancel('why');
      expect(await task.settled()).toEqual({ status: 'cancelled', reason: 'why' });
      fail(new Error('late'));
      await turns();
      expect(stray).toEqual([]);
    } finally {
      process.off('unhandledRejection', listener);
    }
    const operation = fromPromise(new Promise(() => {}));
    operation.cancel('why');
    const error = await rejectionOf(operation);
    expect(error).toBeInstanceOf(AbortError);
    expect((error as AbortError).cause).toBe('why');
  });

  it('stands thenables that call twice, throw, or give thenables', async () => {
    const twice = {
      then(resolve: (value: number) => void) {
        resolve(1);
        resolve(2);
      },
    };
    expect(await fromPromise(twice as PromiseLike<number>)).toBe(1);
    const throwing = {
      then() {
        throw new Error('then');
      },
    };
    expect(await rejectionOf(fromPromise(throwing as never))).toEqual(new Error('then'));
  });

  it('refuses what is no promise', () => {
    for (const given of [undefined, null, 5, {}, () => {}]) {
      expect(() => fromPromise(given as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
    }
  });
});

describe('fromEvent of an EventEmitter', () => {
  const counts = (emitter: EventEmitter): number[] =>
    ['data', 'error'].map((name) => emitter.listenerCount(name));

  it('gives the arguments of the next event, and its listeners are gone', async () => {
    const emitter = new EventEmitter();
    const task = spawnLocal(function* () {
      return yield* fromEvent<[number, string]>(emitter, 'data');
    });
    await turns();
    expect(task.waitCondition).toBe('event data');
    expect(counts(emitter)).toEqual([1, 1]);
    emitter.emit('data', 1, 'two');
    emitter.emit('data', 3);
    expect(await task.join()).toEqual([1, 'two']);
    expect(counts(emitter)).toEqual([0, 0]);
  });

  it('rejects with an error that comes first; waits for errors by their name', async () => {
    const emitter = new EventEmitter();
    const root = new Error('root');
    const operation = fromEvent(emitter, 'data');
    emitter.emit('error', root);
    expect(await rejectionOf(operation)).toBe(root);
    expect(counts(emitter)).toEqual([0, 0]);
    const errors = fromEvent(emitter, 'error');
    emitter.emit('error', root);
    expect(await errors).toEqual([root]);
    expect(counts(emitter)).toEqual([0, 0]);
  });

  it('is cancelled, with its task or by a signal, and its listeners are gone', async () => {
    const emitter = new EventEmitter();
    const task = spawnLocal(() => fromEvent(emitter, 'data'));
    await turns();
    task.cancel('why');
    expect((await task.settled()).status).toBe('cancelled');
    expect(counts(emitter)).toEqual([0, 0]);
    const controller = new AbortController();
    const { signal } = controller;
    const many = Array.from({ length: 100 }, () =>
      fromEvent(new EventEmitter(), 'data', { signal }),
    );
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort('why');
    for (const operation of many) {
      expect(await rejectionOf(operation)).toMatchObject({ name: 'AbortError', cause: 'why' });
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    const late = fromEvent(emitter, 'data', { signal });
    expect(counts(emitter)).toEqual([0, 0]);
    expect(await rejectionOf(late)).toBeInstanceOf(AbortError);
  });

  it('a signal that is not aborted keeps no listener', async () => {
    const { signal } = new AbortController();
    const emitter = new EventEmitter();
    const operation = fromEvent(emitter, 'data', { signal });
    emitter.emit('data');
    await operation;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('fromEvent of an EventTarget', () => {
  it('gives the event, and its listener is gone in every case', async () => {
    const target = new EventTarget();
    const operation = fromEvent<[Event]>(target, 'ready');
    target.dispatchEvent(new Event('ready'));
    const [event] = await operation;
    expect(event.type).toBe('ready');
    const other = fromEvent(target, 'ready');
    expect(getEventListeners(target, 'ready')).toHaveLength(1);
    other.cancel();
    await rejectionOf(other);
    expect(getEventListeners(target, 'ready')).toHaveLength(0);
    // Of a target, 'error' is an event as any other.
    const errors = fromEvent(target, 'error');
    target.dispatchEvent(new Event('error'));
    expect(await errors).toHaveLength(1);
  });

  it('refuses other sources, names and options', () => {
    for (const source of [undefined, null, 5, {}, () => {}]) {
      expect(() => fromEvent(source as never, 'x')).toThrow(code('ERR_INVALID_ARG_TYPE'));
    }
    const emitter = new EventEmitter();
    expect(() => fromEvent(emitter, 5 as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
    expect(() => fromEvent(emitter, 'x', null as never)).toThrow(code('ERR_INVALID_ARG_TYPE'));
    expect(() => fromEvent(emitter, 'x', { signal: {} as never })).toThrow(
      code('ERR_INVALID_ARG_TYPE'),
    );
    expect(emitter.listenerCount('x')).toBe(0);
  });
});
