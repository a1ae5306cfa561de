// Execution: how a body is carried forward by one step. Suspension is a result of the step, never
// an error or a value that the task sees (seed 1, 3.3 and S-18).
// Owner: none; executions are stateless, the state of a body is in task.frame. The result of a step
// is a code, its payload in task.waitingFor or task.outcomeValue: no object per step, and no store
// of a young object into an old one, which costs a write barrier.
// Invariants: a step never throws. Two executions exist: generators and async functions; plain
// functions compiled to resumable frames would be a third (S-8, S-9 wait for it).
// Not here: what follows from a step (scheduler/).
import { types } from 'node:util';
import { Operation, REJECTED } from '../base/operation.ts';
import { operationOwner } from '../base/operation_owner.ts';
import { isSuspension, unwinding, type Waitable } from '../base/suspension.ts';
import { AsyncBodyOperation, guardAwait } from './async_body.ts';
import { runAsAsync } from './current.ts';
import { type AnyGenerator, startRecording, stopRecording } from './delegation.ts';
import { ASYNC_BODY, STARTED, UNWINDING } from './state.ts';
import { SurvivalTrace } from './survival_trace.ts';
import type { Task } from './task.ts';

/** The body has returned; outcomeValue: what. */
export const STEP_COMPLETED = 0;
/** It waits; waitingFor: the Waitable. */
export const STEP_SUSPENDED = 1;
/** Its budget is spent, or it was told to give way; value: the settled Waitable it is at, if any.
 * */
export const STEP_PREEMPTED = 2;
/** It threw; outcomeValue: the error. */
export const STEP_THROWN = 3;
/** It did what no task may; outcomeValue: TrapInfo. */
export const STEP_TRAPPED = 4;
export type StepCode = 0 | 1 | 2 | 3 | 4;

export interface Execution {
  /** Goes on after a suspension or preemption. */
  resume(task: Task): StepCode;
  /** Delivers the cancellation: `finally` blocks run, `catch` blocks do not (S-13). */
  unwind(task: Task): StepCode;
}

// Called by itself, not looked up: each closure's generators have a hidden class of their own, and
// a lookup on ever new classes costs 1 us (a task whose body is an inline closure: 1,790 ns instead
// of 425).
const generatorNext: AnyGenerator['next'] = Object.getPrototypeOf(function* () {}).prototype.next;

function isThenable(value: object): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown }).then === 'function';
}

// Generators that plain functions have handed out: one that runs already belongs to another task.
const driven = new WeakSet<object>();
const generatorFunctionPrototype = Object.getPrototypeOf(function* () {});
// The body that was found to be a generator function last.
let lastGeneratorFunction: unknown;

function isGeneratorFunction(body: unknown): boolean {
  if (body === lastGeneratorFunction) return true;
  if (Object.getPrototypeOf(body) !== generatorFunctionPrototype) return false;
  lastGeneratorFunction = body;
  return true;
}

/** The first step: enters the body, and finds out what kind it is. */
export function startBody(task: Task): StepCode {
  const body = task.body as Body;
  const args = task.args as unknown[];
  task.args = undefined;
  task.word |= STARTED;
  try {
    if (isGeneratorFunction(body)) {
      task.execution = generatorExecution;
      task.frame = call(body, args);
      return taken(task, generatorNext.call(task.frame as AnyGenerator));
    }
    return startFunction(task, body, args);
  } catch (error) {
    task.outcomeValue = error;
    return STEP_THROWN;
  }
}

type Body = (...args: unknown[]) => unknown;

// A spread call costs 30 ns.
function call(body: Body, args: unknown[]): unknown {
  if (args.length === 0) return body();
  return args.length === 1 ? body(args[0]) : body(...args);
}

// Whether it is an async function, or calls one, is not known before it has returned; then it is
// too late: continuations must know their task (`spawn(() => handle(request))`). So always.
function startFunction(task: Task, body: Body, args: unknown[]): StepCode {
  const result = callInStorage(task, body, args);
  const isObject = typeof result === 'object' && result !== null;
  if (isObject && types.isGeneratorObject(result)) {
    return startGenerator(task, result as AnyGenerator);
  }
  if (isObject && isThenable(result)) {
    task.word |= ASYNC_BODY;
    task.execution = asyncExecution;
    task.frame = new AsyncBodyOperation(task, result);
    task.waitingFor = task.frame as Waitable;
    return STEP_SUSPENDED;
  }
  task.outcomeValue = result;
  return STEP_COMPLETED;
}

