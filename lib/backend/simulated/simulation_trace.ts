// Simulation trace: what was decided for each operation, in the order of the entries. Plain data
// that survives JSON, so that a failing run can be written down and played again.
// Owner: one simulated backend writes it. Invariants: decisions[n] is that of the n-th entry that
// was accepted; at most DECISIONS_MAX are kept, the others are only counted.
// Not here: drawing decisions (fault_plan.ts).
import type { OpcodeName } from './opcode_names.ts';

export const DECISIONS_MAX = 100_000;

export interface Decision {
  readonly slot: number;
  readonly opcode: OpcodeName;
  /** Negative errno to fail with; 0: none. */
  readonly errno: number;
  /** READ, WRITE: fewer bytes than the entry says; null: as it says. */
  readonly bytesMax: number | null;
  readonly effectDelayNs: number;
  readonly completionDelayNs: number;
  /** Orders what happens at the same virtual time. */
  readonly orderKey: number;
}

export interface SimulationTrace {
  readonly seed: number;
  readonly decisions: readonly Decision[];
  /** Decisions beyond DECISIONS_MAX, which the seed still reproduces. */
  readonly droppedCount: number;
}

export class TraceRecorder {
  readonly #seed: number;
  readonly #decisions: Decision[] = [];
  #droppedCount = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  record(decision: Decision): void {
    if (this.#decisions.length < DECISIONS_MAX) this.#decisions.push(decision);
    else this.#droppedCount++;
  }

  snapshot(): SimulationTrace {
    const decisions = [...this.#decisions];
    return { seed: this.#seed, decisions, droppedCount: this.#droppedCount };
  }
}
