// Tap: every command and every decision of the scheduler, as it happens, for whoever watches,
// records or replays. Owner: the bus. Invariants: costs one comparison while nobody listens;
// a listener that throws is reported as an uncaught exception and changes nothing.
// Not here: what commands do (runtime_bus.ts).
import { commandOf } from './commands.ts';

export interface TapEvent {
  /** From 1 on, without gaps. */
  readonly sequence: number;
  /** Milliseconds on the runtime's clock, as of the last time it was read. */
  readonly atMs: number;
  readonly opcode: number;
  readonly subcode: number;
  /** Name of the opcode, as in docs/commands.md. */
  readonly command: string;
  /** 0 where no task is concerned. */
  readonly taskId: number;
  /** What else there is to know: plain data (name, wait condition, count, reductions). */
  readonly detail: unknown;
}

export type TapListener = (event: TapEvent) => void;

export class Tap {
  readonly #listeners = new Set<TapListener>();
  #sequence = 0;
  /** Read on the hot path. */
  isOpen = false;

  /** Returns a function that ends it. */
  open(listener: TapListener): () => void {
    // A listener given twice is two listeners.
    const own: TapListener = (event) => listener(event);
    this.#listeners.add(own);
    this.isOpen = true;
    return () => {
      this.#listeners.delete(own);
      this.isOpen = this.#listeners.size > 0;
    };
  }

  write(atMs: number, opcode: number, subcode: number, taskId: number, detail: unknown): void {
    const sequence = ++this.#sequence;
    const command = commandOf(opcode)?.name ?? 'unknown';
    const event: TapEvent = { sequence, atMs, opcode, subcode, command, taskId, detail };
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
