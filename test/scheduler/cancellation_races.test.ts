// Races of cancellation: a hundred thousand tasks that sleep, join, read files, hold and want
// mutexes, give way, and are cancelled at points of the seed, many times at once. Each must have
// exactly one outcome; afterwards no timer, no descriptor, no lock and no task may be left.
// Not here: what a single cancel does (cancellation_rules.test.ts).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Prng } from '../../lib/base/prng.ts';
import * as fs from '../../lib/fs.ts';
import {
  checkpoint,
  type Mutex,
  mutex,
  sleep,
  spawn,
  type Task,
  type WaitToken,
  waitToken,
} from '../../lib/index.ts';
import type { TaskGenerator } from '../../lib/task/task_body.ts';
import { describeSeed, SEED } from '../support/seed.ts';
import { armedTimers, descriptorCount, tick, until, useLab } from './lab.ts';

const TASKS = 100_000;
const ALIVE_MAX = 2000;
const lab = useLab();
const folder = mkdtempSync(join(tmpdir(), 'nephrite-races-'));
const path = join(folder, 'file');
writeFileSync(path, 'x'.repeat(100));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Work = () => TaskGenerator<unknown>;

function* sleepBody(delayMs: number): TaskGenerator<number> {
  yield* sleep(delayMs);
  return delayMs;
}

/** What a task may be at when it is cancelled. */
function works(below: (limit: number) => number, lock: Mutex, gate: WaitToken<void>): Work[] {
  let lockedCount = 0;
  return [
    () => sleepBody(below(3)),
    () => sleepBody(3_600_000),
    function* () {
      const child = spawn(sleepBody, below(2));
      return yield* child.settled();
    },
    function* () {
      const file = yield* fs.open(path);
      try {
        return yield* file.readFile();
      } finally {
        yield* file.close();
      }
    },
    function* () {
      const held = yield* lock.lock();
      try {
        if (lockedCount++ !== 0) throw new Error('two hold the lock');
        yield* checkpoint(below(2) * 10_000);
      } finally {
        lockedCount--;
        held.release();
      }
    },
    function* () {
      yield* gate.wait();
    },
    function* () {
      for (let round = 0; round < 5; round++) yield* checkpoint(10_000);
    },
  ];
}

const counts = { entered: 0, left: 0, told: 0, cancels: 0 };
const statuses: Record<string, number> = {};

function* body(work: Work): TaskGenerator<unknown> {
  counts.entered++;
  try {
    return yield* work();
  } finally {
    counts.left++;
  }
}

/**
 * Spawns and cancels: some at once, some after a turn or more, some twice; in the end everybody.
 */
async function storm(below: (limit: number) => number, kinds: Work[]): Promise<void> {
  let alive: Task<unknown>[] = [];
  const cancel = (task: Task<unknown>, reason: unknown): void => {
    if (task.cancel(reason)) counts.cancels++;
  };
  for (let index = 0; index < TASKS; index++) {
    const task = lab.rt.spawn(body, kinds[below(kinds.length)]);
    task.settled().then(({ status }) => {
      counts.told++;
      statuses[status] = (statuses[status] ?? 0) + 1;
    });
    alive.push(task);
    while (below(3) === 0) cancel(alive[below(alive.length)], index);
    if (below(40) === 0) await tick();
    if (alive.length < ALIVE_MAX) continue;
    for (const one of alive.splice(0, ALIVE_MAX / 2)) cancel(one, index);
    await tick();
    alive = alive.filter(({ state }) => state !== 'completed');
  }
  for (const task of alive) cancel(task, 'end');
}

describe(`cancellation races (${describeSeed})`, () => {
  it(`${TASKS} tasks, each exactly one outcome, and nothing left`, async () => {
    await fs.stat(path);
    const descriptors = descriptorCount();
    const random = new Prng(SEED);
    const below = (limit: number): number => random.nextBelow(limit);
    const lock = mutex();
    const gate = waitToken();
    await storm(below, works(below, lock, gate));
    await until(() => counts.told >= TASKS, 20_000);
    await until(() => lab.rt.dump().length === 0);
    expect(counts.told).toBe(TASKS);
    expect(Object.keys(statuses).sort()).toEqual(['cancelled', 'success']);
    expect(counts.cancels).toBeGreaterThan(TASKS / 4);
    expect(counts.left).toBe(counts.entered);
    expect([armedTimers(lab.rt), gate.waitingCount, lock.isLocked]).toEqual([0, 0, false]);
    await until(() => descriptorCount() <= descriptors);
    expect(lab.unhandled).toEqual([]);
  }, 120_000);
});
