// Large reads and writes of a FileHandle as split transfers.
// Owner: none; the operation holds file and buffer. Invariant: each part is an ordinary transfer of
// its own range. Not here: the windows and the counting (../split_transfer.ts).
import type { IoThread } from '../io_thread.ts';
import type { OpenFile } from '../open_file.ts';
import { SplitTransfer } from '../split_transfer.ts';
import {
  advance,
  type Position,
  ReadOperation,
  type ReadResult,
  WriteOperation,
  type WriteResult,
} from '../transfer.ts';

/** Arguments as ReadOperation takes them, checked. */
export function splitRead<B>(
  thread: IoThread,
  file: OpenFile,
  fd: number,
  bytes: Uint8Array,
  offset: number,
  length: number,
  position: Position,
  buffer: B,
): SplitTransfer<ReadResult<B>> {
  const startPart = (done: number, partBytes: number): ReadOperation<B> => {
    const at = advance(position, done);
    const part = new ReadOperation(thread, file, fd, bytes, offset + done, partBytes, at, buffer);
    thread.submit(part);
    return part;
  };
  return new SplitTransfer(file, length, true, startPart, (bytesRead) => ({ bytesRead, buffer }));
}

/** Arguments as WriteOperation takes them, checked. */
export function splitWrite<B>(
  thread: IoThread,
  file: OpenFile,
  fd: number,
  bytes: Uint8Array,
  offset: number,
  length: number,
  position: Position,
  data: B,
): SplitTransfer<WriteResult<B>> {
  const startPart = (done: number, partBytes: number): WriteOperation<B> => {
    const at = advance(position, done);
    const part = new WriteOperation(thread, file, fd, bytes, offset + done, partBytes, at, data);
    thread.submit(part);
    return part;
  };
  return new SplitTransfer(file, length, false, startPart, (bytesWritten) => ({
    bytesWritten,
    buffer: data,
  }));
}
