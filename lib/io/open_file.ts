// OpenFile: what a FileHandle and its transfers know of one open descriptor together.
// Owner: the FileHandle. Invariants: a transfer of several entries holds the file until it settles,
// so that no entry of it is submitted after the close of the descriptor, whose number may be
// somebody else's by then (a write closed at once stopped after its first entry without that); `fd`
// is -1 as soon as closing has begun.
// Not here: ordering a close after what is in flight already (the poller does that).
import * as abi from '../abi/layout.ts';
import { CapabilityError } from '../base/capability_error.ts';
import type { SystemError } from '../base/errors.ts';
import { fulfilledOperation, ManualOperation, type Operation } from '../base/operation.ts';

export const KIND_UNKNOWN = 0;
const KIND_FIFO = 0o010000 >> 12;
const KIND_SOCKET = 0o140000 >> 12;
export const KIND_DIRECTORY = 0o040000 >> 12;
export const KIND_REGULAR = 0o100000 >> 12;

/** Node's error for a handle that was closed. */
export function closedError(syscall: string): SystemError {
  const error = new Error('file closed') as SystemError;
  error.code = 'EBADF';
  error.syscall = syscall;
  return error;
}

export class OpenFile {
  #fd: number;
  /** S_IFMT >> 12; KIND_UNKNOWN until an open or a stat has told. */
  kind: number;
  /** Opened with O_DIRECT. */
  readonly isDirect: boolean;
  /** Opened below a root that may only be read. */
  isConfinedToReading = false;
  #holdCount = 0;
  #idle: ManualOperation<void> | undefined = undefined;

  /** `flags` as a completed open gives them. */
  constructor(fd: number, flags: number, isDirect: boolean) {
    this.#fd = fd;
    this.kind = flags & abi.COMPLETION_KIND_MASK;
    this.isDirect = isDirect;
  }

  /** The descriptor, -1 once closing has begun. */
  get fd(): number {
    return this.#fd;
  }

  /** @throws EBADF when closed */
  checkedFd(syscall: string): number {
    if (this.#fd < 0) throw closedError(syscall);
    return this.#fd;
  }

  /** @throws ERR_CAPABILITY_DENIED when the file may only be read */
  checkMayChange(syscall: string): void {
    if (!this.isConfinedToReading) return;
    const what = `${syscall}: the file was opened below a root that may only be read`;
    throw new CapabilityError('files', syscall, 'read', what);
  }

  get isRegular(): boolean {
    return this.kind === KIND_REGULAR;
  }

  get isPipe(): boolean {
    return this.kind === KIND_FIFO || this.kind === KIND_SOCKET;
  }

  /** Whether a close cancels what is pending, since that might wait for ever. */
  get isInterruptible(): boolean {
    return this.kind !== KIND_UNKNOWN && this.kind !== KIND_REGULAR;
  }

  /** A transfer begins; release() must follow. */
  hold(): void {
    this.#holdCount++;
  }

  release(): void {
    this.#holdCount--;
    if (this.#holdCount === 0) this.#idle?.resolveWith();
  }

  /** Closing begins: no transfer starts any more. Gives the descriptor; once. */
  takeFd(): number {
    const fd = this.#fd;
    this.#fd = -1;
    return fd;
  }

  /** Settles when nothing holds the file. */
  idle(): Operation<void> {
    if (this.#holdCount === 0) return fulfilledOperation<void>(undefined);
    this.#idle ??= new ManualOperation<void>();
    return this.#idle;
  }

  get isHeld(): boolean {
    return this.#holdCount > 0;
  }

  /** Whether one that holds the file may submit further entries: its close waits for that. */
  get isUsable(): boolean {
    return this.#fd >= 0 || !this.isInterruptible;
  }
}
