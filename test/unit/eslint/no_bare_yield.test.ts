// Rule no-bare-yield: what it reports in files that import nephrite, and what it leaves alone.
// Not here: operations that are dropped (no_forgotten_operation.test.ts).
import { noBareYield } from '../../../lib/eslint/no_bare_yield.ts';
import { ruleTester } from './rule_tester.ts';

const IMPORT = `import { sleep, spawn } from 'nephrite';`;

/** One report with its suggestion. */
function starred(before: string, after: string) {
  const suggestions = [{ messageId: 'addStar', output: after }];
  return { code: before, errors: [{ messageId: 'bareYield', suggestions }] };
}

ruleTester.run('no-bare-yield', noBareYield, {
  valid: [
    `${IMPORT} function* task() { yield* sleep(1); }`,
    `function* numbers() { yield 1; }`,
    `import { sleep } from 'nephrite-like'; function* numbers() { yield 1; }`,
    `import { sleep } from './nephrite'; function* numbers() { yield 1; }`,
    `${IMPORT} async function* lines() { yield 'a'; }`,
    `${IMPORT} class List { *[Symbol.iterator]() { yield 1; } }`,
    `${IMPORT} const list = { *[Symbol.iterator]() { yield 1; } };`,
  ],
  invalid: [
    starred(
      `${IMPORT} function* task() { yield sleep(1); }`,
      `${IMPORT} function* task() { yield* sleep(1); }`,
    ),
    starred(
      `import 'nephrite'; spawn(function* () { const a = (yield f()); });`,
      `import 'nephrite'; spawn(function* () { const a = (yield* f()); });`,
    ),
    starred(
      `import * as fs from 'nephrite/fs'; const t = { *run(a) { return yield fs.stat(a); } };`,
      `import * as fs from 'nephrite/fs'; const t = { *run(a) { return yield* fs.stat(a); } };`,
    ),
    starred(
      `class A { *run() { yield this.a; } } await import('nephrite/fs');`,
      `class A { *run() { yield* this.a; } } await import('nephrite/fs');`,
    ),
    starred(
      `const { sleep } = require('nephrite'); function* t() { yield(sleep(1)); }`,
      `const { sleep } = require('nephrite'); function* t() { yield*(sleep(1)); }`,
    ),
    starred(
      `${IMPORT} const l = { *[name]() { yield 1; } };`,
      `${IMPORT} const l = { *[name]() { yield* 1; } };`,
    ),
    {
      code: `${IMPORT} function* task() { yield; }`,
      errors: [{ messageId: 'emptyYield' }],
    },
    {
      code: `${IMPORT} function* task() { yield a; yield* b; yield c; }`,
      errors: [
        {
          messageId: 'bareYield',
          column: IMPORT.length + 21,
          suggestions: [
            {
              messageId: 'addStar',
              output: `${IMPORT} function* task() { yield* a; yield* b; yield c; }`,
            },
          ],
        },
        {
          messageId: 'bareYield',
          suggestions: [
            {
              messageId: 'addStar',
              output: `${IMPORT} function* task() { yield a; yield* b; yield* c; }`,
            },
          ],
        },
      ],
    },
  ],
});
