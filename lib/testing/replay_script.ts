// ReplayScript: a recording with a place in it: what must come next, and what came too early.
// Owner: one replaying runtime. Invariants: the place only moves forward; every event that it
// passes is written out as it was recorded; the first difference is kept and ends the comparison.
// Not here: what makes events happen (replay_host.ts), who compares (replay_bus.ts).
import { NephriteError } from '../base/errors.ts';
import * as commands from '../bus/commands.ts';
import type { RecordedEvent, Recording } from '../bus/recording.ts';
import type { PlainEvent } from './test_bus.ts';

const ENDS_SLICE = new Set<number>([commands.OP_WAIT, commands.OP_PREEMPT, commands.OP_COMPLETE]);

export class ReplayScript {
  readonly #events: readonly RecordedEvent[];
  /** For each dispatch, where its slice ends; 0 elsewhere. */
  readonly #sliceEnds: Uint32Array;
  /** By task: where its slice, the one that was dispatched last, ends. */
  readonly #currentEnds = new Map<number, number>();
  /** Events from outside that came before their time. */
  readonly #early = new Set<number>();
  #at = 0;
  divergence: NephriteError | undefined;

  constructor({ events }: Recording) {
    this.#events = events;
    this.#sliceEnds = new Uint32Array(events.length);
    const open = new Map<number, number>();
    for (const [at, { opcode, taskId }] of events.entries()) {
      if (opcode === commands.OP_DISPATCH) open.set(taskId, at);
      const start = ENDS_SLICE.has(opcode) ? open.get(taskId) : undefined;
      if (start === undefined) continue;
      this.#sliceEnds[start] = at;
      open.delete(taskId);
    }
  }

  get next(): RecordedEvent | undefined {
    return this.divergence === undefined ? this.#events[this.#at] : undefined;
  }

  /** Nothing is expected any more. */
  get isOver(): boolean {
    return this.next === undefined;
  }

  isNext(opcode: number, taskId: number): boolean {
    const { next } = this;
    return next?.opcode === opcode && next.taskId === taskId;
  }

  /** How the slice of that task ended, which was dispatched last. */
  sliceEndOf(taskId: number): RecordedEvent | undefined {
    const at = this.#currentEnds.get(taskId);
    return at === undefined ? undefined : this.#events[at];
  }

  /** Moves on by one event and returns it. */
  pass(): RecordedEvent {
    const at = this.#at++;
    const event = this.#events[at];
    const end = this.#sliceEnds[at];
    if (end > 0) this.#currentEnds.set(event.taskId, end);
    return event;
  }

  /** Whether the next one came before its time and was kept; then it may be passed. */
  takeEarly(): boolean {
    return this.#early.delete(this.#at);
  }

  /** Keeps an event from outside whose time is yet to come. */
  keepEarly(came: PlainEvent): boolean {
    for (let at = this.#at; at < this.#events.length; at++) {
      const event = this.#events[at];
      if (event.source !== 'outside' || this.#early.has(at) || !isSame(event, came)) continue;
      this.#early.add(at);
      return true;
    }
    return false;
  }

  /** The run does something else: kept, and nothing is compared from here on. */
  diverged(came: PlainEvent | undefined): NephriteError {
    const expected = this.#events[this.#at];
    const recorded = expected === undefined ? 'the end of the run' : show(expected);
    const found = came === undefined ? 'nothing more' : show(came);
    this.divergence ??= new NephriteError(
      'ERR_REPLAY_DIVERGED',
      `event ${this.#at + 1} was recorded as ${recorded}; now came ${found}`,
    );
    return this.divergence;
  }
}

/** Preemptions are the record's: how far the slice went is compared, why it ended is not. */
export function isSame(recorded: RecordedEvent, came: PlainEvent): boolean {
  return (
    recorded.opcode === came.opcode &&
    recorded.taskId === came.taskId &&
    (recorded.subcode === came.subcode || recorded.opcode === commands.OP_PREEMPT) &&
    JSON.stringify(recorded.detail) === JSON.stringify(came.detail)
  );
}

function show({ opcode, subcode, taskId, detail }: PlainEvent | RecordedEvent): string {
  const command = commands.commandOf(opcode);
  const kind = command?.subcodes[subcode] ?? String(subcode);
  const task = taskId === 0 ? '' : ` of task ${taskId}`;
  const text = detail === undefined ? '' : ` ${JSON.stringify(detail)}`;
  return `${command?.name ?? opcode} (${kind})${task}${text}`;
}
