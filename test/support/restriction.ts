// Restriction: runs calls of nephrite/fs under a file authority, as a scheduler does around a task.
// Owner: one FsLab, whose copy of the library it uses. Invariants: the authority is in force while
// the call is made and not afterwards; whatever the call still does must not need it.
// Not here: what is granted to whom (lib/bus/capabilities.ts).
import type { FileAuthority } from '../../lib/io/authority.ts';
import type { Fs } from './fs_lab.ts';

export interface RootGrant {
  readonly path: string;
  readonly write?: boolean;
}

type AnyFunction = (...given: unknown[]) => unknown;

export class Restriction {
  readonly #set: typeof import('../../lib/io/authority.ts').setFileAuthority;
  readonly #grant: typeof import('../../lib/io/file_roots.ts').grantRoot;
  readonly #create: typeof import('../../lib/io/root_authority.ts').createFileAuthority;

  private constructor(
    set: typeof import('../../lib/io/authority.ts').setFileAuthority,
    grant: typeof import('../../lib/io/file_roots.ts').grantRoot,
    create: typeof import('../../lib/io/root_authority.ts').createFileAuthority,
  ) {
    this.#set = set;
    this.#grant = grant;
    this.#create = create;
  }

  /** Of the library that was imported last. */
  static async load(): Promise<Restriction> {
    const { setFileAuthority } = await import('../../lib/io/authority.ts');
    const { grantRoot } = await import('../../lib/io/file_roots.ts');
    const { createFileAuthority } = await import('../../lib/io/root_authority.ts');
    return new Restriction(setFileAuthority, grantRoot, createFileAuthority);
  }

  authority(...roots: readonly RootGrant[]): FileAuthority {
    return this.#create(roots.map(({ path, write = false }) => this.#grant(path, write)));
  }

  /** Makes one call under `authority`. */
  run<T>(authority: FileAuthority, call: () => T): T {
    const previous = this.#set(authority);
    try {
      return call();
    } finally {
      this.#set(previous);
    }
  }

  /** `fs` with every call made under what `find` gives then. */
  wrap(fs: Fs, find: () => FileAuthority): Fs {
    const { run } = this;
    const wrapped: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(fs)) {
      const isCall = typeof value === 'function' && value !== fs.FileHandle;
      wrapped[name] = isCall
        ? (...given: unknown[]) => run.call(this, find(), () => (value as AnyFunction)(...given))
        : value;
    }
    return wrapped as unknown as Fs;
  }
}
