// Root authority: path operations below granted roots, and no others.
// Owner: one thread. Method: each path is walked to a descriptor (path_resolver.ts), and the
// operation itself then runs unchanged through it, so that results and errors are the system's own
// on every backend.
// Invariants: an opcode that path_uses.ts does not know is refused; the descriptors that an entry's
// paths lead through stay open until the entry has ended, also when its operation was given up;
// errors show the caller's paths, never ours.
// Not here: which roots (bus/capabilities.ts), whole files (fs/guarded_whole_file.ts).
import { constants } from 'node:fs';
import * as abi from '../abi/layout.ts';
import { invariant } from '../base/assert.ts';
import { errnoOf } from '../base/errno.ts';
import type { SystemError } from '../base/errors.ts';
import {
  CONFINE_TO_READING,
  type Confinable,
  type FileAuthority,
  fileDenied,
  registerFileAuthority,
} from './authority.ts';
import { CompositeOperation, type CompositeScope } from './composite.ts';
import { type GrantedRoot, HeldRoot } from './file_roots.ts';
import type { IoThread } from './io_thread.ts';
import type { Cancellable } from './operation_options.ts';
import { pathBytes } from './path_bytes.ts';
import {
  type Decode,
  type Lease,
  type Request,
  requestError,
  startUnguarded,
} from './path_operation.ts';
import { PathResolver } from './path_resolver.ts';
import {
  type PathUse,
  pathUses,
  USE_NEW_NAME,
  USE_OPEN,
  USE_REALPATH,
  USE_TEXT,
} from './path_uses.ts';
import { type ParsedPath, type PathWalk, parsePath } from './path_walk.ts';

/** What two paths lead through. */
class LeasePair implements Lease {
  readonly #first: Lease;
  readonly #second: Lease;

  constructor(first: Lease, second: Lease) {
    this.#first = first;
    this.#second = second;
  }

  hold(): void {
    this.#first.hold();
    this.#second.hold();
  }

  release(): void {
    this.#first.release();
    this.#second.release();
  }
}

class RootAuthority implements FileAuthority {
  readonly allowed: readonly string[];
  readonly #roots: readonly HeldRoot[];

  constructor(roots: readonly GrantedRoot[]) {
    this.#roots = roots.map((root) => new HeldRoot(root));
    this.allowed = Object.freeze(roots.map(({ path, write }) => (write ? path : `${path} (read)`)));
  }

  start<T>(thread: IoThread, request: Request, decode: Decode<T>): Cancellable<T> {
    // The body runs to its first step at once: paths are taken apart in the caller's turn.
    const body = async (scope: CompositeScope): Promise<T> => {
      try {
        return await this.#run(scope, request, decode);
      } catch (error) {
        const { errno } = error as SystemError;
        throw typeof errno === 'number' ? requestError(errno, request) : error;
      }
    };
    return new CompositeOperation(thread, body, this);
  }

  async #run<T>(scope: CompositeScope, request: Request, decode: Decode<T>): Promise<T> {
    const { path = '', path2 } = request;
    for (const each of [path, path2]) {
      const errno = each === undefined ? 0 : errnoOfPath(each);
      if (errno < 0) throw requestError(errno, request);
    }
    const uses = pathUses(request);
    if (uses === undefined) throw fileDenied(this, request, 'not possible below a root');
    const resolver = new PathResolver(scope, this, this.#roots, request, uses.isWriting);
    const parsed = uses.path === USE_TEXT ? undefined : parsePath(path);
    const go = (own: Partial<Request>): PromiseLike<T> =>
      scope.run(() => startUnguarded(scope.thread, { ...request, ...own }, decode));
    if (path2 !== undefined && uses.path2 !== undefined) {
      return this.#runTwo(resolver, parsed, uses.path, parsePath(path2), uses.path2, go);
    }
    invariant(parsed !== undefined, 'one path of a request is no text');
    if (uses.path === USE_OPEN) return this.#open(resolver, parsed, request, go);
    return resolver.with(parsed, uses.path, async (found) => {
      if (uses.path === USE_REALPATH)
        return decodePath(scope.thread, canonicalPath(found.walk), decode);
      return go({ path: found.path, lease: found.lease });
    });
  }

  async #runTwo<T>(
    resolver: PathResolver,
    parsed: ParsedPath | undefined,
    use: PathUse,
    parsed2: ParsedPath,
    use2: PathUse,
    go: (own: Partial<Request>) => PromiseLike<T>,
  ): Promise<T> {
    if (parsed === undefined) {
      return resolver.with(parsed2, use2, async ({ path, lease }) => go({ path2: path, lease }));
    }
    return resolver.with(parsed, use, (first) =>
      resolver.with(parsed2, use2, async (second) => {
        const lease = new LeasePair(first.lease, second.lease);
        return go({ path: first.path, path2: second.path, lease });
      }),
    );
  }

  async #open<T>(
    resolver: PathResolver,
    parsed: ParsedPath,
    request: Request,
    go: (own: Partial<Request>) => PromiseLike<T>,
  ): Promise<T> {
    const flags = request.argument0 ?? 0;
    if (parsed.hasSlash && (flags & constants.O_CREAT) !== 0) {
      return resolver.with(parsed, USE_NEW_NAME, async () => {
        throw requestError(errnoOf('EISDIR'), request);
      });
    }
    return resolver.open(parsed, USE_OPEN, flags, async ({ path, lease, walk }, argument0) => {
      const opened = await go({ path, lease, argument0 });
      if (!walk.root.granted.write && isConfinable(opened)) opened[CONFINE_TO_READING]();
      return opened;
    });
  }
}

function isConfinable(value: unknown): value is Confinable {
  return typeof value === 'object' && value !== null && CONFINE_TO_READING in value;
}

/** What every system says of a path without looking where it leads; 0 = nothing. */
function errnoOfPath(path: string | Buffer): number {
  if (path.length === 0) return errnoOf('ENOENT');
  return pathBytes(path) >= abi.PATH_BYTES_MAX ? errnoOf('ENAMETOOLONG') : 0;
}

function canonicalPath({ root, reached }: PathWalk): Buffer {
  const { path } = root.granted;
  const names = Buffer.from(reached.map((name) => `/${name}`).join(''), 'latin1');
  return path === '/' && names.length > 0 ? names : Buffer.concat([Buffer.from(path), names]);
}

function decodePath<T>(thread: IoThread, path: Buffer, decode: Decode<T>): T {
  return decode(path.length, 0, { thread, statOffset: 0, output: path });
}

/** An authority over what is below `roots`; none at all when there are none. */
export function createFileAuthority(roots: readonly GrantedRoot[]): FileAuthority {
  return registerFileAuthority(new RootAuthority(roots));
}
