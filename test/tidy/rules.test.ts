// Tests of the tidy rules themselves: each sees a bad sample, says where, and lets a good one pass.
// Samples are text in here, never files, so that the repository stays clean for tidy.test.ts.
import { describe, expect, it } from 'vitest';
import { links, nativeTestList, sourceLists } from './rules/agreement.ts';
import { bans } from './rules/bans.ts';
import { layering } from './rules/layering.ts';
import {
  FILE_LINES_MAX,
  FUNCTION_LINES_MAX,
  fileSize,
  functionSize,
  headerComment,
  lineWidth,
} from './rules/shape.ts';
import type { Rule } from './source_file.ts';

/** The lines a rule complains about in one sample. */
function linesFound(rule: Rule, path: string, text: string): number[] {
  return rule([{ path, text }]).map(({ line }) => line);
}

// Spelled in two parts: whole, they would be findings of tidy.test.ts in this file.
const ONLY = `it.${'only'}`;
const UNFINISHED = `// ${'TO'}${'DO'}: later`;
const HOST = `https://${'reg'}istry.npm${'js'}.org/`;
const MACHINE = `'/${'work'}/main/lib'`;
const RANDOM = `Math.${'random'}()`;
const ASSERT = `${'assert'}(true);`;

describe('tidy rules: layering', () => {
  it.each([
    ['lib/ring/submission_ring.ts', `import { x } from '../io/file.ts';`],
    ['lib/base/assert.ts', `import { x } from '../abi/layout.ts';`],
    ['lib/io/file.ts', `export { x } from '../runtime.ts';`],
    ['lib/runtime.ts', `import { x } from './cli/main.ts';`],
    ['lib/fs.ts', `const x = await import('./cli/main.ts');`],
    ['lib/io/file.ts', `import { x } from '../../test/support/x.ts';`],
    ['lib/task/task.ts', `import { x } from '../bus/runtime_bus.ts';`],
    ['lib/sync/channel.ts', `import { x } from '../scheduler/scheduler.ts';`],
    ['lib/runtime_parts.ts', `import { x } from './index.ts';`],
    ['lib/index.ts', `import { x } from './testing/test_runtime.ts';`],
    ['lib/index.ts', `import { x } from './eslint/rules.ts';`],
    ['lib/eslint/rules.ts', `import { x } from '../base/assert.ts';`],
    ['native/ring/ring.h', '#include "backend/backend.h"'],
    ['native/backend/epoll.cc', '#include <uv.h>'],
    ['native/poller/poller.cc', '#include "node_api.h"'],
    ['native/backend/epoll.cc', '#include "poller/poller.h"'],
  ])('layering: refuses %s with %s', (path, text) => {
    expect(linesFound(layering, path, text)).toContain(1);
  });

  it.each([
    ['lib/io/file.ts', `import { x } from '../ring/submission_ring.ts';`],
    ['lib/io/file.ts', `import { x } from './operation.ts';`],
    ['lib/cli/stress/run.ts', `import { x } from '../../fs.ts';`],
    ['lib/fs.ts', `import { open } from './io/file.ts';`],
    ['lib/bus/runtime_bus.ts', `import { x } from '../task/task.ts';`],
    ['lib/sync/channel.ts', `import { x } from '../task/wait_token.ts';`],
    ['lib/scheduler/scheduler.ts', `import { x } from '../bus/runtime_bus.ts';`],
    ['lib/testing/test_runtime.ts', `import { x } from '../runtime.ts';`],
    ['lib/runtime.ts', `import { x } from './runtime_parts.ts';`],
    ['lib/scheduler/scheduler.ts', `import { x } from '../engine/engine_config.ts';`],
    ['lib/testing.ts', `import { x } from './testing/test_runtime.ts';`],
    ['lib/eslint_plugin.ts', `import { x } from './eslint/rules.ts';`],
    ['lib/io/file.ts', `import { constants } from 'node:fs';`],
    ['native/addon/addon.cc', '#include <node_api.h>'],
    ['native/backend/epoll.cc', '#include "base/check.h"'],
    ['test/unit/x.test.ts', `import { x } from '../../lib/cli/main.ts';`],
  ])('layering: allows %s with %s', (path, text) => {
    expect(linesFound(layering, path, text)).toEqual([]);
  });

  it('layering: refuses a folder that no layer names', () => {
    expect(linesFound(layering, 'lib/utils/misc.ts', '')).toEqual([0]);
  });
});

