// Exemplars: one settled object of each class of the hot path, kept alive for the thread's life.
// Why: optimised code depends weakly on the hidden classes of the objects it was made for. When a
// full collection finds no operation alive, it drops them and the code with them; the next 30,000
// reads cost 6.3 us instead of 3 (measured after a forced collection).
// Owner: one thread. Invariants: they hold no buffer of a user and no descriptor; none is ever
// submitted. Not here: anything that is not called for every operation.
import * as abi from '../abi/layout.ts';
import type { IoThread } from './io_thread.ts';
import { OpenFile } from './open_file.ts';
import { PathOperation } from './path_operation.ts';
import { FILE_POSITION, ReadOperation, WriteOperation } from './transfer.ts';

/** Makes them; the caller keeps the array. */
export function makeExemplars(thread: IoThread): unknown[] {
  const file = new OpenFile(-1, 0, false);
  const none = Buffer.alloc(0);
  const read = new ReadOperation(thread, file, -1, none, 0, 0, FILE_POSITION, none);
  const write = new WriteOperation(thread, file, -1, none, 0, 0, FILE_POSITION, none);
  const stat = new PathOperation(thread, { opcode: abi.OP_STAT, syscall: 'stat' }, () => none);
  // What `await` makes of each: a derived operation that waits.
  return [read, write, stat].flatMap((operation) => [operation, operation.then()]);
}
