// VerifyBus: the bus of a replay that its seed carries out: it only compares.
// Owner: one replaying test runtime. Invariants: changes nothing. Not here: replays of runs of the
// real runtime (replay_bus.ts).
import type { Recording } from '../bus/recording.ts';
import type { SchedulerPort } from '../bus/scheduler_port.ts';
import type { TaskRights } from '../task/command_sink.ts';
import { isSame, ReplayScript } from './replay_script.ts';
import { type PlainEvent, TestBus } from './test_bus.ts';

export class VerifyBus extends TestBus {
  readonly script: ReplayScript;
  readonly #onDiverged: () => void;

  constructor(
    port: SchedulerPort,
    rights: TaskRights,
    recording: Recording,
    onDiverged: () => void,
  ) {
    super(port, rights);
    this.script = new ReplayScript(recording);
    this.#onDiverged = onDiverged;
    // Compares whether or not anybody else listens.
    this.tap(() => {});
  }

  protected override write(came: PlainEvent): void {
    const { script } = this;
    super.write(came);
    if (script.divergence !== undefined) return;
    if (script.next !== undefined && isSame(script.next, came)) script.pass();
    else {
      script.diverged(came);
      this.#onDiverged();
    }
  }
}
