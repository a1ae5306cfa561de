// The `node` backend: the poller contract over node:fs alone. It works wherever Node does, needs no
// addon, and is the oracle of error parity: what it answers is what Node's fs answers.
// Flow: submission ring -> #take -> starters.ts -> node:fs -> #done -> completion ring.
// Owner: one thread. Invariants: an operation is in flight from its entry until its completion is
// in the ring; onWake is called at most once between two collections.
// Limits: node's pool has 4 threads and a FIFO's open holds one until its peer comes; nothing that
// has started can be cancelled; no CLONE, COPY_RANGE and ALLOCATE (the fs layer reads and writes).
import { closeSync } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import type { Arena } from '../../ring/buffer_pool.ts';
import { createRingMemory, type RingMemory } from '../../ring/ring_memory.ts';
import type { Backend, BackendOptions } from '../backend.ts';
import { advanceClockCell } from '../clock_cell.ts';
import { CloseOrder } from '../close_order.ts';
import { PollerRing } from '../poller_ring.ts';
import { WakeTimer } from '../wake_timer.ts';
import { ArenaTable } from './arena_table.ts';
import { bind } from './bind.ts';
import { Directories } from './directories.ts';
import { NodeOperation } from './node_operation.ts';
import { createStarter } from './starters.ts';

const POOL_THREADS_DEFAULT = 4;

class NodeBackend implements Backend {
  readonly name = 'node';
  readonly memory: RingMemory;
  readonly #ring: PollerRing;
  readonly #scratch: Uint8Array;
  readonly #arenas = new ArenaTable();
  readonly #closeOrder = new CloseOrder<NodeOperation>();
  readonly #directories = new Directories();
  /** Opened through this backend; given up when a close starts, as the number is free then. */
  readonly #openFds = new Set<number>();
  readonly #operations: (NodeOperation | undefined)[];
  readonly #start: (operation: NodeOperation) => void;
  readonly #wake: WakeTimer;
  /** Done, their completions not yet in the ring. */
  readonly #done: NodeOperation[] = [];
  #inFlightCount = 0;
  /** Given to node:fs, its callback not yet called. */
  #startedCount = 0;
  #isClosed = false;

  constructor(options: BackendOptions) {
    this.memory = createRingMemory(options.ringEntries, options.slotCapacity);
    this.#ring = new PollerRing(this.memory);
    this.#scratch = this.memory.bytes.subarray(this.memory.scratchOffset);
    this.#operations = new Array(options.slotCapacity).fill(undefined);
    this.#start = createStarter({ memory: this.memory, directories: this.#directories });
    this.#wake = new WakeTimer(options.onWake);
  }

