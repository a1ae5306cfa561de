// Direct alignment: says which alignment an O_DIRECT transfer lacks, where the kernel says EINVAL.
// Owner: none, stateless. Invariants: an error is made only when the transfer is not aligned, as
// far as it can be known (the file position cannot); other EINVALs pass as they are.
// Not here: asking the kernel (transfer.ts).
import { NephriteError } from '../base/errors.ts';

// Where the kernel does not tell (before 6.1, or another file system): sectors for the memory, and
// what suits every disk for the file.
const MEMORY_ALIGN_BYTES = 512;
const OFFSET_ALIGN_BYTES = 4096;

export interface DirectRequest {
  readonly syscall: string;
  /** Of the buffer in its arena, which starts on a page; undefined: nobody knows where that is. */
  readonly address: number | undefined;
  readonly bytes: number;
  /** -1: the file position, not known here. */
  readonly position: number | bigint;
}

function isMultiple(value: number | bigint, align: number): boolean {
  return typeof value === 'bigint' ? value % BigInt(align) === 0n : value % align === 0;
}

/** Alignments as statx tells them, 0 = not told. Undefined: the request is aligned. */
export function alignmentError(
  request: DirectRequest,
  memoryAlign: number,
  offsetAlign: number,
): NephriteError | undefined {
  const memory = memoryAlign || MEMORY_ALIGN_BYTES;
  const file = offsetAlign || OFFSET_ALIGN_BYTES;
  const { syscall, address, bytes, position } = request;
  const wrong: string[] = [];
  if (address === undefined) wrong.push('buffer address (it takes a native backend)');
  else if (!isMultiple(address, memory)) wrong.push(`buffer address (${address} from a page)`);
  if (!isMultiple(bytes, file)) wrong.push(`length (${bytes})`);
  const isPositionKnown = position !== -1;
  if (isPositionKnown && !isMultiple(position, file)) wrong.push(`position (${position})`);
  if (wrong.length === 0 && isPositionKnown) return undefined;
  const what = wrong.length === 0 ? 'file position' : wrong.join(', ');
  return new NephriteError(
    'ERR_DIRECT_ALIGNMENT',
    `EINVAL: ${syscall}: O_DIRECT needs positions and lengths that are multiples of ${file} bytes ` +
      `and buffers at multiples of ${memory} bytes (buffers.alloc() gives such); not aligned: ${what}`,
  );
}
