// The master clock's cell: 8 bytes of shared memory that every poller of the process moves forward.
// Owner: whichever thread first opened a poller; workers started later inherit the same cell
// through environment data. Invariants: the value (nanoseconds, binary64) never decreases; the
// encoding is argued in native/base/clock.h.
// Not here: reading it as a clock (lib/time/master_clock.ts).
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

// A cache line, so that the cell shares it with nothing.
const CELL_BYTES = 64;
// The encoding's version, so that two copies of the package in one process can share it.
const KEY = 'nephrite:clock:1';
let cell: Float64Array | undefined;

/** This thread's view of the process's clock cell. First call allocates; importing does not. */
export function clockCell(): Float64Array {
  if (cell === undefined) {
    const inherited = getEnvironmentData(KEY);
    const memory =
      inherited instanceof SharedArrayBuffer ? inherited : new SharedArrayBuffer(CELL_BYTES);
    if (memory !== inherited) setEnvironmentData(KEY, memory as unknown as string);
    cell = new Float64Array(memory);
  }
  return cell;
}

let bits: BigInt64Array<SharedArrayBuffer> | undefined;
const scratchDouble = new Float64Array(1);
const scratchBits = new BigInt64Array(scratchDouble.buffer);

/**
 * Moves the cell to the present, for pollers written in TypeScript; native ones do it in C++. The
 * maximum wins, by compare-exchange on the bit pattern as in native/base/clock.h.
 */
export function advanceClockCell(): void {
  bits ??= new BigInt64Array(clockCell().buffer as SharedArrayBuffer);
  // uv_hrtime reads CLOCK_MONOTONIC on Linux: the epoch of the native side.
  scratchDouble[0] = Number(process.hrtime.bigint());
  const next = scratchBits[0];
  for (let current = Atomics.load(bits, 0); current < next; ) {
    const seen = Atomics.compareExchange(bits, 0, current, next);
    if (seen === current) return;
    current = seen;
  }
}
