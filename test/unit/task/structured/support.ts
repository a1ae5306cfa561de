// Support: a runtime on virtual time for each test, so that no test waits for a clock; and how
// things ended, as data. Owner: the test file that calls it.
// Not here: tests on the real clock (they make their tasks outside).
import { afterEach, beforeEach } from 'vitest';
import type { SuppressedErrorLike } from '../../../../lib/task/outcome.ts';
import type { TestRuntime } from '../../../../lib/testing.ts';
import { createTestRuntime } from '../../../../lib/testing.ts';

/** `rt` of the running test; time moves by itself from timer to timer. */
export const test: { rt: TestRuntime } = { rt: undefined as unknown as TestRuntime };

export function useRuntime(): void {
  beforeEach(async () => {
    test.rt = await createTestRuntime({ seed: 1, autoAdvance: true });
  });
  afterEach(async () => {
    await test.rt.close({ deadline: 0 });
  });
}

/** What it rejects with. */
export async function rejectionOf(given: PromiseLike<unknown>): Promise<unknown> {
  try {
    await given;
  } catch (error) {
    return error;
  }
  throw new Error('it was fulfilled');
}

export function suppressedOf(error: unknown): SuppressedErrorLike {
  if (error instanceof Error && error.name === 'SuppressedError') {
    return error as SuppressedErrorLike;
  }
  throw new Error('not a SuppressedError', { cause: error });
}

/** Turns of the event loop, for what must not depend on time. */
export async function turns(count = 5): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}