describe('tidy rules: shape', () => {
  it('shape: refuses a file above the limit and allows one at it', () => {
    const text = 'x;\n'.repeat(FILE_LINES_MAX);
    expect(linesFound(fileSize, 'lib/io/a.ts', text)).toEqual([]);
    expect(linesFound(fileSize, 'native/base/a.cc', `${text}x;\n`)).toEqual([0]);
    expect(linesFound(fileSize, 'lib/abi/a.ts', `// Generated from x.\n${text}`)).toEqual([]);
  });

  it.each([
    ['lib/io/a.ts', 'export function f(a: number): void {', '  ', '}'],
    ['lib/io/a.ts', '  async read(a: number): Promise<number> {', '    ', '  }'],
    ['test/a.test.ts', `it('x', async () => {`, '  ', '});'],
    ['native/base/a.cc', 'int f(int a) {', '  ', '}'],
    ['native/base/a.h', '  int f() const noexcept {', '    ', '  }'],
  ])('shape: refuses a long function in %s: %s', (path, open, indent, close) => {
    const body = (count: number) => `${`${indent}x;\n`.repeat(count)}`;
    const fits = `${open}\n${body(FUNCTION_LINES_MAX - 2)}${close}\n`;
    const isTooLong = `${open}\n${body(FUNCTION_LINES_MAX - 1)}${close}\n`;
    expect(linesFound(functionSize, path, fits)).toEqual([]);
    expect(linesFound(functionSize, path, isTooLong)).toEqual([1]);
  });

  it('shape: a constructor that opens on its initializer line ends at its own brace', () => {
    const short = '  A()\n      : a_(1) {\n    x;\n  }\n';
    expect(linesFound(functionSize, 'native/a.h', short + '  int b;\n'.repeat(100))).toEqual([]);
    const long = `  A()\n      : a_(1) {\n${'    x;\n'.repeat(100)}  }\n`;
    expect(linesFound(functionSize, 'native/a.h', long)).toEqual([2]);
  });

  it('shape: a suite, a class and a namespace are not functions', () => {
    const body = '  x;\n'.repeat(100);
    expect(linesFound(functionSize, 'a.test.ts', `describe('x', () => {\n${body}});\n`)).toEqual(
      [],
    );
    const suite = `export function suite(): void {\n  it('x', () => {\n  });\n${body}}\n`;
    expect(linesFound(functionSize, 'test/a.ts', suite)).toEqual([]);
    expect(linesFound(functionSize, 'lib/a.ts', suite)).toEqual([1]);
    expect(linesFound(functionSize, 'lib/a.ts', `export class A {\n${body}}\n`)).toEqual([]);
    expect(linesFound(functionSize, 'a.cc', `namespace a {\n${body}}\n`)).toEqual([]);
  });

  it('shape: wants a header comment of some lines', () => {
    expect(linesFound(headerComment, 'lib/a.ts', `import x from 'y';\n`)).toEqual([1]);
    expect(linesFound(headerComment, 'lib/a.ts', '// One.\n// Two.\n')).toEqual([]);
    expect(linesFound(headerComment, 'native/a.cc', '// One.\n')).toEqual([1]);
    const pair = ['native/a.cc', 'native/a_posix.cc', 'native/a.h'].map((path) => ({
      path,
      text: '// One.\n',
    }));
    expect(headerComment(pair).map(({ path }) => path)).toEqual(['native/a.h']);
    expect(
      linesFound(headerComment, 'bin/a.js', '#!/usr/bin/env node\n// One.\n// Two.\n'),
    ).toEqual([]);
    expect(linesFound(headerComment, 'lib/a.ts', '// x\n'.repeat(30))).toEqual([1]);
  });

  it('shape: refuses wide lines, but not a long string in TypeScript', () => {
    const wide = `// ${'word '.repeat(25)}`;
    expect(linesFound(lineWidth, 'lib/a.ts', wide)).toEqual([1]);
    expect(linesFound(lineWidth, 'lib/a.ts', `const a = '${'word '.repeat(25)}';`)).toEqual([]);
    expect(linesFound(lineWidth, 'native/a.cc', `auto a = "${'word '.repeat(25)}";`)).toEqual([1]);
  });
});

