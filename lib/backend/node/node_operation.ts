// Node operation: one submission on its way through node:fs, from its entry until its completion
// was published.
// Owner: the backend, one record per slot, made at the slot's first use and kept. Invariants:
// complete() is called exactly once per use; buffer, path and path2 were checked (bind.ts) and stay
// until then, also if their arena was released meanwhile.
// Not here: what an opcode does (files.ts, paths.ts, attributes.ts, directories.ts).
import { errnoOf } from '../../base/errno.ts';
import { SubmissionEntry } from '../submission_entry.ts';

const NO_BYTES = new Uint8Array(0);
const NO_PATH = Buffer.alloc(0);

/**
 * The result for an error of node:fs: its `errno`. Errors without one are node's own refusals of
 * an argument (`ERR_OUT_OF_RANGE`, ...), for which the kernel would say EINVAL.
 */
export function resultOfError(error: NodeJS.ErrnoException): number {
  return error.errno !== undefined && error.errno < 0 ? error.errno : errnoOf('EINVAL');
}

/** The bits of a mode that the kernel looks at. node:fs ends the process for one above 2^31. */
export function modeOf(argument: number): number {
  return argument & 0o7777;
}

export class NodeOperation {
  readonly slot: number;
  readonly entry = new SubmissionEntry();
  /** The whole arena; `entry.bufferOffset` and `entry.bufferBytes` name the part. */
  buffer: Uint8Array = NO_BYTES;
  path: Buffer = NO_PATH;
  path2: Buffer = NO_PATH;
  /** From the entry until its completion is in the ring. */
  isInFlight = false;
  result = 0;
  resultFlags = 0;
  readonly #onDone: (operation: NodeOperation) => void;

  constructor(slot: number, onDone: (operation: NodeOperation) => void) {
    this.slot = slot;
    this.#onDone = onDone;
  }

  complete(result: number, flags = 0): void {
    this.result = result;
    this.resultFlags = flags;
    this.buffer = NO_BYTES;
    this.path = NO_PATH;
    this.path2 = NO_PATH;
    this.#onDone(this);
  }

  /** Callback for calls of node:fs that give no value. */
  readonly onVoid = (error: NodeJS.ErrnoException | null): void => {
    this.complete(error ? resultOfError(error) : 0);
  };

  /** Callback for calls of node:fs that give a number of bytes. */
  readonly onBytes = (error: NodeJS.ErrnoException | null, bytes: number): void => {
    this.complete(error ? resultOfError(error) : bytes);
  };
}
