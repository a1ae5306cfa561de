// Capabilities: what a task may do, as a value that is granted at start or spawn.
// Owner: none; a value never changes. Invariants: only values that this module made are taken for
// capabilities; they are inherited and only narrowed; what a caller gives is read once, so that
// no accessor can answer a check and the use after it differently; files are the directories that
// were there at the grant, whatever takes their names later.
// A guard rail, not a sandbox: a task can import node:fs (docs/capabilities.md).
// Not here: who asks (runtime_bus.ts), the border of files (io/root_authority.ts).
import { CapabilityError } from '../base/capability_error.ts';
import { invalidArgType, invalidArgValue, NephriteError, outOfRange } from '../base/errors.ts';
import type { FileAuthority } from '../io/authority.ts';
import { type GrantedRoot, grantRoot, isBelow, isStillThere } from '../io/file_roots.ts';
import { createFileAuthority } from '../io/root_authority.ts';
import { checkedAddress, coversAddress } from './addresses.ts';

/** A directory below which files may be named. */
export interface FileRoot {
  /** An existing directory; relative to the working directory when not absolute. */
  readonly path: string;
  /** Default false: nothing below it may be changed. */
  readonly write?: boolean;
}

/** What is wanted; absent fields are inherited. */
export interface CapabilityOptions {
  /** Start tasks. */
  readonly spawn?: boolean;
  /** Cancel tasks that are not one's own. */
  readonly cancelOthers?: boolean;
  /** Register and update engines, set priorities, resize. */
  readonly configure?: boolean;
  readonly lendWorkers?: boolean;
  readonly files?: 'all' | readonly FileRoot[];
  /** `host:port`, `127.0.0.1:*`, `unix:/path`; a host name is compared as a name. */
  readonly connect?: 'all' | readonly string[];
  readonly listen?: 'all' | readonly string[];
}

export interface Capabilities {
  readonly spawn: boolean;
  readonly cancelOthers: boolean;
  readonly configure: boolean;
  readonly lendWorkers: boolean;
  readonly files: 'all' | readonly GrantedRoot[];
  readonly connect: 'all' | readonly string[];
  readonly listen: 'all' | readonly string[];
}

export type FlagName = 'spawn' | 'cancelOthers' | 'configure' | 'lendWorkers';
export type AddressName = 'connect' | 'listen';

const FLAGS: readonly FlagName[] = ['spawn', 'cancelOthers', 'configure', 'lendWorkers'];
const FIELDS: ReadonlySet<string> = new Set([...FLAGS, 'files', 'connect', 'listen']);
const ROOT_FIELDS: ReadonlySet<string> = new Set(['path', 'write', 'givenPath', 'identity']);
// Each is looked through at every call.
const LIST_MAX = 256;

const genuine = new WeakSet<object>();

function make(values: Capabilities): Capabilities {
  const made = Object.freeze({ ...values });
  genuine.add(made);
  return made;
}

/** No restriction: what code outside of any task has. */
export const ALL_CAPABILITIES: Capabilities = make({
  spawn: true,
  cancelOthers: true,
  configure: true,
  lendWorkers: true,
  files: 'all',
  connect: 'all',
  listen: 'all',
});

export function isCapabilities(value: unknown): value is Capabilities {
  return typeof value === 'object' && value !== null && genuine.has(value);
}

/**
 * What `parent` has, without what `wanted` leaves out. `name` is what errors call it.
 * @throws ERR_INVALID_ARG_*; ERR_CAPABILITY_WIDER when anything wanted is more than `parent` has
 */
export function narrow(
  parent: Capabilities,
  wanted: CapabilityOptions | undefined,
  name = 'options.capabilities',
): Capabilities {
  if (!isCapabilities(parent)) throw invalidArgType('parent', 'Capabilities', parent);
  if (wanted === undefined || wanted === parent) return parent;
  const given: Record<string, unknown> = readOnce(name, wanted, FIELDS);
  return make({
    spawn: narrowFlag(`${name}.spawn`, parent.spawn, given.spawn),
    cancelOthers: narrowFlag(`${name}.cancelOthers`, parent.cancelOthers, given.cancelOthers),
    configure: narrowFlag(`${name}.configure`, parent.configure, given.configure),
    lendWorkers: narrowFlag(`${name}.lendWorkers`, parent.lendWorkers, given.lendWorkers),
    files: narrowFiles(`${name}.files`, parent.files, given.files),
    connect: narrowAddresses(`${name}.connect`, parent.connect, given.connect),
    listen: narrowAddresses(`${name}.listen`, parent.listen, given.listen),
  });
}

/**
 * A copy that no longer changes, for what several parents are narrowed to.
 * @throws ERR_INVALID_ARG_*, ERR_OUT_OF_RANGE; narrow() checks the rest
 */
export function copyWanted(
  wanted: CapabilityOptions,
  name = 'options.capabilities',
): CapabilityOptions {
  const copy = readOnce(name, wanted, FIELDS);
  for (const field of ['files', 'connect', 'listen']) {
    const list = copy[field];
    if (list === undefined || list === 'all') continue;
    const isRoots = field === 'files';
    copy[field] = readList(`${name}.${field}`, list).map((each, at) =>
      isRoots ? readOnce(`${name}.files[${at}]`, each, ROOT_FIELDS) : each,
    );
  }
  return copy;
}

/** A copy of the known fields. A misspelt one would be inherited instead of said: refused. */
function readOnce(
  name: string,
  value: unknown,
  fields: ReadonlySet<string>,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidArgType(name, 'of type object', value);
  }
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === 'string' && fields.has(key)) continue;
    throw invalidArgValue(`${name}.${String(key)}`, key, `is none of ${[...fields].join(', ')}`);
  }
  const copy: Record<string, unknown> = {};
  for (const field of fields) copy[field] = (value as Record<string, unknown>)[field];
  return copy;
}

