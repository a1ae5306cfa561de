// File roots: directories below which a restricted task may name files.
// Owner: GrantedRoot is plain data (it may go to another thread); HeldRoot belongs to one thread
// and keeps one O_PATH descriptor, opened at first use and closed when the authority is collected.
// Invariants: a root is a directory, not a name: device and inode are noted at the grant and
// compared when it is opened, so that what was put at its place meanwhile is not taken for it.
// Strings choose which root is tried, they never grant anything.
// Not here: walking below a root (path_walk.ts), who is granted what (bus/capabilities.ts).
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { resolve } from 'node:path';
import type { Lease } from './path_operation.ts';

/** Linux; node:fs does not name it. */
export const O_PATH = 0o10000000;
// Windows has neither.
export const O_DIRECTORY = constants.O_DIRECTORY ?? 0;
export const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0;

const PROC_SUPER_MAGIC = 0x9fa0;
const DESCRIPTOR_FOLDER = '/proc/self/fd';

/** A root as it was granted. */
export interface GrantedRoot {
  /** Absolute, without links, as it was at the grant. */
  readonly path: string;
  /** Absolute, as it was asked for: another way to write paths below it. */
  readonly givenPath: string;
  readonly write: boolean;
  /** `device:inode`. */
  readonly identity: string;
}

/** The path that leads to an open descriptor, for this process. */
export function descriptorPath(fd: number): string {
  return `${DESCRIPTOR_FOLDER}/${fd}`;
}

const identityOf = ({ dev, ino }: { dev: bigint; ino: bigint }): string => `${dev}:${ino}`;

/** Grants the directory at `path`. @throws the system's error, ENOTDIR included */
export function grantRoot(path: string, write: boolean): GrantedRoot {
  const givenPath = resolve(path);
  if (process.platform !== 'linux') {
    const real = realpathSync.native(givenPath);
    const identity = identityOf(statSync(`${real}/.`, { bigint: true }));
    return Object.freeze({ path: real, givenPath, write, identity });
  }
  // Path and identity of one descriptor: of the same directory, whatever happens to the names.
  const fd = openSync(givenPath, O_PATH | O_DIRECTORY);
  try {
    const identity = identityOf(fstatSync(fd, { bigint: true }));
    return Object.freeze({ path: pathOf(fd, givenPath), givenPath, write, identity });
  } finally {
    closeSync(fd);
  }
}

function pathOf(fd: number, path: string): string {
  try {
    return readlinkSync(descriptorPath(fd));
  } catch {
    return realpathSync.native(path);
  }
}

/** Whether a path without links is `root` or below it. */
export function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

/** Whether the directory that was granted still has its name. */
export function isStillThere({ path, identity }: GrantedRoot): boolean {
  try {
    return identityOf(statSync(path, { bigint: true })) === identity;
  } catch {
    return false;
  }
}

let isEnforceable: boolean | undefined;

/** Whether roots can be enforced here: it takes Linux and a /proc. */
function canEnforce(): boolean {
  isEnforceable ??= process.platform === 'linux' && isProc();
  return isEnforceable;
}

function isProc(): boolean {
  try {
    return statfsSync(DESCRIPTOR_FOLDER).type === PROC_SUPER_MAGIC;
  } catch {
    return false;
  }
}

/** Path components as latin1, one character per byte; empty ones are left out. */
export function componentsOf(latin1: string): string[] {
  return latin1.split('/').filter((name) => name !== '');
}

const latin1Components = (path: string): string[] =>
  componentsOf(Buffer.from(path).toString('latin1'));

/** How many of `names` lead to `prefix`, "." not counted as one to compare; -1: not below it. */
function lengthOfPrefix(names: readonly string[], prefix: readonly string[]): number {
  let at = 0;
  for (const wanted of prefix) {
    while (names[at] === '.') at++;
    if (names[at++] !== wanted) return -1;
  }
  return at;
}

const descriptors = new FinalizationRegistry<{ fd: number }>(({ fd }) => {
  if (fd >= 0) closeSync(fd);
});

/** Why a root cannot be used; becomes the cause of the refusal. */
export class RootUnusableError extends Error {}

export class HeldRoot implements Lease {
  readonly granted: GrantedRoot;
  readonly #prefixes: readonly (readonly string[])[];
  readonly #held = { fd: -1 };

  constructor(granted: GrantedRoot) {
    this.granted = granted;
    this.#prefixes = [latin1Components(granted.path), latin1Components(granted.givenPath)];
    descriptors.register(this, this.#held);
  }

  /** Components below the root that absolute `names` leave, or undefined; and how many it took. */
  below(
    names: readonly string[],
  ): { readonly names: string[]; readonly depth: number } | undefined {
    let depth = -1;
    for (const prefix of this.#prefixes) depth = Math.max(depth, lengthOfPrefix(names, prefix));
    return depth < 0 ? undefined : { names: names.slice(depth), depth };
  }

  /** Of Lease: an entry that refers to the root keeps it from being collected, and so open. */
  hold(): void {}
  release(): void {}

  /** The root's descriptor. @throws RootUnusableError */
  descriptor(): number {
    if (this.#held.fd < 0) this.#held.fd = this.#open();
    return this.#held.fd;
  }

  #open(): number {
    if (!canEnforce()) {
      throw new RootUnusableError('roots can be enforced on Linux with a /proc only');
    }
    const { path, identity } = this.granted;
    let fd: number;
    try {
      fd = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      throw new RootUnusableError(`the root ${path} cannot be opened`, { cause: error });
    }
    if (identityOf(fstatSync(fd, { bigint: true })) === identity) return fd;
    closeSync(fd);
    throw new RootUnusableError(`${path} is not the directory that was granted any more`);
  }
}
