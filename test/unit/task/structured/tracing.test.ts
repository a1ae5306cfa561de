// The TracingChannel `nephrite.task`: the five events as Node defines them, bound stores, silence
// when nobody listens.
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it } from 'vitest';
import {
  sleep,
  spawn,
  spawnLocal,
  TaskCancelledError,
  type TaskTrace,
} from '../../../../lib/index.ts';
import { taskTracing } from '../../../../lib/task/tracing.ts';
import { rejectionOf, test, useRuntime } from './support.ts';

useRuntime();

const NAMES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
const log: [string, TaskTrace][] = [];
let stop = (): void => {};

function listen(): void {
  const subscribers = Object.fromEntries(
    NAMES.map((name) => [name, (trace: unknown) => void log.push([name, trace as TaskTrace])]),
  );
  const tracing = tracingChannel('nephrite.task');
  tracing.subscribe(subscribers as never);
  stop = () => void tracing.unsubscribe(subscribers as never);
}

afterEach(() => {
  stop();
  stop = () => {};
  log.length = 0;
});

describe('the channel', () => {
  it('start and end at the spawn, asyncStart and asyncEnd at the completion', async () => {
    listen();
    const task = spawnLocal(function load() {
      return 'value';
    });
    expect(log.map(([name]) => name)).toEqual(['start', 'end']);
    await task.join();
    expect(log.map(([name]) => name)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
    const [[, trace]] = log;
    expect(log.every(([, other]) => other === trace)).toBe(true);
    expect(trace.task).toBe(task);
    expect([trace.name, trace.id, trace.result]).toEqual(['load', task.id, 'value']);
    expect(trace.outcome).toEqual({ status: 'success', value: 'value' });
  });

  it('error before asyncStart: failures and cancellations, as join() gives them', async () => {
    listen();
    const root = new Error('root');
    const failing = spawnLocal(() => {
      throw root;
    });
    expect(await rejectionOf(failing.join())).toBe(root);
    expect(log.map(([name]) => name)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
    expect(log[2][1].error).toBe(root);
    log.length = 0;
    const cancelled = spawnLocal(() => sleep(Infinity));
    cancelled.cancel('why');
    await cancelled.settled();
    const [, trace] = log[2];
    expect(trace.error).toBeInstanceOf(TaskCancelledError);
    expect(trace.outcome).toEqual({ status: 'cancelled', reason: 'why' });
  });

  it('names come from rt.with, parents are known', async () => {
    listen();
    await test.rt.with({ name: 'parent' }).run(function* () {
      yield* spawn(function child() {}).join();
    });
    const traces = log.filter(([name]) => name === 'end').map(([, trace]) => trace);
    expect(traces.map(({ name }) => name)).toEqual(['parent', 'child']);
    expect(traces.map(({ parentId }) => parentId)).toEqual([undefined, traces[0].id]);
  });

  it('a store that is bound to start is the body’s', async () => {
    const store = new AsyncLocalStorage<number>();
    const start = channel('tracing:nephrite.task:start');
    start.bindStore(store as never, ((trace: TaskTrace) => trace.id) as never);
    stop = () => void start.unbindStore(store as never);
    const task = spawnLocal(function* () {
      const before = store.getStore();
      yield* sleep(1);
      return [before, store.getStore()];
    });
    expect(await task.join()).toEqual([task.id, task.id]);
  });

  it('is silent without listeners, and for tasks that were spawned before them', async () => {
    const early = spawnLocal(() => sleep(1));
    expect(taskTracing.isActive).toBe(false);
    listen();
    await early.join();
    expect(log).toEqual([]);
    stop();
    const late = spawnLocal(() => {});
    await late.join();
    expect(log).toEqual([]);
    expect(taskTracing.isActive).toBe(false);
  });

  it('a subscriber that throws does not harm the task', async () => {
    const errors: unknown[] = [];
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => errors.push(error));
    const tracing = tracingChannel('nephrite.task');
    const end = (): void => {
      throw new Error('subscriber');
    };
    tracing.end.subscribe(end);
    try {
      expect(await spawnLocal(() => 'value').join()).toBe('value');
      await sleep(1);
    } finally {
      tracing.end.unsubscribe(end);
      process.removeAllListeners('uncaughtException');
      for (const listener of before) process.on('uncaughtException', listener);
    }
    expect(errors).toEqual([new Error('subscriber')]);
  });
});
