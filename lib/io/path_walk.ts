// Path walk: from a root's descriptor to what a path means, one component at a time.
// Owner: one operation. Method: every directory on the way is opened by O_PATH and O_NOFOLLOW
// through the descriptor of the one before (/proc/self/fd/N/name); a link is read and its target
// walked the same way, an absolute one only where it leads below a root again.
// Invariants: no name but a single component without ".." ever reaches the kernel behind a
// descriptor, so nothing above a root can be meant; ".." goes back to where the walk came from; at
// most two descriptors are held, whatever the depth.
// Why not openat2(2): Node has no such call, and the walk is the same on every backend.
// Not here: what the path is for (root_authority.ts).
import * as abi from '../abi/layout.ts';
import { errnoOf } from '../base/errno.ts';
import { type SystemError, systemError } from '../base/errors.ts';
import type { CompositeScope } from './composite.ts';
import {
  componentsOf,
  descriptorPath,
  type HeldRoot,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_PATH,
} from './file_roots.ts';
import type { IoThread } from './io_thread.ts';
import { closeQuietly, type Decode, type Lease, startUnguarded } from './path_operation.ts';

// As the kernel has it.
const LINKS_MAX = 40;
// Components entered by one walk; every ".." enters those above it again.
const STEPS_MAX = 20_000;
// A component that is a link when opened and none when read is being replaced: so many times.
const ATTEMPTS_MAX = 16;

const KIND_LINK = 0o120000 >> 12;
const KIND_SHIFT = 12;

/** The path leads out of its root. */
export class EscapeError extends Error {}

/** A caller's path, taken apart. latin1: one character per byte. */
export interface ParsedPath {
  /** Absolute; "." and ".." are in it, empty components are not. */
  readonly names: readonly string[];
  /** "x/": x must be a directory, and a link is followed. */
  readonly hasSlash: boolean;
}

/** Copies the bytes: the caller may change his Buffer, or what his class makes of it. */
function latin1Of(path: string | Buffer): string {
  const bytes = typeof path === 'string' ? Buffer.from(path) : Buffer.from(new Uint8Array(path));
  return bytes.toString('latin1');
}

export function parsePath(path: string | Buffer): ParsedPath {
  const latin1 = latin1Of(path);
  const names = componentsOf(latin1);
  const hasSlash = latin1.endsWith('/');
  if (latin1.startsWith('/')) return { names, hasSlash };
  // The working directory has no links, so going up in it is going back in its name. A last ".." or
  // "." stays what it is: neither is a name that could be removed.
  const base = componentsOf(latin1Of(process.cwd()));
  let at = 0;
  for (; at < names.length - 1 && (names[at] === '.' || names[at] === '..'); at++) {
    if (names[at] === '..') base.pop();
  }
  return { names: [...base, ...names.slice(at)], hasSlash };
}

/** Where a walk ended: at a name in `fd`, or at the directory `fd` itself. */
export interface WalkEnd {
  readonly fd: number;
  readonly name: string | undefined;
}

const toFd: Decode<{ fd: number; kind: number }> = (fd, flags) => ({
  fd,
  kind: flags & abi.COMPLETION_KIND_MASK,
});

const toKind: Decode<number> = (_result, _flags, { thread, statOffset }) => {
  const word = thread.memory.words[(statOffset + (abi.STAT_MODE_OFFSET & ~3)) / 4];
  return ((word >>> ((abi.STAT_MODE_OFFSET & 3) * 8)) & 0xffff) >> KIND_SHIFT;
};

const toText: Decode<string> = (bytes, _flags, { output }) =>
  output?.toString('latin1', 0, bytes) ?? '';

const codeOf = (error: unknown): string => (error as SystemError).code;

/**
 * A descriptor that the walk and entries in flight share; closed when the last has ended: its
 * number may be a stranger's afterwards.
 */
class WalkDescriptor implements Lease {
  readonly fd: number;
  readonly #thread: IoThread;
  #holdCount = 1;

  constructor(thread: IoThread, fd: number) {
    this.#thread = thread;
    this.fd = fd;
  }

  hold(): void {
    this.#holdCount++;
  }

  release(): void {
    this.#holdCount--;
    if (this.#holdCount === 0) closeQuietly(this.#thread, this.fd);
  }
}

/** Chooses the root of an absolute link's target; undefined: it is below none. */
export type ChooseRoot = (
  names: readonly string[],
) => { readonly root: HeldRoot; readonly names: string[] } | undefined;

export class PathWalk {
  readonly #scope: CompositeScope;
  readonly #choose: ChooseRoot;
  #root: HeldRoot;
  /** The directory reached, when it is not the root. */
  #top: WalkDescriptor | undefined = undefined;
  /** Components of the directory reached, below the root. */
  #reached: string[] = [];
  /** Components to come, the next one last. */
  #pending: string[];
  #wantsDirectory: boolean;
  #linkCount = 0;
  #stepCount = 0;

  constructor(
    scope: CompositeScope,
    choose: ChooseRoot,
    root: HeldRoot,
    names: readonly string[],
    wantsDirectory: boolean,
  ) {
    this.#scope = scope;
    this.#choose = choose;
    this.#root = root;
    this.#pending = [...names].reverse();
    this.#wantsDirectory = wantsDirectory;
  }

