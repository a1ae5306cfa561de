// TestBus: the bus of a test runtime; its trace holds nothing that differs between two runs of one
// seed. Owner: one test runtime. Not here: what commands do (bus/runtime_bus.ts), replay
// (replay_bus.ts).
import { PlainDetails } from '../bus/recording.ts';
import { RuntimeBus } from '../bus/runtime_bus.ts';

/** An event without what belongs to the thread. */
export interface PlainEvent {
  readonly opcode: number;
  readonly subcode: number;
  readonly taskId: number;
  readonly detail: unknown;
}

export class TestBus extends RuntimeBus {
  readonly #details = new PlainDetails();

  override trace(opcode: number, subcode: number, taskId: number, detail: unknown): void {
    this.write({ opcode, subcode, taskId, detail: this.#details.of(opcode, detail) });
  }

  protected write({ opcode, subcode, taskId, detail }: PlainEvent): void {
    super.trace(opcode, subcode, taskId, detail);
  }
}
