// Backend harness: a fresh backend, its raw operations and a temporary folder per test, and the
// comparison with node:fs, which says what is right.
// Owner: one suite. Invariants: backend closed and folder removed after each test; errors are
// compared as Node's numbers, so a test holds on any platform.
// Not here: which backends there are (backend_cases.ts).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import type { BackendOptions } from '../../lib/backend/backend.ts';
import type { BackendCase } from './backend_cases.ts';
import { RingDriver } from './ring_driver.ts';
import { RingOperations } from './ring_operations.ts';

export class BackendHarness {
  folder = '';
  readonly #backend: BackendCase;
  readonly #options: Partial<BackendOptions>;
  #operations: RingOperations | null = null;

  constructor(backend: BackendCase, options: Partial<BackendOptions>) {
    this.#backend = backend;
    this.#options = options;
  }

  get ring(): RingOperations {
    if (this.#operations === null) throw new Error('only inside a test');
    return this.#operations;
  }

  get driver(): RingDriver {
    return this.ring.driver;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  open(): void {
    this.folder = mkdtempSync(join(tmpdir(), 'nephrite-backend-'));
    this.#operations = new RingOperations(new RingDriver(this.#backend.create, this.#options));
  }

  close(): void {
    this.driver[Symbol.dispose]();
    this.#operations = null;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Call in a describe block: opens before and closes after each of its tests. */
export function useBackend(
  backend: BackendCase,
  options: Partial<BackendOptions> = {},
): BackendHarness {
  const harness = new BackendHarness(backend, options);
  beforeEach(() => harness.open());
  afterEach(() => harness.close());
  return harness;
}

/** What node:fs answers: the value, or the negative errno of the error it throws. */
export function nodeResult(call: () => unknown): number {
  try {
    const value = call();
    return typeof value === 'number' ? value : 0;
  } catch (error) {
    if (error instanceof Error && 'errno' in error) return Number(error.errno);
    throw error;
  }
}

/**
 * Checks that `result` is the error that node:fs gives for the same, and that this is `name`: a
 * test in which node:fs succeeds would prove nothing.
 */
export function expectSameError(result: number, name: string, call: () => unknown): void {
  let code: unknown = 'no error';
  let errno = 0;
  try {
    call();
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error && 'code' in error)) throw error;
    code = error.code;
    errno = Number(error.errno);
  }
  expect(code).toBe(name);
  expect(result).toBe(errno);
}