describe('tidy rules: bans', () => {
  it.each([
    ['test/a.test.ts', `${ONLY}('x', () => {});`],
    ['vitest.config.ts', `${'re'}try: 2,`],
    ['lib/io/a.ts', UNFINISHED],
    ['test/a.test.ts', `server.${'listen'}(8080);`],
    ['test/a.test.ts', `connect({ host: 'x', ${'port'}: 9000 });`],
    ['scripts/a.js', `readFileSync(${MACHINE});`],
    ['package-lock.json', `"resolved": "${HOST}x.tgz"`],
    ['lib/io/a.ts', 'console.log(1);'],
    ['bench/a.ts', `const a = ${RANDOM};`],
    ['native/base/a.cc', ASSERT],
    ['native/base/a.cc', `#include <${'cassert'}>`],
    ['native/base/a.cc', `${'printf'}("x");`],
    ['lib/io/a.ts', `// @ts-${'ignore'}`],
    ['README.md', `Written by ${'Cla'}${'ude'}.`],
  ])('bans: refuses in %s: %s', (path, text) => {
    expect(linesFound(bans, path, text)).toEqual([1]);
  });

  it.each([
    ['test/a.test.ts', 'server.listen(0);'],
    ['lib/cli/a.ts', 'console.log(1);'],
    ['native/base/a.cc', 'static_assert(sizeof(int) == 4);'],
    ['lib/base/prng.ts', `const a = ${RANDOM};`],
    ['lib/io/a.ts', `const cgroup = '/sys/fs/cgroup/cpu.max';`],
    ['native/base/check.h', 'std::fprintf(stderr, "x");'],
  ])('bans: allows in %s: %s', (path, text) => {
    expect(linesFound(bans, path, text)).toEqual([]);
  });
});

describe('tidy rules: agreement', () => {
  const gyp = (linux: string) =>
    `'common_sources': [\n 'native/base/a.cc',\n],\n'linux_sources': [${linux}],`;
  const cmake = (linux: string) =>
    `set(COMMON_SOURCES\n  native/base/a.cc\n)\nset(LINUX_SOURCES ${linux})\nset(TEST_SOURCES\n  test/native/a_test.cc\n)`;
  const messages = (rule: Rule, gypText: string, cmakeText: string, paths: string[]) =>
    rule([
      { path: 'binding.gyp', text: gypText },
      { path: 'CMakeLists.txt', text: cmakeText },
      ...paths.map((path) => ({ path, text: '' })),
    ]).map(({ path, message }) => `${path}: ${message}`);

  it('agreement: equal lists of existing files pass', () => {
    const paths = ['native/base/a.cc', 'native/backend/e.cc'];
    const found = messages(
      sourceLists,
      gyp(`'native/backend/e.cc'`),
      cmake('native/backend/e.cc'),
      paths,
    );
    expect(found).toEqual([]);
  });

  it('agreement: a file in one list only is named with its list', () => {
    const paths = ['native/base/a.cc', 'native/backend/e.cc'];
    const found = messages(sourceLists, gyp(''), cmake('native/backend/e.cc'), paths);
    expect(found).toContain('binding.gyp: native/backend/e.cc is in CMakeLists.txt (linux) only');
  });

  it('agreement: a file in no list, and a list entry without a file, are named', () => {
    const found = messages(sourceLists, gyp(''), cmake(''), ['native/ring/b.cc']);
    expect(found).toEqual([
      'native/ring/b.cc: not in the source lists of binding.gyp and CMakeLists.txt',
      'binding.gyp: native/base/a.cc does not exist',
    ]);
  });

  it('agreement: a native test that CMake does not build is named', () => {
    const paths = ['test/native/a_test.cc', 'test/native/b_test.cc'];
    expect(messages(nativeTestList, gyp(''), cmake(''), paths)).toEqual([
      'test/native/b_test.cc: not in TEST_SOURCES: it never runs',
    ]);
  });

  it('agreement: a dead link is found, a live one and a web address are not', () => {
    const text = '[a](./x.md) [b](lib/) [c](https://example.org) [d](gone.md#part)';
    const found = links([
      { path: 'README.md', text },
      { path: 'x.md', text: '' },
      { path: 'lib/index.ts', text: '' },
    ]);
    expect(found.map(({ message }) => message)).toEqual(['gone.md does not exist']);
  });
});
