// buffers.alloc(): the public way to pool memory. Owner: none; the memory is the thread's pool's.
// Invariants: arguments are checked before anything is allocated.
// Not here: the pool and its bounds (ring/buffer_pool.ts), who uses such memory how (transfer.ts).
import { constants } from 'node:buffer';
import { invalidArgType, outOfRange } from '../../base/errors.ts';
import { currentThread } from '../current_thread.ts';

/** Pool memory starts on a page. */
const ALIGN_BYTES_MAX = 4096;

export interface AllocOptions {
  /** Bytes, a power of two up to 4096; default 4096. The memory is page aligned in any case. */
  align?: number;
}

function checkedBytes(bytes: unknown): number {
  if (typeof bytes !== 'number') throw invalidArgType('bytes', 'of type number', bytes);
  if (!Number.isInteger(bytes)) throw outOfRange('bytes', 'an integer', bytes);
  if (bytes < 0 || bytes > constants.MAX_LENGTH) {
    throw outOfRange('bytes', `>= 0 && <= ${constants.MAX_LENGTH}`, bytes);
  }
  return bytes;
}

function checkAlign(align: unknown): void {
  if (align === undefined) return;
  if (typeof align !== 'number') throw invalidArgType('options.align', 'of type number', align);
  const isPower = Number.isInteger(align) && align > 0 && (align & (align - 1)) === 0;
  if (!isPower || align > ALIGN_BYTES_MAX) {
    throw outOfRange('options.align', `a power of two >= 1 && <= ${ALIGN_BYTES_MAX}`, align);
  }
}

/** Memory for reads and writes without a copy. */
export const buffers = {
  /**
   * A zeroed Buffer of `bytes` that reads and writes use in place, fit for O_DIRECT. It belongs to
   * this thread and goes back to the system when it is collected; at most 1 GiB are in use at a
   * time.
   * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_BUFFER_POOL_EXHAUSTED
   */
  alloc(bytes: number, options?: AllocOptions): Buffer {
    const checked = checkedBytes(bytes);
    if (options !== undefined && (typeof options !== 'object' || options === null)) {
      throw invalidArgType('options', 'of type object', options);
    }
    checkAlign(options?.align);
    return checked === 0 ? Buffer.alloc(0) : currentThread().pool.allocUser(checked);
  },
} as const;
