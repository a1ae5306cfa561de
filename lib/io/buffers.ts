// Buffers that callers hand in: checks before anything is done, and where their bytes are.
// Owner: none; the operation keeps the caller's view alive.
// Invariants: the kernel is given our own memory only; any other buffer is bounced, so a detached
// or transferred buffer can never be written by the kernel (it wrote into the new owner's memory
// when tried).
// Not here: the bounce itself (transfer.ts), the pool (ring/buffer_pool.ts).
import { invalidArgType, invalidArgValue, NephriteError } from '../base/errors.ts';

/** The caller's bytes; ArrayBufferView as node:fs takes it. */
export type BufferLike = NodeJS.ArrayBufferView;

/** `view` as bytes. @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_INVALID_STATE */
export function checkedBytes(view: unknown, name = 'buffer'): Uint8Array {
  const bytes = view instanceof Uint8Array ? view : otherView(view, name);
  const { buffer } = bytes;
  // A resizable buffer may shrink under the operation. A growable shared one never shrinks.
  if ((buffer as ArrayBuffer & { resizable?: boolean }).resizable === true) {
    const given = `${buffer.byteLength} bytes, resizable`;
    throw invalidArgValue(name, given, 'must not be a view of a resizable ArrayBuffer');
  }
  if (bytes.byteLength === 0 && isDetached(buffer)) throw detachedError(name);
  return bytes;
}

function otherView(view: unknown, name: string): Uint8Array {
  if (!ArrayBuffer.isView(view)) {
    throw invalidArgType(name, 'an instance of Buffer, TypedArray, or DataView', view);
  }
  if (isDetached(view.buffer)) throw detachedError(name);
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** Only reached for empty views: `detached` itself came with Node 22. */
function isDetached(buffer: ArrayBufferLike): boolean {
  if (buffer.byteLength !== 0 || !(buffer instanceof ArrayBuffer)) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

export function detachedError(name: string): NephriteError {
  return new NephriteError(
    'ERR_INVALID_STATE',
    `The ArrayBuffer of "${name}" is detached (it was transferred)`,
  );
}
