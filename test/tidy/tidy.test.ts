// Style as a test: every rule of test/tidy/rules over every file of the repository.
// Invariants: a finding names file, line and what to do instead. No list of tolerated offenders.
// Not here: whether the rules find anything (rules.test.ts), formatting (biome, clang-format).
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/root.ts';
import { links, nativeTestList, sourceLists } from './rules/agreement.ts';
import { bans } from './rules/bans.ts';
import { layering } from './rules/layering.ts';
import { fileSize, functionSize, headerComment, lineWidth } from './rules/shape.ts';
import { type Rule, readRepository, show } from './source_file.ts';

const files = readRepository();

const RULES: Readonly<Record<string, Rule>> = {
  'imports and includes point downward': layering,
  'files stay short': fileSize,
  'functions fit on a screen': functionSize,
  'lines are at most 100 columns': lineWidth,
  'every file opens with what it is': headerComment,
  'banned items are absent': bans,
  'gyp and CMake build the same sources': sourceLists,
  'every native test program is built': nativeTestList,
  'links in pages lead somewhere': links,
};

describe('tidy', () => {
  it('tidy: the walk sees the repository', () => {
    const paths = files.map(({ path }) => path);
    expect(paths).toContain('package.json');
    expect(paths).toContain('lib/addon/load.ts');
    expect(paths).toContain('.ci/run');
    expect(paths.some((path) => path.startsWith('node_modules/'))).toBe(false);
  });

  for (const [title, rule] of Object.entries(RULES)) {
    it(`tidy: ${title}`, () => {
      expect(show(rule(files))).toBe('');
    });
  }

  it('tidy: lib/abi/layout.ts equals what the compiler says of native/abi/layout.h', () => {
    const script = join(ROOT, 'scripts', 'generate_layout.js');
    execFileSync(process.execPath, [script], { stdio: 'pipe' });
  });
});
