// Races of cancellation: a hundred thousand tasks that sleep, join, read files, hold and want mutexes,
// give way, and are cancelled at points of the seed, many times at once. Each must have exactly one
// outcome; afterwards no timer, no descriptor, no lock and no task may be left.
// Not here: what a single cancel does (cancellation_rules.test.ts).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Prng } from '../../lib/base/prng.ts';
import * as fs from '../../lib/fs.ts';
import { checkpoint, mutex, sleep, spawn, type Task, waitToken } from '../../lib/index.ts';
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

interface Counts {
  entered: number;
  left: number;
  told: number;
  locked: number;
}

describe(`cancellation races (${describeSeed})`, () => {
  it(`${TASKS} tasks, each exactly one outcome, and nothing left`, async () => {
    await fs.stat(path);
    const descriptors = descriptorCount();
    const random = new Prng(SEED);
    const below = (limit: number): number => random.nextBelow(limit);
    const lock = mutex();
    const gate = waitToken();
    const counts: Counts = { entered: 0, left: 0, told: 0, locked: 0 };

    const works: (() => TaskGenerator<unknown>)[] = [
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
          expect(counts.locked++).toBe(0);
          yield* checkpoint(below(2) * 10_000);
        } finally {
          counts.locked--;
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

    function* sleepBody(delayMs: number): TaskGenerator<number> {
      yield* sleep(delayMs);
      return delayMs;
    }

    function* body(work: () => TaskGenerator<unknown>): TaskGenerator<unknown> {
      counts.entered++;
      try {
        return yield* work();
      } finally {
        counts.left++;
      }
    }

    const statuses: Record<string, number> = {};
    let alive: Task<unknown>[] = [];
    let cancels = 0;
    for (let index = 0; index < TASKS; index++) {
      const task = lab.rt.spawn(body, works[below(works.length)]);
      task.settled().then(({ status }) => {
        counts.told++;
        statuses[status] = (statuses[status] ?? 0) + 1;
      });
      alive.push(task);
      // Some at once, some after a turn or more, some twice; in the end everybody.
      while (below(3) === 0) if (alive[below(alive.length)].cancel(index)) cancels++;
      if (below(40) === 0) await tick();
      if (alive.length < ALIVE_MAX) continue;
      for (const one of alive.splice(0, ALIVE_MAX / 2)) if (one.cancel(index)) cancels++;
      await tick();
      alive = alive.filter(({ state }) => state !== 'completed');
    }
    for (const task of alive) task.cancel('end');
    await until(() => counts.told === TASKS, 20_000);
    expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(TASKS);
    expect(Object.keys(statuses).sort()).toEqual(['cancelled', 'success']);
    expect(cancels).toBeGreaterThan(TASKS / 4);
    expect(counts).toMatchObject({ left: counts.entered, locked: 0 });
    await until(() => lab.rt.dump().length === 0);
    expect([armedTimers(lab.rt), gate.waitingCount, lock.isLocked]).toEqual([0, 0, false]);
    await until(() => descriptorCount() <= descriptors);
    expect(lab.unhandled).toEqual([]);
  }, 120_000);
});
