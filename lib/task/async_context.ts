// AsyncLocalStorage of the user: captured at spawn, restored at each resume, and free while no
// store was ever used (DESIGN 6: AsyncResource costs 57 ns and 11 ns on Node 20, snapshot() 20 us).
// Owner: module state of one thread. How we learn that a store is in use: a probe when the first
// task is spawned, and until then a trap on AsyncLocalStorage.prototype that removes itself at its
// first call. Nothing public tells it more cheaply (DECISIONS.md).
// Invariants: once active, active for good; no task runs in the context of whoever armed the turn;
// what is captured never holds our own storage, which tells the async task (current.ts).
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { runOutsideAsync } from './current.ts';

/** Read at every spawn. */
export const asyncContext = { isActive: false };

const ENTRANCES = ['run', 'enterWith', 'withScope'] as const;
type Method = (this: unknown, ...given: unknown[]) => unknown;
const prototype = AsyncLocalStorage.prototype as unknown as Record<string, Method | undefined>;
const originals = new Map<string, Method>();
let isWatching = false;

/** Starts to watch, once; called before the first task exists. */
export function watchAsyncContext(): void {
  if (isWatching) return;
  isWatching = true;
  if (isStoreInUse()) {
    asyncContext.isActive = true;
    return;
  }
  for (const name of ENTRANCES) {
    const original = prototype[name];
    if (original === undefined) continue;
    originals.set(name, original);
    const trap: Method = function (...given) {
      becomeActive();
      return original.apply(this, given);
    };
    try {
      prototype[name] = trap;
    } catch {
      // Frozen intrinsics: capture always.
      becomeActive();
      return;
    }
  }
}

function becomeActive(): void {
  asyncContext.isActive = true;
  for (const [name, original] of originals) prototype[name] = original;
  originals.clear();
}

// Where AsyncResource keeps its frame (Node 24 on); undefined: stores are symbols of their own.
const FRAME = 'context_frame';
let isProbedAtSpawn = false;

/** A new resource carries the stores that were ever used (Node 20), or the frame of now (24). */
function isStoreInUse(): boolean {
  const resource = new AsyncResource('NEPHRITE_PROBE') as unknown as Record<symbol, unknown>;
  const symbols = Object.getOwnPropertySymbols(resource);
  const frame = symbols.find((symbol) => symbol.description === FRAME);
  isProbedAtSpawn = frame !== undefined;
  if (frame !== undefined) return resource[frame] !== undefined;
  return symbols.some((symbol) => symbol.description === 'kResourceStore');
}

/**
 * The context of now, for a task that is spawned; undefined while there is none. A frame that was
 * entered before we watched is found by looking, at spawns from outside.
 */
export function captureContext(isFromOutside: boolean): AsyncResource | undefined {
  if (!asyncContext.isActive) {
    if (!isFromOutside || !isProbedAtSpawn || !isStoreInUse()) return undefined;
    becomeActive();
  }
  return runOutsideAsync(makeTaskResource);
}

const makeTaskResource = (): AsyncResource => new AsyncResource('NEPHRITE_TASK');

// Made when this module is loaded: before the program has entered a store.
const root = new AsyncResource('NEPHRITE_ROOT');
const makeTurnResource = (): AsyncResource => new AsyncResource('NEPHRITE_TURN');

/**
 * Runs a turn without stores: it has been armed by whoever happened to wake the first task. In a
 * resource of its own, since enterWith() of a task writes into that on Node 20.
 */
export function runWithoutStores(turn: () => void): void {
  if (!asyncContext.isActive) turn();
  else root.runInAsyncScope(makeTurnResource).runInAsyncScope(turn);
}
