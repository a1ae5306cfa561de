// Test runner configuration: one place for what is a test and how long one may take.
// Invariants: no retries anywhere (a flaky test is a defect); files run one after the other when
// they load the machine (integration), since timing tests share two cores with everything else.
// Not here: native unit tests (scripts/test_native.js) and style checks of C++ (test/tidy).
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    retry: 0,
    passWithNoTests: false,
    allowOnly: false,
  },
});
