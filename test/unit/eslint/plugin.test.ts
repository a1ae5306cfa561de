// The plugin as ESLint loads it, and its lists of names against what the library really exports.
// Not here: what the rules report (one file each).
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';
import { OPERATION_FUNCTIONS, OPERATION_METHODS } from '../../../lib/eslint/operation_names.ts';
import plugin from '../../../lib/eslint_plugin.ts';
import * as fs from '../../../lib/fs.ts';
import * as nephrite from '../../../lib/index.ts';

/** Public functions that give no Operation: somebody has decided so. */
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  nephrite: [
    'backend',
    'channel',
    'configure',
    'current',
    'defineTasks',
    'every',
    'mutex',
    'report',
    'semaphore',
    'spawn',
    'spawnLocal',
    'transfer',
    'waitToken',
  ],
  'nephrite/fs': ['glob', 'watch'],
};

describe('eslint plugin', () => {
  it('plugin: recommended works in a flat config and reports with both rules', async () => {
    const eslint = new ESLint({
      overrideConfigFile: true,
      overrideConfig: [plugin.configs.recommended, { plugins: { nephrite: plugin } }],
    });
    const code = `import { sleep } from 'nephrite'; function* t() { sleep(1); yield sleep(2); }`;
    const [result] = await eslint.lintText(code);
    expect(result?.messages.map(({ ruleId, severity }) => [ruleId, severity])).toEqual([
      ['nephrite/no-forgotten-operation', 2],
      ['nephrite/no-bare-yield', 2],
    ]);
  });

  it('plugin: names itself with the version of the package', () => {
    expect(plugin.meta.name).toBe('nephrite');
    expect(plugin.meta.version).toMatch(/^\d+\.\d+\.\d+/);
  });

  it.each([
    ['nephrite', nephrite],
    ['nephrite/fs', fs],
  ])('plugin: every function of %s is known to the rules or decided to be plain', (name, entry) => {
    const functions = Object.entries(entry)
      .filter(([key, value]) => typeof value === 'function' && /^[a-z]/.test(key))
      .map(([key]) => key);
    const waitable = OPERATION_FUNCTIONS.get(name) ?? new Set();
    const plain = PLAIN[name] ?? [];
    expect(functions.filter((key) => !waitable.has(key) && !plain.includes(key))).toEqual([]);
    expect(plain.filter((key) => waitable.has(key))).toEqual([]);
  });

  it('plugin: every name listed for nephrite/fs exists, and so does every method of its files', () => {
    const names = [...(OPERATION_FUNCTIONS.get('nephrite/fs') ?? [])];
    expect(names.filter((name) => !(name in fs))).toEqual([]);
    const methods = OPERATION_METHODS.get('nephrite/fs')?.get('open') ?? new Set();
    const own = Object.entries(Object.getOwnPropertyDescriptors(fs.FileHandle.prototype))
      .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor')
      .map(([name]) => name);
    expect([...methods].sort()).toEqual(own.sort());
  });
});
