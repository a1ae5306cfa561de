// Carries out one operation of a slot through a subject, and checks what it read.
// Flow: lanes -> [executor] -> FileSubject
// Owner: one executor per subject. Invariants: a buffer is poisoned before it is read into, so that
// bytes the kernel never delivered cannot pass the check; a short transfer is continued.
// Not here: which operation, when, and its latency (workload.ts, pacer.ts, lanes.ts).
import { errorCodeOf } from '../cli_error.ts';
import {
  OP_READ,
  OP_READ_FILE,
  OP_RECREATE,
  OP_STAT,
  OP_SYNC,
  OP_WRITE,
  OP_WRITE_SYNC,
  type OperationSlot,
} from '../workload/operations.ts';
import type { BlockPattern } from '../workload/pattern.ts';
import { type DataSet, writeFully } from './data_set.ts';
import type { Recorder } from './recorder.ts';
import type { FileSubject, SubjectFile } from './subject.ts';

/** Buffers and the current operation of one lane. */
export interface Lane {
  readonly slot: OperationSlot;
  readonly buffer: Uint8Array;
}

/** What an executor works with. */
export interface ExecutorParts {
  readonly subject: FileSubject;
  readonly files: readonly SubjectFile[];
  readonly dataSet: DataSet;
  readonly pattern: BlockPattern;
  readonly isVerified: boolean;
}

/** Executes operations; `recorder` may change between phases. */
export class Executor {
  readonly #parts: ExecutorParts;
  recorder: Recorder;

  constructor(parts: ExecutorParts, recorder: Recorder) {
    this.#parts = parts;
    this.recorder = recorder;
  }

  createLane(): Lane {
    const buffer = this.#parts.subject.allocate(this.#parts.dataSet.shape.blockBytes);
    return { slot: { kind: OP_READ, target: 0, generation: 0, isKnown: true }, buffer };
  }

  /**
   * Runs the lane's operation; resolves to the bytes it moved. The hot kinds are one async function
   * deep: a second one would cost a tenth of a cached read.
   */
  perform(lane: Lane): Promise<number> {
    switch (lane.slot.kind) {
      case OP_READ:
        return this.#readBlock(lane);
      case OP_WRITE:
        return this.#writeBlock(lane);
      default:
        return this.#performOther(lane);
    }
  }

  async #performOther(lane: Lane): Promise<number> {
    const { subject, dataSet } = this.#parts;
    const { slot, buffer } = lane;
    const { blockBytes } = dataSet.shape;
    switch (slot.kind) {
      case OP_WRITE_SYNC:
        await this.#writeBlock(lane);
        await this.#file(slot.target).datasync();
        return blockBytes;
      case OP_SYNC:
        await this.#file(slot.target).datasync();
        return 0;
      case OP_STAT:
      case OP_READ_FILE:
        return this.#look(slot);
      default: {
        const path = dataSet.pathOf(slot.target);
        // A failed operation may have left no file to unlink: then it is only made again.
        const isRecreated = slot.kind === OP_RECREATE && slot.isKnown;
        this.#fill(lane);
        if (isRecreated) await subject.unlink(path);
        await subject.writeFile(path, buffer, { flag: isRecreated ? 'wx' : 'w' });
        return blockBytes;
      }
    }
  }

  /** Reads or stats a small file; one that a failed operation left missing is no new error. */
  async #look(slot: OperationSlot): Promise<number> {
    const { subject, dataSet, isVerified } = this.#parts;
    const path = dataSet.pathOf(slot.target);
    try {
      if (slot.kind === OP_STAT) {
        const { size } = await subject.stat(path);
        const isWrong = slot.isKnown && size !== dataSet.shape.blockBytes;
        if (isVerified && isWrong) this.#reportSize(slot, size);
        return 0;
      }
      const content = await subject.readFile(path);
      this.#check(slot, content, content.length);
      return content.length;
    } catch (error) {
      if (!slot.isKnown && errorCodeOf(error) === 'ENOENT') return 0;
      throw error;
    }
  }

  async #readBlock(lane: Lane): Promise<number> {
    const { dataSet, pattern } = this.#parts;
    const { slot, buffer } = lane;
    const { blockBytes } = dataSet.shape;
    const file = this.#file(slot.target);
    const position = dataSet.offsetOf(slot.target);
    if (this.#parts.isVerified) pattern.poison(buffer);
    let { bytesRead } = await file.read(buffer, 0, blockBytes, position);
    let lastBytes = bytesRead;
    while (bytesRead < blockBytes && lastBytes > 0) {
      const rest = blockBytes - bytesRead;
      lastBytes = (await file.read(buffer, bytesRead, rest, position + bytesRead)).bytesRead;
      bytesRead += lastBytes;
    }
    this.#check(slot, buffer, bytesRead);
    return bytesRead;
  }

  async #writeBlock(lane: Lane): Promise<number> {
    const { dataSet } = this.#parts;
    const { slot, buffer } = lane;
    const { blockBytes } = dataSet.shape;
    const file = this.#file(slot.target);
    const position = dataSet.offsetOf(slot.target);
    this.#fill(lane);
    const { bytesWritten } = await file.write(buffer, 0, blockBytes, position);
    if (bytesWritten !== blockBytes) {
      const rest = buffer.subarray(bytesWritten);
      await writeFully(file, rest, blockBytes - bytesWritten, position + bytesWritten);
    }
    return blockBytes;
  }

  #fill(lane: Lane): void {
    const { dataSet, pattern } = this.#parts;
    pattern.fill(lane.buffer, 0, dataSet.identityOf(lane.slot.target, lane.slot.generation));
  }

  /** Checks a whole block whose content is known. */
  #check(slot: OperationSlot, content: Uint8Array, bytes: number): void {
    const { dataSet, pattern, isVerified } = this.#parts;
    if (!isVerified || !slot.isKnown) return;
    const identity = dataSet.identityOf(slot.target, slot.generation);
    if (bytes === dataSet.shape.blockBytes && pattern.matches(content, 0, identity)) {
      this.recorder.verifiedBytes += bytes;
      return;
    }
    const difference = pattern.difference(content.subarray(0, bytes), 0, identity);
    this.recorder.recordMismatch({
      ...difference,
      path: dataSet.pathOf(slot.target),
      offsetBytes: identity.offsetBytes + difference.atBytes,
      blockOffsetBytes: identity.offsetBytes,
      expectedHeader: `file ${identity.file} offset ${identity.offsetBytes} generation ${identity.generation}`,
      reader: this.#parts.subject.name,
    });
  }

  #reportSize(slot: OperationSlot, size: number): void {
    const { dataSet, subject } = this.#parts;
    this.recorder.recordMismatch({
      atBytes: 0,
      differingBytes: 0,
      expectedHex: '',
      gotHex: '',
      gotHeader: `size ${size}`,
      path: dataSet.pathOf(slot.target),
      offsetBytes: 0,
      blockOffsetBytes: 0,
      expectedHeader: `size ${dataSet.shape.blockBytes}`,
      reader: subject.name,
    });
  }

  #file(target: number): SubjectFile {
    const file = this.#parts.files[this.#parts.dataSet.fileOf(target)];
    if (file === undefined) throw new RangeError(`no open file for target ${target}`);
    return file;
  }
}
