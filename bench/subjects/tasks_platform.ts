// The tasks cases as programs of the platform alone: async functions, queueMicrotask, setTimeout,
// AbortSignal.timeout. Each is the plain way to do the same work, without a library.
// Not here: effect (tasks_effect.ts).
import { performance } from 'node:perf_hooks';
import {
  childValue,
  HOG_SLICE_US,
  passesPerTask,
  SLEEPER_MS,
  skynetLeaves,
  skynetNodes,
  sleepMs,
  spinUs,
  type TasksDriver,
  type TasksRun,
} from './tasks_run.ts';

const SPAWNS_PER_STRETCH = 1000;

async function child(index: number): Promise<number> {
  return childValue(index);
}

async function spawnJoin(run: TasksRun): Promise<void> {
  const { ops } = run.request;
  let sum = 0;
  run.begin();
  for (let i = 0; i < ops; i++) sum = (sum + (await child(i))) >>> 0;
  run.end();
  run.add(sum);
}

async function switchPromises(run: TasksRun): Promise<void> {
  const { depth } = run.request;
  const count = passesPerTask(run.request);
  run.ops = count * depth;
  const passes = async (): Promise<void> => {
    for (let i = 0; i < count; i++) {
      await undefined;
      run.add(1);
    }
  };
  run.begin();
  await Promise.all(Array.from({ length: depth }, passes));
  run.end();
}

function switchMicrotasks(run: TasksRun): Promise<void> {
  const { depth } = run.request;
  const count = passesPerTask(run.request);
  run.ops = count * depth;
  run.begin();
  return new Promise((resolve) => {
    let left = depth;
    for (let i = 0; i < depth; i++) {
      let passed = 0;
      const pass = (): void => {
        run.add(1);
        if (++passed < count) queueMicrotask(pass);
        else if (--left === 0) {
          run.end();
          resolve();
        }
      };
      queueMicrotask(pass);
    }
  });
}

async function node(first: number, leaves: number): Promise<number> {
  if (leaves === 1) return first;
  const share = leaves / 10;
  const children = [];
  for (let i = 0; i < 10; i++) children.push(node(first + i * share, share));
  let sum = 0;
  for (const part of children) sum += await part;
  return sum;
}

async function skynet(run: TasksRun): Promise<void> {
  const leaves = skynetLeaves(run.request.ops);
  run.ops = skynetNodes(leaves);
  run.begin();
  run.add((await node(0, leaves)) % 2 ** 32);
  run.end();
}

/** `giveWay` is what an async function does where a task has a checkpoint. */
function fairness(giveWay: () => Promise<void> | undefined): TasksDriver[string] {
  return async (run) => {
    const { depth, ops } = run.request;
    run.ops = 0;
    run.begin();
    const endMs = performance.now() + ops;
    const hog = async (): Promise<void> => {
      while (performance.now() < endMs) {
        spinUs(HOG_SLICE_US);
        run.ops++;
        await giveWay();
      }
      run.add(1);
    };
    const sleeper = async (): Promise<void> => {
      while (performance.now() < endMs) {
        const sinceMs = performance.now();
        await new Promise((resolve) => setTimeout(resolve, SLEEPER_MS));
        run.addSampleMs(performance.now() - sinceMs - SLEEPER_MS);
      }
    };
    await Promise.all([sleeper(), ...Array.from({ length: depth }, hog)]);
    run.end();
  };
}

async function sleeper(run: TasksRun, index: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, sleepMs(index, run.request.ops)));
  run.add(childValue(index));
}

async function sleepers(run: TasksRun): Promise<void> {
  const { ops } = run.request;
  let left = ops;
  let finish = (): void => undefined;
  const all = new Promise<void>((resolve) => {
    finish = resolve;
  });
  run.begin();
  for (let i = 0; i < ops; i++) {
    sleeper(run, i).then(() => {
      if (--left === 0) finish();
    });
    if (i % SPAWNS_PER_STRETCH === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  run.end();
  await all;
}

async function timeoutReady(run: TasksRun): Promise<void> {
  const { ops } = run.request;
  const ready = Promise.resolve(1);
  run.begin();
  for (let i = 0; i < ops; i++) run.add(await withSignal(AbortSignal.timeout(250), ready));
  run.end();
}

/** What an API that takes a signal does at least: look at it, listen while it waits. */
function withSignal(signal: AbortSignal, work: Promise<number>): Promise<number> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    work.then((value) => {
      signal.removeEventListener('abort', onAbort);
      resolve(value);
    }, reject);
  });
}

export const PROMISE_DRIVER: TasksDriver = {
  'spawn-join': spawnJoin,
  switch: switchPromises,
  skynet,
};
export const MICROTASK_DRIVER: TasksDriver = { switch: switchMicrotasks };
export const TIMEOUT_DRIVER: TasksDriver = { fairness: fairness(() => undefined), sleepers };
export const IMMEDIATE_DRIVER: TasksDriver = {
  fairness: fairness(() => new Promise((resolve) => setImmediate(resolve))),
};
export const SIGNAL_DRIVER: TasksDriver = { 'timeout-ready': timeoutReady };
