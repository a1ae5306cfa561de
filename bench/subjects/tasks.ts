// The tasks cases inside a subject's process: which driver a subject has, and one run of a work.
// A driver is made at the first run and lives as long as the process, as in a program that runs.
// Not here: what the drivers do (tasks_nephrite.ts, tasks_effect.ts, tasks_platform.ts).
import type { Message, WorkRequest } from '../harness/protocol.ts';
import { effectDriver } from './tasks_effect.ts';
import { type IndexApi, inAsyncLocalStorage, nephriteDriver } from './tasks_nephrite.ts';
import {
  IMMEDIATE_DRIVER,
  MICROTASK_DRIVER,
  PROMISE_DRIVER,
  SIGNAL_DRIVER,
  TIMEOUT_DRIVER,
} from './tasks_platform.ts';
import { decodeTasks, type TasksDriver, TasksRun } from './tasks_run.ts';

const PLATFORM: Readonly<Record<string, TasksDriver>> = {
  promise: PROMISE_DRIVER,
  queueMicrotask: MICROTASK_DRIVER,
  setTimeout: TIMEOUT_DRIVER,
  setImmediate: IMMEDIATE_DRIVER,
  'AbortSignal.timeout': SIGNAL_DRIVER,
};

let driver: TasksDriver | undefined;

export async function runTasks(
  subject: string,
  index: IndexApi | undefined,
  request: WorkRequest,
  fields: Message,
): Promise<[string, string | number][]> {
  const { work, levels, effect } = decodeTasks(fields);
  driver ??= await driverOf(subject, index, effect);
  const run = new TasksRun(request, levels);
  const start = driver[work];
  if (start === undefined) throw new Error(`${subject} has no '${work}'`);
  await start(run);
  return run.fields();
}

async function driverOf(
  subject: string,
  index: IndexApi | undefined,
  effect: string,
): Promise<TasksDriver> {
  if (index !== undefined) {
    const own = nephriteDriver(index);
    return subject === 'nephrite:als' ? inAsyncLocalStorage(own) : own;
  }
  if (subject.startsWith('effect')) return effectDriver(effect, subject.slice('effect:'.length));
  const platform = PLATFORM[subject];
  if (platform === undefined) throw new Error(`no tasks driver for '${subject}'`);
  return platform;
}
