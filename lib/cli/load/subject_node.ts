// node:fs/promises as a subject: the peer of --against node.
// Owner: the run. Invariants: no wrapper around an operation; block memory is page aligned.
// Not here: nephrite (subject_nephrite.ts).
import * as fsPromises from 'node:fs/promises';
import type { FileSubject } from './subject.ts';

const WASM_PAGE_BYTES = 65_536;
const SLAB_BYTES = 16 * 1024 ** 2;
const ALIGN_BYTES = 4096;

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
    allocate: createAllocator(),
    open: (path, flags) => fsPromises.open(path, flags),
    readFile: (path) => fsPromises.readFile(path),
    writeFile: (path, data, options) => fsPromises.writeFile(path, data, options),
    unlink: (path) => fsPromises.unlink(path),
    stat: (path) => fsPromises.stat(path),
    systemCalls: () => null,
  };
}

/**
 * V8 places large buffers 16 bytes behind a page border, where O_DIRECT refuses them. WebAssembly
 * memory is the one kind that plain Node places on a page border. A memory may reserve gigabytes
 * of address space, so blocks share slabs.
 */
function createAllocator(): (bytes: number) => Uint8Array {
  // SAFETY: every Node that we support has WebAssembly.Memory.
  const { WebAssembly } = globalThis as unknown as WasmGlobal;
  let slab: ArrayBuffer | null = null;
  let usedBytes = 0;
  return (bytes) => {
    if (slab === null || usedBytes + bytes > slab.byteLength) {
      const pages = Math.ceil(Math.max(bytes, SLAB_BYTES) / WASM_PAGE_BYTES);
      slab = new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer;
      usedBytes = 0;
    }
    const block = new Uint8Array(slab, usedBytes, bytes);
    usedBytes += Math.ceil(bytes / ALIGN_BYTES) * ALIGN_BYTES;
    return block;
  };
}
