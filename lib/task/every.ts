// every(): periodic work as a task, with the overrun policies of the seed (4.4).
// Owner: the task it gives. Invariants: runs never overlap; catching up is bounded; a clock that
// jumps ahead costs one run (drift, skip) or at most maxCatchUp of them (queue).
// Not here: wall-clock schedules, the engine's counters (engine/).
import { invalidArgType, invalidArgValue, outOfRange } from '../base/errors.ts';
import type { PeriodicCounters } from './command_sink.ts';
import { currentTask, requireTask } from './current.ts';
import { isThenable, PromiseOperation } from './interop/from_promise.ts';
import { checkpoint } from './reductions.ts';
import { currentTimers, sleepUntil } from './sleep.ts';
import { spawnOwned } from './structured/body_operation.ts';
import type { Task } from './task.ts';
import { checkBody, type TaskBody, type TaskGenerator } from './task_body.ts';
import { currentSink } from './thread_tasks.ts';

export interface EveryOptions {
  /**
   * What becomes of periods that are over before their run could start. drift: the next run comes a
   * period after the last one ended. skip: runs stay on the grid of start + n periods, those in the
   * past are left out. queue: they are made up for, one after the other.
   * Default: the engine's (drift unless it says otherwise).
   */
  readonly overrun?: 'drift' | 'skip' | 'queue' | undefined;
  /** With queue: the most runs that are due at once, 1 up; default 100. The oldest are dropped. */
  readonly maxCatchUp?: number | undefined;
  /** Aborting it cancels the task. */
  readonly signal?: AbortSignal | undefined;
  /** The first run at once instead of after a period; default false. */
  readonly immediate?: boolean | undefined;
}

const CATCH_UP_DEFAULT = 100;
const POLICIES = ['drift', 'skip', 'queue'] as const;
type Policy = (typeof POLICIES)[number];

interface Schedule {
  readonly periodMs: number;
  readonly policy: Policy;
  readonly catchUpMax: number;
  readonly isImmediate: boolean;
}

function parse(periodMs: number, task: Task | undefined, options: EveryOptions): Schedule {
  if (typeof periodMs !== 'number') {
    throw invalidArgType('periodMs', 'of type number', periodMs);
  }
  if (!(periodMs > 0) || periodMs === Infinity) {
    throw outOfRange('periodMs', '> 0 milliseconds and finite', periodMs);
  }
  if (typeof options !== 'object' || options === null) {
    throw invalidArgType('options', 'of type object', options);
  }
  const { overrun, maxCatchUp = CATCH_UP_DEFAULT, signal, immediate = false } = options;
  const engine = task?.engine ?? currentSink().defaultEngine;
  const policy = overrun ?? engine.overrunPolicy;
  if (!POLICIES.includes(policy)) {
    throw invalidArgValue('options.overrun', overrun, `must be one of ${POLICIES.join(', ')}`);
  }
  if (typeof maxCatchUp !== 'number') {
    throw invalidArgType('options.maxCatchUp', 'of type number', maxCatchUp);
  }
  if (!Number.isInteger(maxCatchUp) || maxCatchUp < 1) {
    throw outOfRange('options.maxCatchUp', 'an integer >= 1', maxCatchUp);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidArgType('options.signal', 'an instance of AbortSignal', signal);
  }
  if (typeof immediate !== 'boolean') {
    throw invalidArgType('options.immediate', 'of type boolean', immediate);
  }
  return { periodMs, policy, catchUpMax: maxCatchUp, isImmediate: immediate };
}

/**
 * When the next run is due, and how many periods were over before their run could start, after a
 * run that was due at `dueMs` and ended now.
 */
export function nextRun(
  { periodMs, policy, catchUpMax }: Omit<Schedule, 'isImmediate'>,
  dueMs: number,
  startedMs: number,
  nowMs: number,
): { dueMs: number; overrunCount: number } {
  const nextMs = dueMs + periodMs;
  // Points of the grid that have gone by since.
  const missed = nowMs > nextMs ? Math.ceil((nowMs - nextMs) / periodMs) : 0;
  if (policy === 'drift') return { dueMs: nowMs + periodMs, overrunCount: missed };
  if (policy === 'skip') return { dueMs: nextMs + missed * periodMs, overrunCount: missed };
  const isLate = startedMs - dueMs >= periodMs ? 1 : 0;
  const { dueMs: keptMs, droppedCount } = dropOldest(nextMs, nowMs, periodMs, catchUpMax);
  return { dueMs: keptMs, overrunCount: isLate + droppedCount };
}

/** At most `catchUpMax` runs are due at once. */
function dropOldest(dueMs: number, nowMs: number, periodMs: number, catchUpMax: number) {
  const dueCount = nowMs < dueMs ? 0 : Math.floor((nowMs - dueMs) / periodMs) + 1;
  const droppedCount = Math.max(0, dueCount - catchUpMax);
  return { dueMs: dueMs + droppedCount * periodMs, droppedCount };
}

function* oneRun(body: TaskBody<unknown>): TaskGenerator<void> {
  if (body.constructor?.name === 'AsyncFunction') {
    // A task of its own: cancelling reaches it, and its end is awaited.
    yield* spawnOwned(body);
    return;
  }
  const given = (body as () => unknown)();
  if (Object.prototype.toString.call(given) === '[object Generator]') {
    yield* given as TaskGenerator<unknown>;
  } else if (isThenable(given)) {
    yield* new PromiseOperation(given);
  }
}

function* periodic(body: TaskBody<unknown>, schedule: Schedule): TaskGenerator<never> {
  const { engine } = requireTask('every()');
  const counters: PeriodicCounters = engine.periodic;
  const { clock } = engine.timers();
  const { periodMs, policy, catchUpMax } = schedule;
  const rate = 1000 / periodMs;
  let dueMs = clock.nowMs() + (schedule.isImmediate ? 0 : periodMs);
  counters.targetRate += rate;
  try {
    for (;;) {
      if (dueMs > clock.nowMs()) yield* sleepUntil(dueMs);
      else yield* checkpoint();
      if (policy === 'queue') {
        const kept = dropOldest(dueMs, clock.nowMs(), periodMs, catchUpMax);
        dueMs = kept.dueMs;
        counters.overrunCount += kept.droppedCount;
      }
      const startedMs = clock.nowMs();
      yield* oneRun(body);
      const endedMs = clock.nowMs();
      counters.runCount++;
      if (counters.isTimed) counters.handlerDurationMs += endedMs - startedMs;
      const next = nextRun(schedule, dueMs, startedMs, endedMs);
      counters.overrunCount += next.overrunCount;
      dueMs = next.dueMs;
    }
  } finally {
    counters.targetRate -= rate;
  }
}

/**
 * Runs `body` every `periodMs` milliseconds (> 0, fractions count), one run after the other, until
 * the task it gives is cancelled: a child of the running task. A throw of the body ends it as
 * Failure. Generator bodies run in the task itself, async ones each in a child of it.
 * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE, ERR_ENGINE_NO_TIMER_WHEEL,
 * what spawn() throws
 */
export function every(
  periodMs: number,
  body: TaskBody<unknown>,
  options: EveryOptions = {},
): Task<never> {
  const parent = currentTask();
  const schedule = parse(periodMs, parent, options);
  checkBody(body);
  currentTimers();
  const settings = { name: `every ${body.name || 'anonymous'}`, signal: options.signal };
  const sink = parent?.sink ?? currentSink();
  return sink.spawn<never, [TaskBody<unknown>, Schedule]>(
    periodic,
    [body, schedule],
    settings,
    parent,
  );
}
