// node:fs/promises as a subject: the peer of --against node.
// Owner: the run. Invariants: no wrapper around an operation; block memory is page aligned.
// Not here: nephrite (subject_nephrite.ts).
import * as fsPromises from 'node:fs/promises';
import { invariant } from '../../base/assert.ts';
import type { FileSubject } from './subject.ts';

const WASM_PAGE_BYTES = 65_536;

/** Node's types declare the WebAssembly namespace without its values. */
interface WasmGlobal {
  readonly WebAssembly: {
    readonly Memory: new (shape: {
      initial: number;
      maximum: number;
    }) => { readonly buffer: ArrayBuffer };
  };
}

/** The subject that runs every operation through Node's own fs. */
export function createNodeSubject(): FileSubject {
  const poolThreads = process.env.UV_THREADPOOL_SIZE ?? '4';
  return {
    name: 'fs.promises',
    backend: 'libuv thread pool',
    why: `node:fs/promises of Node ${process.versions.node}, ${poolThreads} pool threads`,
    allocate: allocatePageAligned,
    open: (path, flags) => fsPromises.open(path, flags),
    readFile: (path) => fsPromises.readFile(path),
    writeFile: (path, data, options) => fsPromises.writeFile(path, data, options),
    unlink: (path) => fsPromises.unlink(path),
    stat: (path) => fsPromises.stat(path),
    systemCalls: () => null,
  };
}

/**
 * V8 places large buffers 16 bytes behind a page border, where O_DIRECT refuses them and copies are
 * slow. WebAssembly memory is the one kind that plain Node places on a page border, so the peer
 * gets the best memory there is for it.
 */
function allocatePageAligned(bytes: number): Uint8Array {
  const pages = Math.ceil(bytes / WASM_PAGE_BYTES);
  // SAFETY: every Node that we support has WebAssembly.Memory.
  const { WebAssembly } = globalThis as unknown as WasmGlobal;
  const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages });
  invariant(buffer.byteLength >= bytes, 'WebAssembly memory is as large as asked for');
  return new Uint8Array(buffer, 0, bytes);
}
