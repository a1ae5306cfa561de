// recordRun: collects the tap of a runtime, a real one or one for tests, into a recording.
// Owner: whoever called it. Invariants: the recording is plain JSON; at most EVENTS_MAX events are
// kept, and a recording that is not whole is refused rather than handed out.
// Not here: the format (bus/recording.ts), replaying.
import { invalidArgType, NephriteError } from '../base/errors.ts';
import { COMMANDS_VERSION } from '../bus/commands.ts';
import {
  type EventSource,
  PlainDetails,
  type RecordedEvent,
  type Recording,
} from '../bus/recording.ts';
import type { TapEvent } from '../bus/tap.ts';
import { Runtime } from '../runtime.ts';
import { TestRuntime } from './test_runtime.ts';

/** Some 600 MB of memory. */
const EVENTS_MAX = 5_000_000;

export class RunRecorder {
  readonly #runtime: Runtime;
  readonly #details = new PlainDetails();
  readonly #events: RecordedEvent[] = [];
  readonly #end: () => void;
  #isWhole = true;

  /** @internal */
  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#end = runtime.bus.tap((event) => this.#add(event));
  }

  #add({ atMs, opcode, subcode, taskId, detail }: TapEvent): void {
    if (this.#events.length >= EVENTS_MAX) {
      this.#isWhole = false;
      return;
    }
    const source = this.#source();
    const plain = this.#details.of(opcode, detail);
    const event = { atMs, opcode, subcode, taskId, source };
    this.#events.push(plain === undefined ? event : { ...event, detail: plain });
  }

  #source(): EventSource {
    const { scheduler } = this.#runtime.parts;
    if (scheduler.wheels.isExpiring) return 'expiry';
    return scheduler.isRunning ? 'turn' : 'outside';
  }

  /**
   * Ends the recording and gives it; the same each time.
   * @throws ERR_QUEUE_FULL when more than 5,000,000 events came
   */
  stop(): Recording {
    this.#end();
    if (!this.#isWhole) {
      throw new NephriteError('ERR_QUEUE_FULL', `a recording holds ${EVENTS_MAX} events at most`);
    }
    const recording = { version: COMMANDS_VERSION, events: [...this.#events] };
    const made = this.#runtime instanceof TestRuntime ? this.#runtime.madeWith : undefined;
    return made === undefined ? recording : { ...recording, test: made };
  }
}

/**
 * Records everything that the runtime's bus does from now on. To be called before its first task is
 * spawned: a replay starts from an empty runtime.
 * @throws ERR_INVALID_ARG_TYPE; ERR_INVALID_STATE when it has tasks already
 */
export function recordRun(runtime: Runtime): RunRecorder {
  if (!(runtime instanceof Runtime)) {
    throw invalidArgType('runtime', 'an instance of Runtime', runtime);
  }
  if (runtime.parts.scheduler.live.count > 0) {
    throw new NephriteError('ERR_INVALID_STATE', 'recordRun() must come before the first task');
  }
  return new RunRecorder(runtime);
}
