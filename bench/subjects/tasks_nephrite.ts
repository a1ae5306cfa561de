// The tasks cases as programs of nephrite: generator bodies on the thread's own scheduler, spawned
// and joined as a user would. The variant `nephrite:als` is the same inside an AsyncLocalStorage.
// Not here: reading files (tasks_read.ts), the peers.
import { AsyncLocalStorage } from 'node:async_hooks';
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

export type IndexApi = typeof import('../../lib/index.ts');
type TaskGenerator<T> = import('../../lib/index.ts').TaskGenerator<T>;

// More than any engine's budget: such a checkpoint always gives way.
const WHOLE_BUDGET = 1e6;
const SPAWNS_PER_STRETCH = 1000;

// The library, given once: a driver is what one process runs.
let checkpoint: IndexApi['checkpoint'];
let sleep: IndexApi['sleep'];
let spawn: IndexApi['spawn'];
let waitToken: IndexApi['waitToken'];
let withTimeout: IndexApi['withTimeout'];

// biome-ignore lint/correctness/useYield: the shortest body is what is measured.
function* child(index: number): TaskGenerator<number> {
  return childValue(index);
}

async function spawnJoin(run: TasksRun): Promise<void> {
  const { ops } = run.request;
  run.begin();
  const root = spawn(function* () {
    let sum = 0;
    for (let i = 0; i < ops; i++) sum = (sum + (yield* spawn(child, i).join())) >>> 0;
    return sum;
  });
  run.add(await root.join());
  run.end();
}

function* passes(run: TasksRun, count: number, level: number): TaskGenerator<void> {
  if (level > 1) {
    yield* passes(run, count, level - 1);
    return;
  }
  for (let i = 0; i < count; i++) {
    yield* checkpoint(WHOLE_BUDGET);
    run.add(1);
  }
}

async function switches(run: TasksRun): Promise<void> {
  const { depth } = run.request;
  const count = passesPerTask(run.request);
  run.ops = count * depth;
  run.begin();
  await spawn(function* () {
    const tasks = Array.from({ length: depth }, () => spawn(passes, run, count, run.levels));
    for (const task of tasks) yield* task.join();
  }).join();
  run.end();
}

function* node(first: number, leaves: number): TaskGenerator<number> {
  if (leaves === 1) return first;
  const share = leaves / 10;
  const children = [];
  for (let i = 0; i < 10; i++) children.push(spawn(node, first + i * share, share));
  let sum = 0;
  for (const task of children) sum += yield* task.join();
  return sum;
}

async function skynet(run: TasksRun): Promise<void> {
  const leaves = skynetLeaves(run.request.ops);
  run.ops = skynetNodes(leaves);
  run.begin();
  run.add((await spawn(node, 0, leaves).join()) % 2 ** 32);
  run.end();
}

async function fairness(run: TasksRun): Promise<void> {
  const { depth, ops } = run.request;
  run.ops = 0;
  run.begin();
  const endMs = performance.now() + ops;
  await spawn(function* () {
    const hogs = Array.from({ length: depth }, () =>
      spawn(function* () {
        while (performance.now() < endMs) {
          spinUs(HOG_SLICE_US);
          run.ops++;
          yield* checkpoint();
        }
        run.add(1);
      }),
    );
    const sleeper = spawn(function* () {
      while (performance.now() < endMs) {
        const sinceMs = performance.now();
        yield* sleep(SLEEPER_MS);
        run.addSampleMs(performance.now() - sinceMs - SLEEPER_MS);
      }
    });
    for (const task of [...hogs, sleeper]) yield* task.join();
  }).join();
  run.end();
}

function* sleeper(run: TasksRun, index: number, awake: () => void): TaskGenerator<void> {
  yield* sleep(sleepMs(index, run.request.ops));
  run.add(childValue(index));
  awake();
}

async function sleepers(run: TasksRun): Promise<void> {
  const { ops } = run.request;
  const all = waitToken();
  let left = ops;
  const awake = (): void => {
    if (--left === 0) all.wake();
  };
  run.begin();
  await spawn(function* () {
    for (let i = 0; i < ops; i++) {
      spawn(sleeper, run, i, awake);
      // As a program that accepts work does: few are runnable at a time.
      if (i % SPAWNS_PER_STRETCH === 0) yield* checkpoint(WHOLE_BUDGET);
    }
    run.end();
    yield* all.wait();
  }).join();
}

async function spawnOnly(run: TasksRun): Promise<void> {
  const stretches = Math.max(1, Math.ceil(run.request.ops / SPAWNS_PER_STRETCH));
  run.ops = stretches * SPAWNS_PER_STRETCH;
  await spawn(function* () {
    for (let stretch = 0; stretch < stretches; stretch++) {
      const tasks = new Array<ReturnType<typeof spawn<number, [number]>>>(SPAWNS_PER_STRETCH);
      run.begin();
      for (let i = 0; i < SPAWNS_PER_STRETCH; i++) tasks[i] = spawn(child, i);
      run.end();
      for (const task of tasks) run.add(yield* task.join());
    }
  }).join();
}

async function timeoutReady(run: TasksRun): Promise<void> {
  const { ops } = run.request;
  const token = waitToken<number>();
  token.wake(1);
  run.begin();
  await spawn(function* () {
    for (let i = 0; i < ops; i++) run.add(yield* withTimeout(250, token.wait()));
  }).join();
  run.end();
}

export function nephriteDriver(api: IndexApi): TasksDriver {
  ({ checkpoint, sleep, spawn, waitToken, withTimeout } = api);
  return {
    'spawn-join': spawnJoin,
    switch: switches,
    skynet,
    fairness,
    sleepers,
    'als-spawn': spawnOnly,
    'timeout-ready': timeoutReady,
  };
}

/** The same programs, run where a store is active. */
export function inAsyncLocalStorage(driver: TasksDriver): TasksDriver {
  const storage = new AsyncLocalStorage<string>();
  const wrapped = Object.entries(driver).map(([name, work]) => [
    name,
    (run: TasksRun) => storage.run('store', () => work(run)),
  ]);
  return Object.fromEntries(wrapped);
}
