// IoOperation: an Operation that is carried out by this thread's poller, in one or several entries.
// Owner: the thread that created it; while in flight, its slot in io_thread.ts refers to it, so
// neither it nor the buffers it refers to are collected before the completion.
// Invariants: cancel() never settles it and never frees anything; the target's completion does.
// Not here: slots, the pump (io_thread.ts), signals and timeouts (operation_options.ts).
import { AbortError } from '../base/errors.ts';
import { Operation } from '../base/operation.ts';
import { ownOperation } from '../base/operation_owner.ts';
import type { IoThread } from './io_thread.ts';
import type { WaitingList } from './waiting_list.ts';

export const ECANCELED = -125;

export abstract class IoOperation<T> extends Operation<T> {
  // Assigned in the constructor, as in Operation.
  declare readonly thread: IoThread;
  /** Slot while in flight, -1 otherwise. Written by io_thread.ts only. */
  declare slot: number;
  /** Intrusive list of operations that wait for a slot or a chunk. */
  declare nextWaiting: IoOperation<unknown> | undefined;
  declare previousWaiting: IoOperation<unknown> | undefined;
  declare waitingIn: WaitingList | undefined;
  /** Set by cancel(): what the failure will be. */
  declare cancelError: Error | undefined;

  constructor(thread: IoThread) {
    super();
    this.thread = thread;
    this.slot = -1;
    this.nextWaiting = undefined;
    this.previousWaiting = undefined;
    this.waitingIn = undefined;
    this.cancelError = undefined;
    ownOperation(this);
  }

  /**
   * Takes what the next entry needs beyond a slot (a bounce chunk). False: none is free now, try
   * again after a completion.
   */
  prepare(): boolean {
    return true;
  }

  /** Bytes that the next entry copies; from BULK_BYTES on it takes its share of each turn only. */
  get entryBytesWanted(): number {
    return 0;
  }

  /** Free slots that its entries leave to what frees others: one for a cancel, one for a close. */
  get slotsToSpare(): number {
    return 2;
  }

  /** Whether its entries are about this descriptor. */
  usesDescriptor(_fd: number): boolean {
    return false;
  }

  /**
   * True when the entry just submitted should reach the kernel now instead of with the turn: its
   * work then runs beside the copy of the next one.
   */
  get isFlushedAtOnce(): boolean {
    return false;
  }

  /** Writes the next entry: opcode, slot and generation through writeEntry(), then the rest. */
  abstract encode(words: Uint32Array, at: number, slot: number, generation: number): void;

  /**
   * The completion of the last entry: settles, or submits the next entry. Runs in the flat loop of
   * the pump. The slot is already free; its scratch still holds this entry's results.
   */
  abstract completed(result: number, flags: number, slot: number): void;

  /** Gives up what prepare() took, when no further completion will come. */
  release(): void {}

  override cancel(reason?: unknown): void {
    this.cancelWith(
      reason instanceof Error && reason.name === 'TimeoutError' ? reason : new AbortError(reason),
    );
  }

  /** As cancel(), with the error that the operation will fail with. */
  cancelWith(error: Error): void {
    if (this.isSettled || this.cancelError !== undefined) return;
    this.cancelError = error;
    this.thread.cancel(this);
  }

  /** Not inside the call that cancelled it: as with promises, who waits is called after that. */
  protected override notify(): void {
    if (this.cancelError === undefined) super.notify();
    else queueMicrotask(() => super.notify());
  }

  /** Never started (it waited for a slot or the thread closes): the failure is final. */
  abandoned(error: Error): void {
    this.release();
    if (!this.isSettled) this.reject(error);
  }

  /** True when this result means "stopped as asked". */
  protected wasCancelled(result: number): boolean {
    return this.cancelError !== undefined && result === ECANCELED;
  }
}
