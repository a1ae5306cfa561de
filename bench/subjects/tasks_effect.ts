// The tasks cases as programs of the peer effect 4: fibers forked and joined inside one runPromise,
// with Effect.yieldNow where a task's checkpoint always gives way. Bodies are generators, as those
// of the other subjects are generators and async functions; in the variant `effect:sync` those that
// only compute are Effect.sync, the quickest that effect has. Loaded from the URL in the request:
// the bundle of the subjects is elsewhere. Not here: the other peers.
import { performance } from 'node:perf_hooks';
import {
  childValue,
  HOG_SLICE_US,
  passesPerTask,
  SLEEPER_MS,
  skynetLeaves,
  skynetNodes,
  spinUs,
  type TasksDriver,
  type TasksRun,
} from './tasks_run.ts';

type EffectModule = typeof import('effect');
type Program<T> = import('effect').Effect.Effect<T>;

// The library, given once: a driver is what one process runs.
let Effect: EffectModule['Effect'];
let Fiber: EffectModule['Fiber'];
// Hogs give way after every slice, beside what the runtime does by itself.
let isYielding = false;
// Bodies that only compute are no generators.
let isSync = false;

function child(index: number): Program<number> {
  if (isSync) return Effect.sync(() => childValue(index));
  // biome-ignore lint/correctness/useYield: the shortest body is what is measured.
  return Effect.gen(function* () {
    return childValue(index);
  });
}

async function spawnJoin(run: TasksRun): Promise<void> {
  const { ops } = run.request;
  const program = Effect.gen(function* () {
    let sum = 0;
    for (let i = 0; i < ops; i++) {
      const fiber = yield* Effect.forkChild(child(i));
      sum = (sum + (yield* Fiber.join(fiber))) >>> 0;
    }
    return sum;
  });
  run.begin();
  run.add(await Effect.runPromise(program));
  run.end();
}

async function switches(run: TasksRun): Promise<void> {
  const { depth } = run.request;
  const count = passesPerTask(run.request);
  run.ops = count * depth;
  const passes = Effect.gen(function* () {
    for (let i = 0; i < count; i++) {
      yield* Effect.yieldNow;
      run.add(1);
    }
  });
  const program = Effect.gen(function* () {
    const fibers = [];
    for (let i = 0; i < depth; i++) fibers.push(yield* Effect.forkChild(passes));
    for (const fiber of fibers) yield* Fiber.join(fiber);
  });
  run.begin();
  await Effect.runPromise(program);
  run.end();
}

function node(first: number, leaves: number): Program<number> {
  if (isSync && leaves === 1) return Effect.succeed(first);
  return Effect.gen(function* () {
    if (leaves === 1) return first;
    const share = leaves / 10;
    const fibers = [];
    for (let i = 0; i < 10; i++) {
      fibers.push(yield* Effect.forkChild(node(first + i * share, share)));
    }
    let sum = 0;
    for (const fiber of fibers) sum += yield* Fiber.join(fiber);
    return sum;
  });
}

async function skynet(run: TasksRun): Promise<void> {
  const leaves = skynetLeaves(run.request.ops);
  run.ops = skynetNodes(leaves);
  run.begin();
  run.add((await Effect.runPromise(node(0, leaves))) % 2 ** 32);
  run.end();
}

async function fairness(run: TasksRun): Promise<void> {
  const { depth, ops } = run.request;
  const slice = Effect.sync(() => spinUs(HOG_SLICE_US));
  run.ops = 0;
  run.begin();
  const endMs = performance.now() + ops;
  const hog = Effect.gen(function* () {
    while (performance.now() < endMs) {
      yield* slice;
      run.ops++;
      if (isYielding) yield* Effect.yieldNow;
    }
    run.add(1);
  });
  const sleeper = Effect.gen(function* () {
    while (performance.now() < endMs) {
      const sinceMs = performance.now();
      yield* Effect.sleep(SLEEPER_MS);
      run.addSampleMs(performance.now() - sinceMs - SLEEPER_MS);
    }
  });
  const program = Effect.gen(function* () {
    const fibers = [yield* Effect.forkChild(sleeper)];
    for (let i = 0; i < depth; i++) fibers.push(yield* Effect.forkChild(hog));
    for (const fiber of fibers) yield* Fiber.join(fiber);
  });
  await Effect.runPromise(program);
  run.end();
}

/** `variant`: what follows `effect:` in the subject's name. */
export async function effectDriver(url: string, variant: string): Promise<TasksDriver> {
  ({ Effect, Fiber } = (await import(url)) as EffectModule);
  isYielding = variant === 'yieldNow';
  isSync = variant === 'sync';
  return { 'spawn-join': spawnJoin, switch: switches, skynet, fairness };
}
