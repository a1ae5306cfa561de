// Path resolver: from a caller's path to one that means only what a walk below a root has found.
// Owner: one request. Method: `/proc/self/fd/N` for an object that is held by its descriptor, or
// `/proc/self/fd/N/name` for one name that the operation does not follow.
// Invariants: which root a path is tried with is chosen by its text, what it means by the walk;
// whether it may be written is asked of the root where the walk has ended, not where it began.
// Not here: the walk (path_walk.ts), which use an opcode makes of a path (path_uses.ts).
import { constants } from 'node:fs';
import type { SystemError } from '../base/errors.ts';
import { type FileAuthority, fileDenied } from './authority.ts';
import type { CompositeScope } from './composite.ts';
import {
  descriptorPath,
  type HeldRoot,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_PATH,
  RootUnusableError,
} from './file_roots.ts';
import type { Lease, Request } from './path_operation.ts';
import { type PathUse, USE_LINK, USE_NAME, USE_NEW_NAME } from './path_uses.ts';
import { EscapeError, entryPath, type ParsedPath, PathWalk } from './path_walk.ts';

// A name that is a link when opened and none when read is being replaced: so many times.
const ATTEMPTS_MAX = 64;

/** Not granted; `message` says why. */
class Refusal extends Error {}

/** A path to be used as long as `lease` is held. */
export interface Resolved {
  readonly path: Buffer;
  readonly lease: Lease;
  readonly walk: PathWalk;
}

interface Choice {
  readonly root: HeldRoot;
  readonly names: string[];
  readonly depth: number;
}

export class PathResolver {
  readonly #scope: CompositeScope;
  readonly #authority: FileAuthority;
  readonly #roots: readonly HeldRoot[];
  /** As the caller made it. */
  readonly #request: Request;
  readonly #isWriting: boolean;

  constructor(
    scope: CompositeScope,
    authority: FileAuthority,
    roots: readonly HeldRoot[],
    request: Request,
    isWriting: boolean,
  ) {
    this.#scope = scope;
    this.#authority = authority;
    this.#roots = roots;
    this.#request = request;
    this.#isWriting = isWriting;
  }

  /** Roots that the absolute `names` are below, the most fitting first. */
  #choices(names: readonly string[]): Choice[] {
    const found: Choice[] = [];
    for (const root of this.#roots) {
      const below = root.below(names);
      if (below !== undefined) found.push({ root, ...below });
    }
    const isWritable = ({ root }: Choice): number => Number(this.#isWriting && root.granted.write);
    return found.sort(
      (left, right) => isWritable(right) - isWritable(left) || right.depth - left.depth,
    );
  }

  /**
   * Walks `parsed` with each root it may be below, until one does not refuse it, and calls `use`
   * with the result, whose descriptors are given up afterwards. @throws ERR_CAPABILITY_DENIED
   */
  async with<U>(
    parsed: ParsedPath,
    use: PathUse,
    take: (resolved: Resolved) => Promise<U>,
  ): Promise<U> {
    return this.#within(parsed, use, async (walk, name) => {
      const path = await this.#resolve(walk, use, name, parsed.hasSlash);
      return take({ path, lease: walk.lease, walk });
    });
  }

  /**
   * As with(), for opens: `open` gets the flags to open with. The last component is not followed by
   * the system; a link is walked on, so that what is opened is what was looked at, whoever replaces
   * names meanwhile.
   */
  async open<U>(
    parsed: ParsedPath,
    use: PathUse,
    flags: number,
    open: (resolved: Resolved, flags: number) => Promise<U>,
  ): Promise<U> {
    const isExclusive = (flags & constants.O_CREAT) !== 0 && (flags & constants.O_EXCL) !== 0;
    const isFinal = (flags & O_NOFOLLOW) !== 0 || isExclusive;
    return this.#within(parsed, use, async (walk) => {
      for (let attempt = 1; ; attempt++) {
        const { fd, name } = await walk.run();
        this.#checkWrite(walk);
        const { lease } = walk;
        if (name === undefined) return open({ path: entryPath(fd, '.'), lease, walk }, flags);
        // Such an open gives a link itself instead of failing: it is looked at first.
        if ((flags & O_PATH) !== 0 && !isFinal) {
          if (!(await walk.pin(name))) continue;
          const path = Buffer.from(descriptorPath((await walk.run()).fd));
          return open({ path, lease: walk.lease, walk }, flags);
        }
        try {
          const path = entryPath(fd, name);
          return await open({ path, lease, walk }, isFinal ? flags : flags | O_NOFOLLOW);
        } catch (error) {
          this.#scope.check();
          if (isFinal || !mayBeLink(error, flags)) throw error;
          if (await walk.follow(name)) continue;
          if (attempt === ATTEMPTS_MAX || (error as SystemError).code !== 'ELOOP') throw error;
          walk.again(name);
        }
      }
    });
  }

  async #within<U>(
    { names, hasSlash }: ParsedPath,
    use: PathUse,
    attempt: (walk: PathWalk, name: string | undefined) => Promise<U>,
  ): Promise<U> {
    const isName = use === USE_NAME || use === USE_NEW_NAME;
    let reason = 'not below a granted root';
    let cause: unknown;
    for (const { root, names: below } of this.#choices(names)) {
      const last = isName ? below.pop() : undefined;
      const choose = (target: readonly string[]): Choice | undefined => this.#choices(target)[0];
      const walk = new PathWalk(this.#scope, choose, root, below, isName || hasSlash);
      try {
        return await attempt(walk, last);
      } catch (error) {
        this.#scope.check();
        if (error instanceof EscapeError) reason = 'leads out of the granted root';
        else if (error instanceof Refusal) reason = error.message;
        else if (error instanceof RootUnusableError) {
          reason = error.message;
          cause = error.cause;
        } else throw error;
      } finally {
        walk.close();
      }
    }
    const options = cause === undefined ? undefined : { cause };
    throw fileDenied(this.#authority, this.#request, reason, options);
  }

  async #resolve(
    walk: PathWalk,
    use: PathUse,
    last: string | undefined,
    hasSlash: boolean,
  ): Promise<Buffer> {
    for (;;) {
      const { fd, name } = await walk.run();
      this.#checkWrite(walk);
      if (use === USE_NAME || use === USE_NEW_NAME) {
        // The root's own name is not below it; that it is there may be said.
        if (last === undefined && use === USE_NAME) throw new Refusal('is a granted root itself');
        if (last === '..' && walk.reached.length === 0) throw new EscapeError();
        return entryPath(fd, `${last ?? '.'}${hasSlash ? '/' : ''}`);
      }
      // With "/.": a call that follows no link would mean the one in /proc.
      if (name === undefined) return entryPath(fd, '.');
      if (use === USE_LINK) return entryPath(fd, name);
      if (await walk.pin(name)) return Buffer.from(descriptorPath((await walk.run()).fd));
    }
  }

  #checkWrite(walk: PathWalk): void {
    if (this.#isWriting && !walk.root.granted.write) {
      throw new Refusal(`${walk.root.granted.path} may only be read`);
    }
  }
}

/** Whether an open that does not follow failed because of a link. */
function mayBeLink(error: unknown, flags: number): boolean {
  const { code } = error as SystemError;
  return code === 'ELOOP' || (code === 'ENOTDIR' && (flags & O_DIRECTORY) !== 0);
}
