// Arena holds: an arena that is released while delayed operations point into it stays with the
// backend below until the last of them is done; to new entries it is gone at once.
// Owner: one simulated backend. Invariants: an arena is given back exactly once.
// Not here: bounds (the inner backend checks them).
import * as abi from '../../abi/layout.ts';
import type { SubmissionEntry } from '../submission_entry.ts';

/** Ids of the arenas that an entry points into, without 0 (the scratch). */
function arenasOf(entry: SubmissionEntry): readonly number[] {
  const ids: number[] = [];
  if (entry.hasFlag(abi.ENTRY_HAS_BUFFER) && entry.arenaId !== 0) ids.push(entry.arenaId);
  if (entry.hasFlag(abi.ENTRY_HAS_PATH) && entry.pathArenaId !== 0) ids.push(entry.pathArenaId);
  return ids;
}

export class ArenaHolds {
  readonly #useCounts = new Map<number, number>();
  /** Released by JavaScript, still in use. */
  readonly #leaving = new Set<number>();
  readonly #giveBack: (id: number) => void;

  constructor(giveBack: (id: number) => void) {
    this.#giveBack = giveBack;
  }

  /** False: the entry points into an arena that was released. */
  hold(entry: SubmissionEntry): boolean {
    const ids = arenasOf(entry);
    if (ids.some((id) => this.#leaving.has(id))) return false;
    for (const id of ids) this.#useCounts.set(id, (this.#useCounts.get(id) ?? 0) + 1);
    return true;
  }

  unhold(entry: SubmissionEntry): void {
    for (const id of arenasOf(entry)) {
      const count = (this.#useCounts.get(id) ?? 0) - 1;
      if (count > 0) this.#useCounts.set(id, count);
      else {
        this.#useCounts.delete(id);
        if (this.#leaving.delete(id)) this.#giveBack(id);
      }
    }
  }

  releaseArena(id: number): void {
    if (this.#useCounts.has(id)) this.#leaving.add(id);
    else this.#giveBack(id);
  }
}
