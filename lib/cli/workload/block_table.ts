// What every block should contain, and who is using it right now.
// Owner: the run; all lanes of all subjects share one table, so what one subject wrote the other
// must read back. Invariants: a target has either readers or one writer; generation 0 means that
// a write failed and the content is unknown until the next successful one.
// Not here: the bytes themselves (pattern.ts).

const WRITER = -1;

/** Generations and claims of all targets. */
export class BlockTable {
  readonly count: number;
  readonly #generations: Uint32Array;
  readonly #written: Uint32Array;
  readonly #users: Int16Array;
  #writes = 0;

  constructor(count: number) {
    this.count = count;
    this.#generations = new Uint32Array(count).fill(1);
    this.#written = new Uint32Array(count).fill(1);
    this.#users = new Int16Array(count);
  }

  /** Successful and failed writes since the data set was laid out. */
  get writes(): number {
    return this.#writes;
  }

  /** The generation a read of this target must find; 0 when unknown. */
  expectedGeneration(target: number): number {
    return this.#generations[target] ?? 0;
  }

  claimForRead(target: number): boolean {
    const users = this.#users[target] ?? WRITER;
    if (users === WRITER) return false;
    this.#users[target] = users + 1;
    return true;
  }

  claimForWrite(target: number): boolean {
    if (this.#users[target] !== 0) return false;
    this.#users[target] = WRITER;
    return true;
  }

  releaseRead(target: number): void {
    this.#users[target] = (this.#users[target] ?? 1) - 1;
  }

  /** The generation the claimed writer should write: one more than any written before. */
  nextGeneration(target: number): number {
    const next = ((this.#written[target] ?? 0) + 1) >>> 0;
    return next === 0 ? 1 : next;
  }

  /** Ends a write; after a failure the old, the new or a mixture may be on disk. */
  releaseWrite(target: number, generation: number, isWritten: boolean): void {
    this.#written[target] = generation;
    this.#generations[target] = isWritten ? generation : 0;
    this.#users[target] = 0;
    this.#writes += 1;
  }
}