/** The storage alone tells whose an operation is, in the part before the first await too. */
function callInStorage(task: Task, body: Body, args: unknown[]): unknown {
  operationOwner.guardAwait = guardAwait;
  operationOwner.current = undefined;
  try {
    return runAsAsync(task, () => call(body, args));
  } finally {
    operationOwner.current = task;
  }
}

function startGenerator(task: Task, generator: AnyGenerator): StepCode {
  if (driven.has(generator)) {
    throw new TypeError('the body returned a generator that another task runs already');
  }
  driven.add(generator);
  task.execution = generatorExecution;
  task.frame = generator;
  return taken(task, generatorNext.call(generator));
}

/** What the generator has handed out. */
function taken(task: Task, result: IteratorResult<unknown, unknown>): StepCode {
  const { value } = result;
  if (result.done === true) {
    task.outcomeValue = value;
    return STEP_COMPLETED;
  }
  // Through `yield*` the suspension is its own result object; `yield x` makes another.
  if (isSuspension(result)) {
    const { waitable } = result;
    task.waitingFor = waitable;
    return waitable === undefined || waitable.isSettled ? STEP_PREEMPTED : STEP_SUSPENDED;
  }
  return foreignYield(task, value);
}

function nameOfType(value: unknown): string {
  if (value === null || typeof value !== 'object')
    return String(value === null ? value : typeof value);
  return value.constructor?.name ?? 'an object';
}

function foreignYield(task: Task, value: unknown): StepCode {
  const what = value instanceof Operation ? 'an Operation' : nameOfType(value);
  const message = `${task.name} yielded ${what}: write \`yield*\`, with the star, before operations`;
  task.outcomeValue = { kind: 'foreign-yield', message };
  return STEP_TRAPPED;
}

export const generatorExecution: Execution = {
  resume(task) {
    if ((task.word & UNWINDING) !== 0) return resumeUnwinding(task);
    try {
      return taken(task, generatorNext.call(task.frame as AnyGenerator));
    } catch (error) {
      task.outcomeValue = error;
      return STEP_THROWN;
    }
  },

  unwind(task) {
    task.word |= UNWINDING;
    return returnBody(task);
  },
};

function returnBody(task: Task): StepCode {
  const trace = new SurvivalTrace(task.extras?.leftAt);
  unwinding.trace = trace;
  startRecording(() => trace.hasLeft);
  try {
    return taken(task, (task.frame as AnyGenerator).return(undefined));
  } catch (error) {
    task.outcomeValue = error;
    return STEP_THROWN;
  } finally {
    unwinding.trace = undefined;
    const returning = stopRecording();
    trace.keep(task);
    if (returning.length > 1) task.ensureExtras().returning = returning.at(-1);
    else if (task.extras !== undefined) task.extras.returning = undefined;
  }
}

function resumeUnwinding(task: Task): StepCode {
  const inner = task.extras?.returning;
  const trace = new SurvivalTrace(task.extras?.leftAt, inner !== undefined);
  unwinding.trace = trace;
  let hasThrown = false;
  try {
    const result = (inner ?? (task.frame as AnyGenerator)).next();
    if (inner === undefined || result.done !== true) return taken(task, result);
  } catch (error) {
    task.outcomeValue = error;
    if (inner === undefined) return STEP_THROWN;
    hasThrown = true;
  } finally {
    unwinding.trace = undefined;
    trace.keep(task);
  }
  // The inner generator has ended; those outside of it are at its `yield*` still.
  task.ensureExtras().returning = undefined;
  return hasThrown ? throwIntoBody(task, task.outcomeValue) : returnBody(task);
}

function throwIntoBody(task: Task, error: unknown): StepCode {
  try {
    return taken(task, (task.frame as AnyGenerator).throw(error));
  } catch (thrown) {
    task.outcomeValue = thrown;
    return STEP_THROWN;
  }
}

export const asyncExecution: Execution = {
  resume(task) {
    const operation = task.frame as Operation<unknown>;
    task.outcomeValue = operation.settledValue;
    return operation.state === REJECTED ? STEP_THROWN : STEP_COMPLETED;
  },

  // The promise of the body has settled: there is nothing to unwind.
  unwind(task) {
    return asyncExecution.resume(task);
  },
};
