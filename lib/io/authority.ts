// Authority over files: which files the code that runs now may name.
// Owner: module state of one thread, written by the scheduler at each dispatch of a restricted task
// (setFileAuthority() gives the previous one, to be put back after it). Undefined = no restriction:
// path operations then cost one variable read more.
// Invariants: an authority is captured when a call is made; the steps of the call that come later
// run under that one, whatever runs then. Only registered objects are authorities.
// Not here: roots and how they are enforced (root_authority.ts), grants (bus/capabilities.ts).
import { CapabilityError } from '../base/capability_error.ts';
import { invalidArgType } from '../base/errors.ts';
import type { IoThread } from './io_thread.ts';
import type { Cancellable } from './operation_options.ts';
import type { Decode, Request } from './path_operation.ts';

/** Carries out requests that name a path, or refuses them (ERR_CAPABILITY_DENIED). */
export interface FileAuthority {
  start<T>(thread: IoThread, request: Request, decode: Decode<T>): Cancellable<T>;
  /** What is granted, for errors: paths, with '(read)' after those that may only be read. */
  readonly allowed: readonly string[];
}

const genuine = new WeakSet<object>();
let current: FileAuthority | undefined;
let findAsync: (() => FileAuthority | undefined) | undefined;

/** Makes `authority` one that setFileAuthority() takes; for implementations only. */
export function registerFileAuthority<A extends FileAuthority>(authority: A): A {
  genuine.add(Object.freeze(authority));
  return authority;
}

/** The restriction of the code that runs now, or undefined. */
export function currentFileAuthority(): FileAuthority | undefined {
  return current ?? (findAsync === undefined ? undefined : findAsync());
}

/**
 * Sets the authority of what runs from now on; gives the previous one.
 * @throws ERR_INVALID_ARG_TYPE when it is not one of ours
 */
export function setFileAuthority(authority: FileAuthority | undefined): FileAuthority | undefined {
  if (authority !== undefined && !genuine.has(authority)) {
    throw invalidArgType('authority', 'a FileAuthority or undefined', authority);
  }
  const previous = current;
  current = authority;
  return previous;
}

/**
 * For bodies that run outside of a dispatch (async functions after an `await`): asked when nothing
 * was set. Undefined takes it away.
 */
export function setAsyncFileAuthority(find: (() => FileAuthority | undefined) | undefined): void {
  findAsync = find;
}

/** ERR_CAPABILITY_DENIED about one or two paths, shown as the caller wrote them. */
export function fileDenied(
  authority: FileAuthority,
  about: Pick<Request, 'syscall' | 'path' | 'path2'>,
  reason: string,
  options?: ErrorOptions,
): CapabilityError {
  const { syscall, path, path2 } = about;
  const names = path2 === undefined ? `'${path}'` : `'${path}' -> '${path2}'`;
  const { allowed } = authority;
  const granted = allowed.length === 0 ? 'no files' : allowed.join(', ');
  const what = `${syscall} ${names}: ${reason}. Granted: ${granted}`;
  const error = new CapabilityError('files', String(path), allowed, what, options);
  error.syscall = syscall;
  error.path = String(path);
  if (path2 !== undefined) error.dest = String(path2);
  return error;
}

/**
 * Method of what an open makes: called when its root may only be read. What a descriptor allows
 * without having been opened for writing (modes, owners, times) is refused then.
 */
export const CONFINE_TO_READING: unique symbol = Symbol('nephrite.confineToReading');

export interface Confinable {
  [CONFINE_TO_READING](): void;
}
