// nephrite/eslint-plugin: ESLint rules for code that uses nephrite, as a flat config plugin.
//   import nephrite from 'nephrite/eslint-plugin';
//   export default [nephrite.configs.recommended];
// Owner: none. A bundle of its own: it is loaded without the library, and the library without it.
// Not here: the rules (eslint/).
import { createRequire } from 'node:module';
import type { ESLint, Linter, Rule } from 'eslint';
import { noBareYield } from './eslint/no_bare_yield.ts';
import { noForgottenOperation } from './eslint/no_forgotten_operation.ts';

// Part of ESLint's cache key. The file lies one folder below package.json, in lib/ and in dist/.
const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

/** The plugin: rules and ready flat configs. */
export interface NephritePlugin {
  /** Name and version, for ESLint's cache and messages. */
  readonly meta: { readonly name: string; readonly version: string };
  readonly rules: {
    /** `yield` without a star in a generator function of a file that imports nephrite. */
    readonly 'no-bare-yield': Rule.RuleModule;
    /** An operation of nephrite that is started and dropped. */
    readonly 'no-forgotten-operation': Rule.RuleModule;
  };
  readonly configs: {
    /** Every rule, as an error; the plugin is named `nephrite`. */
    readonly recommended: Linter.Config;
  };
}

const recommended: Linter.Config = {
  name: 'nephrite/recommended',
  rules: { 'nephrite/no-bare-yield': 'error', 'nephrite/no-forgotten-operation': 'error' },
};
const plugin: NephritePlugin = {
  meta: { name: 'nephrite', version },
  rules: { 'no-bare-yield': noBareYield, 'no-forgotten-operation': noForgottenOperation },
  configs: { recommended },
};
// The same object as the export: ESLint refuses two plugins of one name.
recommended.plugins = { nephrite: plugin as ESLint.Plugin };

// biome-ignore lint/style/noDefaultExport: ESLint plugins are default exports.
export default plugin;
