// ESLint's RuleTester inside vitest: each sample is a test, named by its code.
// Owner: none. Not here: the samples (the *.test.ts beside it).
import { RuleTester } from 'eslint';
import { describe, it } from 'vitest';

RuleTester.describe = describe;
RuleTester.it = it;

/** Samples are ES modules of the newest syntax unless they say otherwise. */
export const ruleTester = new RuleTester({
  languageOptions: { ecmaVersion: 'latest', sourceType: 'module' },
});
