// Fs lab: nephrite/fs over every backend, in one process: the library is imported anew for each, so
// that each has a poller of its own. Node's fs, run on the same input, says what is right.
// Owner: one test file. Invariants: each test has a folder of its own, removed after it; a backend
// that cannot run here shows up as a skipped test that says why; NEPHRITE_BACKEND picks one.
// NEPHRITE_RESTRICTED=1 makes every call one of a task that may use the test's folder only: what is
// allowed must work as if there were no restriction.
// Not here: comparing (fs_oracle.ts), raw backends (backend_cases.ts).
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { HEADER_SUBMISSION_COUNT_INDEX } from '../../lib/abi/layout.ts';
import type { FileAuthority } from '../../lib/io/authority.ts';
import type { IoThread } from '../../lib/io/io_thread.ts';
import { BACKEND_CASES, type BackendCase } from './backend_cases.ts';
import { Restriction } from './restriction.ts';

// Closes on pool threads take their time on a busy machine; a leak stays.
const LEAK_TURNS_MAX = 20_000;

export type Fs = typeof import('../../lib/fs.ts');

export class FsLab {
  readonly backend: BackendCase;
  folder = '';
  #fs: Fs | undefined;
  #thread: IoThread | undefined;

  constructor(backend: BackendCase) {
    this.backend = backend;
  }

  /** The library; only inside a test. */
  get fs(): Fs {
    if (this.#fs === undefined) throw new Error('only inside a test');
    return this.#fs;
  }

  /** The library, each call under an authority over this test's folder alone. */
  #restrict(fs: Fs, restriction: Restriction): Fs {
    let authority: FileAuthority | undefined;
    let folder = '';
    return restriction.wrap(fs, () => {
      if (authority === undefined || folder !== this.folder) {
        folder = this.folder;
        authority = restriction.authority({ path: folder, write: true });
      }
      return authority;
    });
  }

  get thread(): IoThread {
    if (this.#thread === undefined) throw new Error('only inside a test');
    return this.#thread;
  }

  /** Entries that the poller has taken so far. */
  get submissionCount(): number {
    return this.thread.memory.doubles[HEADER_SUBMISSION_COUNT_INDEX];
  }

  /** Descriptors of this process, of whatever they are. */
  openDescriptors(): number {
    return readdirSync('/proc/self/fd').length;
  }

  /** Fails if more descriptors are open than before, once all that is on its way has ended. */
  async expectNoLeak(before: number): Promise<void> {
    for (let turn = 0; turn < LEAK_TURNS_MAX && this.openDescriptors() > before; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(this.openDescriptors()).toBeLessThanOrEqual(before);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async load(): Promise<void> {
    vi.resetModules();
    const { installThread } = await import('../../lib/io/current_thread.ts');
    const { IoThread } = await import('../../lib/io/io_thread.ts');
    const { DEFAULT_BACKEND_OPTIONS } = await import('../../lib/backend/backend.ts');
    this.#thread = new IoThread((onWake) =>
      this.backend.create({ ...DEFAULT_BACKEND_OPTIONS, onWake }),
    );
    installThread(this.#thread);
    this.#fs = await import('../../lib/fs.ts');
    if (process.env.NEPHRITE_RESTRICTED) {
      this.#fs = this.#restrict(this.#fs, await Restriction.load());
    }
  }

  unload(): void {
    this.#thread?.close();
  }

  async makeFolder(): Promise<void> {
    this.folder = mkdtempSync(join(tmpdir(), 'nephrite-fs-'));
    // An authority keeps a descriptor of its root, from its first use on.
    if (process.env.NEPHRITE_RESTRICTED) await this.fs.stat(this.folder);
  }

  removeFolder(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Runs `suite` once per backend, each in a describe block with its name. */
export function describeFs(title: string, suite: (lab: FsLab) => void): void {
  const only = process.env.NEPHRITE_BACKEND;
  for (const backend of BACKEND_CASES) {
    if (only && backend.name !== only) continue;
    describe(`${title}: ${backend.name}`, () => {
      if (!('create' in backend)) {
        it(`cannot run here: ${backend.reason}`, (context) => context.skip(backend.reason));
        return;
      }
      const lab = new FsLab(backend);
      beforeAll(() => lab.load());
      afterAll(() => lab.unload());
      beforeEach(() => lab.makeFolder());
      afterEach(() => lab.removeFolder());
      suite(lab);
    });
  }
}
