// A tree of tasks as its plan says: inner tasks spawn all their children, then join them in order.
// Flow: plan -> [startTree] -> root task
// Owner: the run. Invariants: every task is in the ledger before it can run; a child's value or
// error is compared with the plan in its parent. Not here: leaves (leaves.ts).
import { type Runtime, spawn, type Task, type TaskGenerator } from '../../../index.ts';
import { type LeafWorld, leafBody, PlannedError, statusOf } from './leaves.ts';
import { type Plan, subtreeValue } from './plan.ts';

/** Spawns the root. */
export function startTree(runtime: Runtime, world: LeafWorld, plan: Plan): Task<number> {
  const sinceMs = performance.now();
  const body: (world: LeafWorld, plan: Plan) => unknown =
    plan.kind === undefined ? inner : leafBody(plan.kind);
  const task = runtime.spawn(body, world, plan) as Task<number>;
  return world.ledger.expect(task, 'tree', statusOf(plan.kind), sinceMs);
}

function* inner(world: LeafWorld, plan: Plan): TaskGenerator<number> {
  const { ledger } = world;
  const children = plan.children.map((child) => spawnChild(world, child));
  let sum = plan.word;
  for (const [index, task] of children.entries()) {
    const child = plan.children[index] as Plan;
    try {
      const value = yield* task.join();
      ledger.values.check(
        value === subtreeValue(child),
        () => `${child.kind ?? 'inner'}: ${value}`,
      );
      sum = (sum + value) >>> 0;
    } catch (error) {
      const isPlanned = error instanceof PlannedError && error.word === child.word;
      if (!isPlanned) throw error;
      ledger.values.check(task.outcome?.status === 'failure', () => 'throw: not a failure');
      sum = (sum + child.word) >>> 0;
    }
  }
  return sum;
}

function spawnChild(world: LeafWorld, plan: Plan): Task<number> {
  const { kind } = plan;
  const sinceMs = performance.now();
  const body: (world: LeafWorld, plan: Plan) => unknown =
    kind === undefined ? inner : leafBody(kind);
  const task = spawn(body, world, plan) as Task<number>;
  return world.ledger.expect(task, kind ?? 'inner', statusOf(kind), sinceMs);
}
