// Scheduling state of a task: one word of named bits, and the only transitions that exist.
// Owner: the task's worker. The outcome is another dimension (outcome.ts, S-11).
// Invariants: Runnable -> Running -> Runnable | Waiting | Completed, Waiting -> Runnable; nothing
// else (seed 1, 2.1). A transition returns the new word, which must be stored.
// Not here: queues.
import { invariant } from '../base/assert.ts';

const STATE_MASK = 0b11;
export const RUNNABLE = 0;
export const RUNNING = 1;
export const WAITING = 2;
export const COMPLETED = 3;

/** The body has been entered. */
export const STARTED = 1 << 2;
/** Sticky (S-13). */
export const CANCEL_REQUESTED = 1 << 3;
/** The body was told to return; what it waits for in `finally` is masked. */
export const UNWINDING = 1 << 4;
/** The body is an async function: its continuations are run by the engine, not by us. */
export const ASYNC_BODY = 1 << 5;
/** Somebody has asked for the outcome. */
export const OBSERVED = 1 << 6;
/** What it waited for was asked to stop; when that has settled, the body unwinds. */
export const WAIT_CANCELLED = 1 << 7;
/** It has waited, and is in the list of live tasks. */
export const LISTED = 1 << 8;
/** Depth of uncancellable() sections, above these bits. */
export const MASK_UNIT = 1 << 9;

export type StateName = 'runnable' | 'running' | 'waiting' | 'completed';
const NAMES: readonly StateName[] = ['runnable', 'running', 'waiting', 'completed'];

export const stateOf = (word: number): number => word & STATE_MASK;
export const stateName = (word: number): StateName => NAMES[word & STATE_MASK];

/** Cancellation may be delivered now: requested, not masked, not under way. */
export function isCancellable(word: number): boolean {
  return (word & (CANCEL_REQUESTED | UNWINDING)) === CANCEL_REQUESTED && word < MASK_UNIT;
}

function moved(word: number, from: number, to: number): number {
  if ((word & STATE_MASK) !== from) refuse(word, to);
  return (word & ~STATE_MASK) | to;
}

// Apart, so that moved() stays small enough to be inlined everywhere.
function refuse(word: number, to: number): never {
  invariant(false, 'task transition', NAMES[word & STATE_MASK], NAMES[to]);
}

export const dispatched = (word: number): number => moved(word, RUNNABLE, RUNNING);
export const preempted = (word: number): number => moved(word, RUNNING, RUNNABLE);
export const suspended = (word: number): number => moved(word, RUNNING, WAITING);
export const woken = (word: number): number => moved(word, WAITING, RUNNABLE);
export const completed = (word: number): number => moved(word, RUNNING, COMPLETED);
