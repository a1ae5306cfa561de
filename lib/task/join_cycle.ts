// Join cycles: tasks that wait for one another in a ring would wait for ever, so whoever closes the
// ring is trapped, with the ring named. Looked for at each suspension on tasks, never by a watcher.
// Owner: none. Invariants: the walk is bounded; only waits that end with tasks count (a time limit
// around them ends by itself, an
// open race by another item, a decided one by all that are left).
// Not here: what follows from one (scheduler/dispatch.ts).
import { Operation } from '../base/operation.ts';
import { JoinOperation } from './join.ts';
import { stateOf, WAITING } from './state.ts';
import type { Task } from './task.ts';

/** An operation that settles only when several tasks or operations have: scopes, all(). */
export abstract class CompositeOperation<T> extends Operation<T> {
  /** Those that are open. */
  abstract openParts(): Iterable<Task | Operation<unknown>>;
}

// Longer chains are looked at no further: where each task waits for the one before it, every new
// one walks the whole queue (10,000 tasks took seconds without a bound). A longer ring has no name.
const CHAIN_LENGTH_MAX = 256;

/** The task that it waits for alone, if that is what it does. */
function targetOf(waitable: unknown): Task | undefined {
  return waitable instanceof JoinOperation ? waitable.target : undefined;
}

/** Whether a wait could close a ring at all: most are for operations, or for tasks that run. */
export function mayCloseRing(task: Task, waitable: unknown): boolean {
  if (waitable instanceof JoinOperation) {
    const { target } = waitable;
    return target === task || stateOf(target.word) === WAITING;
  }
  return waitable instanceof CompositeOperation;
}

/** The tasks that wait for one another in a ring that `task` would close, or undefined. */
export function joinCycle(task: Task, waitable: unknown): Task[] | undefined {
  let target = targetOf(waitable);
  if (target === undefined) {
    return waitable instanceof CompositeOperation ? ringThrough(task, [], waitable) : undefined;
  }
  if (target !== task && stateOf(target.word) !== WAITING) return undefined;
  for (let length = 1; target !== task; length++) {
    const { waitingFor }: Task = target;
    target = targetOf(waitingFor);
    if (target === undefined) {
      return waitingFor instanceof CompositeOperation ? ringThrough(task, [], waitable) : undefined;
    }
    if (length > CHAIN_LENGTH_MAX) return undefined;
  }
  return ringThrough(task, [], waitable);
}

/**
 * As joinCycle(), for a part of what `task` waits for that has changed what it needs itself:
 * undefined also where the task does not wait for it, or in other ways than all() does.
 */
export function cycleThroughPart(
  task: Task,
  part: CompositeOperation<unknown>,
): Task[] | undefined {
  if (stateOf(task.word) !== WAITING) return undefined;
  // First what mostly says no at once: all() may have a million parts.
  const ring = ringThrough(task, [], part);
  return ring !== undefined && includes(task.waitingFor, part, 0) ? ring : undefined;
}

// As deep as anybody nests them.
const NESTING_MAX = 16;

function includes(whole: unknown, part: unknown, depth: number): boolean {
  if (whole === part) return true;
  if (!(whole instanceof CompositeOperation) || depth >= NESTING_MAX) return false;
  for (const each of whole.openParts()) if (includes(each, part, depth + 1)) return true;
  return false;
}

/** Depth first over all that has to settle; `seen`: tasks that lead nowhere, and the bound. */
function ringThrough(task: Task, seen: Task[], part: unknown): Task[] | undefined {
  const target = targetOf(part);
  if (target !== undefined) return ringThrough(task, seen, target);
  if (part instanceof CompositeOperation) {
    for (const each of part.openParts()) {
      const ring = ringThrough(task, seen, each);
      if (ring !== undefined || seen.length >= CHAIN_LENGTH_MAX) return ring;
    }
    return undefined;
  }
  if (part === undefined || part instanceof Operation) return undefined;
  const next = part as Task;
  if (next === task) return [task];
  if (seen.length >= CHAIN_LENGTH_MAX || seen.includes(next)) return undefined;
  seen.push(next);
  if (stateOf(next.word) !== WAITING) return undefined;
  const ring = ringThrough(task, seen, next.waitingFor);
  // From the one that closes it on, in the order of waiting.
  return ring === undefined ? undefined : [task, next, ...ring.slice(1)];
}