  get root(): HeldRoot {
    return this.#root;
  }

  /** The directory reached, below the root. */
  get reached(): readonly string[] {
    return this.#reached;
  }

  /** What must be held by entries whose paths go through the descriptor reached. */
  get lease(): Lease {
    return this.#top ?? this.#root;
  }

  /** Gives the descriptor up; entries that hold it still may use it. */
  close(): void {
    this.#top?.release();
    this.#top = undefined;
  }

  #fd(): number {
    return this.#top === undefined ? this.#root.descriptor() : this.#top.fd;
  }

  #reach(fd: number, name: string): void {
    this.close();
    this.#top = new WalkDescriptor(this.#scope.thread, fd);
    this.#reached.push(name);
  }

  /** The component is looked at again by the next run(). */
  again(name: string): void {
    this.#pending.push(name);
  }

  /** Walks to the last component, which is not looked at. May be called again after follow(). */
  async run(): Promise<WalkEnd> {
    for (;;) {
      const name = this.#pending.pop();
      if (name === undefined) return { fd: this.#fd(), name: undefined };
      if (++this.#stepCount > STEPS_MAX) throw systemError(errnoOf('ENAMETOOLONG'), 'open');
      if (name === '.') continue;
      if (name === '..') this.#up();
      else if (this.#pending.length > 0 || this.#wantsDirectory) await this.#enter(name);
      else return { fd: this.#fd(), name };
    }
  }

  #up(): void {
    if (this.#reached.length === 0) {
      // Above "/" is "/".
      if (this.#root.granted.path === '/') return;
      throw new EscapeError();
    }
    const above = this.#reached.slice(0, -1);
    if (this.#pending.length === 0) this.#wantsDirectory = true;
    this.#moveTo(this.#root, above);
  }

  /** Starts at the root again, with `names` before what is to come. */
  #moveTo(root: HeldRoot, names: readonly string[]): void {
    this.close();
    this.#root = root;
    this.#reached = [];
    for (let index = names.length - 1; index >= 0; index--) this.#pending.push(names[index]);
  }

  async #enter(name: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { fd } = await this.#open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
        this.#reach(fd, name);
        return;
      } catch (error) {
        this.#scope.check();
        // What a link gives here, and what is no directory gives too.
        if (codeOf(error) !== 'ENOTDIR' && codeOf(error) !== 'ELOOP') throw error;
        if (await this.follow(name)) return;
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  /**
   * Puts the target of the link `name` in its place. False: it is no link (any more); then nothing
   * has changed.
   */
  async follow(name: string): Promise<boolean> {
    let target: string;
    try {
      target = await this.#readLink(name);
    } catch (error) {
      this.#scope.check();
      if (codeOf(error) === 'EINVAL') return false;
      throw error;
    }
    if (++this.#linkCount > LINKS_MAX) throw systemError(errnoOf('ELOOP'), 'open');
    if (target === '') throw systemError(errnoOf('ENOENT'), 'open');
    if (target.endsWith('/') && this.#pending.length === 0) this.#wantsDirectory = true;
    const names = componentsOf(target);
    if (target.startsWith('/')) {
      const found = this.#choose(names);
      if (found === undefined) throw new EscapeError();
      this.#moveTo(found.root, found.names);
    } else {
      for (let index = names.length - 1; index >= 0; index--) this.#pending.push(names[index]);
    }
    return true;
  }

  /**
   * Opens the last component itself, whatever it is, and makes it what was reached. False: it was a
   * link and has been followed; run() goes on.
   */
  async pin(name: string): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const opened = await this.#open(name, O_PATH | O_NOFOLLOW);
      const { fd } = opened;
      try {
        const kind = opened.kind !== 0 ? opened.kind : await this.#kindOf(fd);
        if (kind !== KIND_LINK) {
          this.#reach(fd, name);
          return true;
        }
      } catch (error) {
        closeQuietly(this.#scope.thread, fd);
        throw error;
      }
      closeQuietly(this.#scope.thread, fd);
      if (await this.follow(name)) return false;
      if (attempt === ATTEMPTS_MAX) throw systemError(errnoOf('ELOOP'), 'open');
    }
  }

  #open(name: string, argument0: number): PromiseLike<{ fd: number; kind: number }> {
    const path = entryPath(this.#fd(), name);
    const request = { opcode: abi.OP_OPEN, syscall: 'open', path, argument0 };
    return this.#scope.run(() => startUnguarded(this.#scope.thread, request, toFd));
  }

  #readLink(name: string): PromiseLike<string> {
    const path = entryPath(this.#fd(), name);
    const outputBytes = abi.PATH_BYTES_MAX;
    const request = { opcode: abi.OP_READLINK, syscall: 'readlink', path, outputBytes };
    return this.#scope.run(() => startUnguarded(this.#scope.thread, request, toText));
  }

  #kindOf(fd: number): PromiseLike<number> {
    const request = { opcode: abi.OP_STAT, syscall: 'fstat', fd };
    return this.#scope.run(() => startUnguarded(this.#scope.thread, request, toKind));
  }
}

/** The path of one component in the directory of a descriptor. `name` is latin1. */
export function entryPath(fd: number, name: string): Buffer {
  return Buffer.from(`${descriptorPath(fd)}/${name}`, 'latin1');
}
