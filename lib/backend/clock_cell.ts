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
