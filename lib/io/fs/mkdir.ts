// mkdir, rmdir. Owner: none. Invariants: `recursive` gives the first directory it made, as Node
// does, and ends also where a directory can never be made (/proc), where Node's loops for ever.
// Not here: removing trees (rm.ts), mkdtemp (mkdtemp.ts).
import { constants } from 'node:fs';
import * as abi from '../../abi/layout.ts';
import { errnoOf } from '../../base/errno.ts';
import {
  invalidArgType,
  invalidArgValue,
  type SystemError,
  systemError,
} from '../../base/errors.ts';
import type { Operation } from '../../base/operation.ts';
import type { CompositeScope } from '../composite.ts';
import type { OperationOptions } from '../operation_options.ts';
import { checkedPath, type PathLike } from '../path_bytes.ts';
import { checkedMode } from './open.ts';
import { attempt, callComposite, callVoid } from './path_call.ts';
import { latin1Path } from './path_encoding.ts';
import { decodeStats } from './stats.ts';

const { S_IFDIR, S_IFMT } = constants;
// Nothing that is in the way explains these.
const FINAL_CODES = new Set([
  'EACCES',
  'ENOSPC',
  'ENOTDIR',
  'EPERM',
  'ENOENT',
  'ERR_CAPABILITY_DENIED',
]);

export interface MkdirOptions extends OperationOptions {
  /** Makes missing parents, and does not mind if the directory is there; default false. */
  recursive?: boolean;
  /** Default 0o777. */
  mode?: number | string | null;
}

async function isDirectory(scope: CompositeScope, path: Buffer): Promise<boolean> {
  const request = { opcode: abi.OP_STAT, syscall: 'mkdir', path };
  const { mode } = await scope.decoded(request, (_result, _flags, source) => decodeStats(source));
  return (mode & S_IFMT) === S_IFDIR;
}

/** As mkdir -p. Gives the first directory made, undefined when all were there. */
async function makeMissing(
  scope: CompositeScope,
  path: string | Buffer,
  mode: number,
): Promise<string | undefined> {
  // Paths still to make, the outermost last; latin1, so that cutting at "/" cuts bytes.
  const missing = [latin1Path(path)];
  let first: string | undefined;
  let isGoingUp = true;
  for (let next = missing.at(-1); next !== undefined; next = missing.at(-1)) {
    const bytes = Buffer.from(next, 'latin1');
    try {
      const request = { opcode: abi.OP_MKDIR, syscall: 'mkdir', path: bytes, argument1: mode };
      await scope.request(request);
      first ??= next;
    } catch (error) {
      const { code } = error as SystemError;
      const parent = next.slice(0, Math.max(0, next.lastIndexOf('/')));
      // Its parent was made or found: this one cannot be made. Or there is no parent to make.
      if (code === 'ENOENT' && isGoingUp && parent !== '') {
        missing.push(parent);
        continue;
      }
      if (FINAL_CODES.has(code)) throw error;
      await checkExisting(scope, bytes, error, missing.length > 1);
    }
    isGoingUp = false;
    missing.pop();
  }
  return first === undefined ? undefined : Buffer.from(first, 'latin1').toString();
}

// What is in the way must be a directory.
async function checkExisting(
  scope: CompositeScope,
  path: Buffer,
  error: unknown,
  isParent: boolean,
): Promise<void> {
  let reason = error;
  try {
    if (await isDirectory(scope, path)) return;
  } catch (statError) {
    scope.check();
    reason = statError;
  }
  const isTaken = (error as SystemError).code === 'EEXIST';
  throw isParent && isTaken ? systemError(errnoOf('ENOTDIR'), 'mkdir', path) : reason;
}

/**
 * Makes a directory. `recursive` makes missing parents too and resolves with the first one made
 * (undefined when nothing had to be made).
 */
export function mkdir(
  path: PathLike,
  options: MkdirOptions & { recursive: true },
): Operation<string | undefined>;
export function mkdir(
  path: PathLike,
  options?: number | string | (MkdirOptions & { recursive?: false | undefined }) | null,
): Operation<void>;
export function mkdir(
  path: PathLike,
  options?: number | string | MkdirOptions | null,
): Operation<string | undefined>;
export function mkdir(
  path: PathLike,
  options?: number | string | MkdirOptions | null,
): Operation<string | undefined> | Operation<void> {
  return attempt<string | undefined>(() => {
    const isMode = typeof options === 'number' || typeof options === 'string';
    const given: MkdirOptions = isMode ? { mode: options } : (options ?? {});
    const { recursive = false } = given;
    const checked = checkedPath(path);
    if (typeof recursive !== 'boolean') {
      throw invalidArgType('options.recursive', 'of type boolean', recursive);
    }
    const mode = checkedMode(given.mode, 0o777);
    if (recursive) return callComposite((scope) => makeMissing(scope, checked, mode), given);
    const request = { opcode: abi.OP_MKDIR, syscall: 'mkdir', path: checked, argument1: mode };
    return callVoid(request, given) as Operation<undefined>;
  });
}

export interface RmdirOptions extends OperationOptions {
  /** Gone, as in Node 26: use rm(path, { recursive: true }). */
  recursive?: false;
}

/** Removes an empty directory. `recursive` is refused (ERR_INVALID_ARG_VALUE): use rm(). */
export function rmdir(path: PathLike, options?: RmdirOptions): Operation<void> {
  return attempt(() => {
    const checked = checkedPath(path);
    const recursive: unknown = options?.recursive;
    if (recursive !== undefined && typeof recursive !== 'boolean') {
      throw invalidArgType('options.recursive', 'of type boolean', recursive);
    }
    if (recursive === true) {
      const reason = 'is no longer supported; use rm(path, { recursive: true })';
      throw invalidArgValue('options.recursive', recursive, reason);
    }
    const request = { opcode: abi.OP_UNLINK, syscall: 'rmdir', path: checked, argument0: 1 };
    return callVoid(request, options);
  });
}