  enter(flags: number): number {
    if (this.#isClosed) return -1;
    const publishedBefore = this.#ring.publishedCount;
    let status = 0;
    if ((flags & abi.ENTER_SUBMIT) !== 0) {
      status |= this.#ring.consume(this.#inFlightCount, (index) => this.#take(index));
    }
    if ((flags & abi.ENTER_COLLECT) !== 0) status |= this.#collect();
    this.#ring.writeHeader(status, this.#inFlightCount);
    advanceClockCell();
    return this.#ring.publishedCount - publishedBefore;
  }

  addArena(bytes: number): Arena {
    return this.#arenas.add(bytes);
  }

  releaseArena(id: number): void {
    this.#arenas.release(id);
  }

  wake(): void {
    this.#wake.force();
  }

  /** What node:fs still has in hand ends later; a descriptor that it opens then is closed. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wake.stop();
    this.#arenas.clear();
    this.#done.length = 0;
    if (this.#startedCount === 0) this.#closeDescriptors();
  }

  describe(): Record<string, unknown> {
    return {
      name: this.name,
      ringEntries: this.memory.submissionCapacity,
      slotCapacity: this.memory.slotCapacity,
      poolThreads: Number(process.env.UV_THREADPOOL_SIZE ?? POOL_THREADS_DEFAULT),
    };
  }

  /** Checks the entry at `index` of the ring's words and starts it, or answers it with an error. */
  #take(index: number): void {
    const { words, bytes, slotCapacity } = this.memory;
    const slot = words[index + abi.SUBMISSION_SLOT_INDEX];
    const opcode = bytes[index * 4 + abi.SUBMISSION_OPCODE_OFFSET];
    const operation = slot < slotCapacity ? this.#operationOf(slot) : null;
    if (opcode >= abi.OP_COUNT || operation === null || operation.isInFlight) {
      this.#ring.reject(index, errnoOf('EINVAL'));
      return;
    }
    operation.entry.copyFrom(words, index);
    const error = bind(operation, this.#scratch, this.#arenas);
    if (error < 0) {
      this.#ring.reject(index, error);
      return;
    }
    if (opcode === abi.OP_NOP || opcode === abi.OP_CANCEL) {
      const result = opcode === abi.OP_NOP ? 0 : this.#cancel(operation);
      this.#ring.count(abi.HEADER_INLINE_COUNT_INDEX);
      this.#ring.publish(slot, operation.entry.generation, result, 0);
      return;
    }
    operation.isInFlight = true;
    this.#inFlightCount++;
    this.#closeOrder.hold(operation);
    if (opcode === abi.OP_CLOSE && this.#closeOrder.mustWait(operation)) return;
    this.#startNow(operation);
  }

  #operationOf(slot: number): NodeOperation {
    const known = this.#operations[slot];
    if (known !== undefined) return known;
    const made = new NodeOperation(slot, (operation) => this.#onDone(operation));
    this.#operations[slot] = made;
    return made;
  }

  #startNow(operation: NodeOperation): void {
    const { opcode, fd } = operation.entry;
    if (opcode === abi.OP_CLOSE) {
      this.#openFds.delete(fd);
      this.#directories.forget(fd);
    }
    this.#ring.count(abi.HEADER_POOLED_COUNT_INDEX);
    this.#startedCount++;
    this.#start(operation);
  }

  /** node:fs has no way to take a request back. */
  #cancel(operation: NodeOperation): number {
    const { value0Low: slot, value0High: generation } = operation.entry;
    const target = slot < this.memory.slotCapacity ? this.#operations[slot] : undefined;
    const isThere = target?.isInFlight === true && target.entry.generation === generation;
    return errnoOf(isThere ? 'EALREADY' : 'ENOENT');
  }

  #onDone(operation: NodeOperation): void {
    this.#startedCount--;
    if (operation.entry.opcode === abi.OP_OPEN && operation.result >= 0) {
      this.#openFds.add(operation.result);
    }
    if (this.#isClosed) {
      if (this.#startedCount === 0) this.#closeDescriptors();
      return;
    }
    this.#done.push(operation);
    for (const waiting of this.#closeOrder.release(operation)) this.#startNow(waiting);
    this.#wake.arm();
  }

  #collect(): number {
    if (!this.#ring.hasRoom(this.#done.length)) return abi.STATUS_CORRUPT;
    this.#wake.disarm();
    for (const operation of this.#done) {
      const { slot, entry, result, resultFlags } = operation;
      operation.isInFlight = false;
      this.#inFlightCount--;
      this.#ring.publish(slot, entry.generation, result, resultFlags);
    }
    this.#done.length = 0;
    return 0;
  }

  #closeDescriptors(): void {
    // At once: at the end of a worker a request to the pool is dropped, and the descriptor with it.
    for (const fd of this.#openFds) {
      try {
        closeSync(fd);
      } catch {
        // Closed by somebody else meanwhile: it is gone, which is what was wanted.
      }
    }
    this.#openFds.clear();
  }
}

/** Opens the `node` backend; it cannot fail. */
export function createNodeBackend(options: BackendOptions): Backend {
  return new NodeBackend(options);
}