/** A copy of an array's elements. */
function readList(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw invalidArgType(name, "'all' or an Array", value);
  const copy = Array.from({ length: Math.min(value.length, LIST_MAX + 1) }, (_, at) => value[at]);
  if (copy.length <= LIST_MAX) return copy;
  throw outOfRange(`${name}.length`, `<= ${LIST_MAX}`, value.length);
}

function wider(name: string, wanted: unknown, allowed: string): NephriteError {
  const what = `${name} asks for more than its parent has: ${String(wanted)}, of ${allowed}`;
  return new NephriteError('ERR_CAPABILITY_WIDER', what);
}

const showList = (list: readonly string[]): string =>
  list.length === 0 ? 'nothing' : list.join(', ');

function narrowFlag(name: string, parent: boolean, wanted: unknown): boolean {
  if (wanted === undefined) return parent;
  if (typeof wanted !== 'boolean') throw invalidArgType(name, 'of type boolean', wanted);
  if (wanted && !parent) throw wider(name, true, 'false');
  return wanted;
}

function narrowAddresses(
  name: string,
  parent: 'all' | readonly string[],
  wanted: unknown,
): 'all' | readonly string[] {
  if (wanted === undefined) return parent;
  if (wanted === 'all') {
    if (parent !== 'all') throw wider(name, 'all', showList(parent));
    return 'all';
  }
  const addresses = readList(name, wanted).map((each, at) =>
    checkedAddress(`${name}[${at}]`, each),
  );
  for (const [at, address] of addresses.entries()) {
    if (parent === 'all' || parent.some((pattern) => coversAddress(pattern, address))) continue;
    throw wider(`${name}[${at}]`, address, showList(parent));
  }
  return Object.freeze(addresses);
}

const showRoots = (roots: readonly GrantedRoot[]): string =>
  showList(roots.map(({ path, write }) => (write ? path : `${path} (read)`)));

function narrowFiles(
  name: string,
  parent: 'all' | readonly GrantedRoot[],
  wanted: unknown,
): 'all' | readonly GrantedRoot[] {
  if (wanted === undefined || wanted === parent) return parent;
  if (wanted === 'all') throw wider(name, 'all', showRoots(parent as readonly GrantedRoot[]));
  const roots = readList(name, wanted).map((each, at) =>
    narrowRoot(`${name}[${at}]`, parent, each),
  );
  return Object.freeze(roots);
}

function narrowRoot(
  name: string,
  parent: 'all' | readonly GrantedRoot[],
  wanted: unknown,
): GrantedRoot {
  const { path, write = false } = readOnce(name, wanted, ROOT_FIELDS);
  if (typeof path !== 'string') throw invalidArgType(`${name}.path`, 'of type string', path);
  if (path === '' || path.includes('\0')) {
    throw invalidArgValue(`${name}.path`, path, 'must be the path of a directory');
  }
  if (typeof write !== 'boolean') throw invalidArgType(`${name}.write`, 'of type boolean', write);
  let granted: GrantedRoot;
  try {
    granted = grantRoot(path, write);
  } catch (error) {
    // Whether something is there is not told of what the parent may not look at.
    if (parent !== 'all') throw wider(`${name}.path`, path, showRoots(parent));
    const { code } = error as NodeJS.ErrnoException;
    throw invalidArgValue(`${name}.path`, path, `must be an existing directory (${code})`);
  }
  if (parent === 'all') return granted;
  const around = parent.filter((root) => isBelow(granted.path, root.path) && isStillThere(root));
  if (around.length === 0) throw wider(`${name}.path`, path, showRoots(parent));
  if (write && !around.some((root) => root.write)) {
    throw wider(`${name}.write`, true, showRoots(around));
  }
  return granted;
}

/** @throws ERR_CAPABILITY_DENIED */
export function requireCapability(capabilities: Capabilities, name: FlagName): void {
  if (capabilities[name]) return;
  const what = `the capability '${name}' was not granted to the running task`;
  throw new CapabilityError(name, true, false, what);
}

/** `address` without '*'. @throws ERR_INVALID_ARG_*, ERR_CAPABILITY_DENIED */
export function requireAddress(
  capabilities: Capabilities,
  name: AddressName,
  address: string,
): void {
  const allowed = capabilities[name];
  if (allowed === 'all') return;
  const canonical = checkedAddress('address', address);
  if (allowed.some((pattern) => coversAddress(pattern, canonical))) return;
  const what = `${name} ${address}: not granted to the running task. Granted: ${showList(allowed)}`;
  throw new CapabilityError(name, address, allowed, what);
}

const authorities = new WeakMap<readonly GrantedRoot[], FileAuthority>();

/**
 * What the scheduler sets (setFileAuthority) while a task of these capabilities runs; undefined =
 * no restriction. The same for all that inherit their files, one per thread.
 */
export function fileAuthorityOf({ files }: Capabilities): FileAuthority | undefined {
  if (files === 'all') return undefined;
  let authority = authorities.get(files);
  if (authority === undefined) {
    authority = createFileAuthority(files);
    authorities.set(files, authority);
  }
  return authority;
}

/**
 * Capabilities that another thread of the runtime has sent (they are plain data and can be cloned).
 * Nothing is checked: only for what the runtime itself has packed.
 */
export function adoptCapabilities(data: Capabilities): Capabilities {
  const frozen = <T>(list: 'all' | readonly T[]): 'all' | readonly T[] =>
    list === 'all' ? list : Object.freeze([...list]);
  const files =
    data.files === 'all' ? data.files : frozen(data.files.map(Object.freeze) as GrantedRoot[]);
  return make({ ...data, files, connect: frozen(data.connect), listen: frozen(data.listen) });
}
