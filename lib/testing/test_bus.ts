// TestBus: the bus of a test runtime; its trace holds nothing that differs between two runs of one
// seed. Owner: one test runtime. Invariants: wait tokens, which are numbered by the thread, are
// numbered anew in the order in which they are first waited for.
// Not here: what commands do (bus/runtime_bus.ts).
import { OP_WAIT } from '../bus/commands.ts';
import { RuntimeBus } from '../bus/runtime_bus.ts';

const TOKEN = /\btoken (\d+)/g;

export class TestBus extends RuntimeBus {
  readonly #tokens = new Map<string, number>();

  override trace(opcode: number, subcode: number, taskId: number, detail: unknown): void {
    super.trace(opcode, subcode, taskId, this.plain(opcode, detail));
  }

  /** The detail without what belongs to the thread. */
  protected plain(opcode: number, detail: unknown): unknown {
    if (opcode !== OP_WAIT || typeof detail !== 'string' || !detail.includes('token ')) {
      return detail;
    }
    return detail.replace(TOKEN, (_, token: string) => {
      const known = this.#tokens.get(token);
      const number = known ?? this.#tokens.size + 1;
      if (known === undefined) this.#tokens.set(token, number);
      return `token ${number}`;
    });
  }
}
