// Dump: every task that has not ended, as plain data. Owner: none, a copy of the moment.
// Not here: tasks that have ended.
import type { Scheduler } from '../scheduler/scheduler.ts';
import { TICK_MS } from '../scheduler/turn_budget.ts';
import type { Outcome } from '../task/outcome.ts';
import type { StateName } from '../task/state.ts';

export interface TaskDump {
  readonly id: number;
  readonly name: string;
  readonly state: StateName;
  /** 'sleep 10 ms', 'join of load #7'; undefined unless it waits. */
  readonly waitCondition: string | undefined;
  /** Id of the task that spawned it; undefined if it came from outside. */
  readonly parent: number | undefined;
  readonly engine: string;
  readonly ageMs: number;
  readonly reductions: number;
  readonly cancellationRequested: boolean;
  readonly outcome: Outcome<unknown> | undefined;
}

export function dumpTasks(scheduler: Scheduler): TaskDump[] {
  const nowMs = scheduler.clock.nowMs();
  return scheduler.live.all().map((task) => ({
    id: task.id,
    name: task.name,
    state: task.state,
    waitCondition: task.waitCondition,
    parent: task.parent?.id,
    engine: task.engineId,
    ageMs: Math.max(0, nowMs - task.spawnedAtTicks * TICK_MS),
    reductions: task.reductions,
    cancellationRequested: task.cancelled,
    outcome: task.outcome,
  }));
}
