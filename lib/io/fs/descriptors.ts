// Descriptors that an operation of several steps opens for itself.
// Owner: the operation. Invariants: closed on every path, also after a cancellation; the first
// failure wins; an open that meets EMFILE waits in the thread's open gate for another one's close
// and holds no descriptor meanwhile, unless its caller does.
// Not here: FileHandles, which their users close.
import * as abi from '../../abi/layout.ts';
import type { SystemError } from '../../base/errors.ts';
import { ManualOperation } from '../../base/operation.ts';
import type { CompositeScope } from '../composite.ts';
import type { IoThread } from '../io_thread.ts';
import type { GateWaiter, OpenGate } from '../open_gate.ts';
import { type Request, startVoid } from '../path_operation.ts';
import { gateOf } from './whole_file_arguments.ts';

/** A place in the open gate, as a step: settles when a descriptor was given back. */
class GateTurn extends ManualOperation<void> implements GateWaiter {
  readonly #gate: OpenGate;

  constructor(gate: OpenGate) {
    super();
    this.#gate = gate;
  }

  retryOpen(): void {
    this.resolveWith();
  }

  cancelWith(error: Error): void {
    if (this.isSettled) return;
    this.#gate.remove(this);
    this.rejectWith(error);
  }
}

export function isOutOfDescriptors(error: unknown): boolean {
  const { code } = error as SystemError;
  return code === 'EMFILE' || code === 'ENFILE';
}

/** Waits for a descriptor to be given back. False: there is nobody to wait for. */
export async function waitForDescriptor(scope: CompositeScope): Promise<boolean> {
  const gate = gateOf(scope.thread);
  const turn = new GateTurn(gate);
  scope.check();
  if (!gate.wait(turn)) return false;
  await scope.run(() => turn);
  return true;
}

/** Counts a descriptor that was opened; closeDescriptor() must follow. */
export function adoptDescriptor(thread: IoThread, fd: number): number {
  gateOf(thread).opened();
  return fd;
}

/** Opens at once or fails; closeDescriptor() must follow. */
export async function openDescriptor(scope: CompositeScope, request: Request): Promise<number> {
  return adoptDescriptor(scope.thread, await scope.request(request));
}

/** Never cancelled; a failure is thrown. */
export async function closeDescriptor(thread: IoThread, fd: number): Promise<void> {
  try {
    await startVoid(thread, { opcode: abi.OP_CLOSE, syscall: 'close', fd });
  } finally {
    gateOf(thread).closed();
  }
}

/**
 * Opens `path` for `use` and closes it. `syscall` names the open in errors; `mode` is that of a
 * file that the open makes.
 */
export async function withDescriptor<T>(
  scope: CompositeScope,
  path: string | Buffer,
  flags: number,
  syscall: string,
  use: (fd: number) => Promise<T>,
  mode = 0,
): Promise<T> {
  const request = { opcode: abi.OP_OPEN, syscall, path, argument0: flags, argument1: mode };
  let fd = -1;
  while (fd < 0) {
    try {
      fd = await openDescriptor(scope, request);
    } catch (error) {
      if (!isOutOfDescriptors(error) || !(await waitForDescriptor(scope))) throw error;
    }
  }
  let value: T;
  try {
    value = await use(fd);
  } catch (error) {
    await closeDescriptor(scope.thread, fd).catch(() => {});
    throw error;
  }
  await closeDescriptor(scope.thread, fd);
  return value;
}
