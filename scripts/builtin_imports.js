// esbuild plugin: `import { a } from 'node:x'` becomes process.getBuiltinModule('node:x').a.
// Why: linking an ES module against a builtin builds a facade of all its exports, which evaluates
// lazy ones (fs.promises, util.MIMEType, ...): a third of the time of `import 'nephrite/fs'`, see
// DECISIONS.md. Functions are taken at import time, as named imports are. node:worker_threads and
// node:module are not loaded before one of their functions is called: loading the first costs as
// much as everything else together, and the library calls them at first use, never per operation.
// Invariants: a name that this Node does not have fails the build; unused names are dropped.
// Not here: sources outside lib/ (tests and scripts import builtins the usual way).

const LAZY = new Set(['node:worker_threads', 'node:module']);

/** @type {import('esbuild').Plugin} */
export const builtinImports = {
  name: 'builtin-imports',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement'
        ? { path, namespace: 'builtin', sideEffects: false }
        : { path, external: true },
    );
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter(isIdentifier);
      return { contents: LAZY.has(path) ? lazyModule(path, names) : eagerModule(path, names) };
    });
  },
};

/**
 * @param {string} path
 * @param {string[]} names
 */
function eagerModule(path, names) {
  return [
    `const builtin = process.getBuiltinModule('${path}');`,
    'const pick = (name) => builtin[name];',
    ...names.map((name) => `export const ${name} = /* @__PURE__ */ pick('${name}');`),
    'export default builtin;',
  ].join('\n');
}

/**
 * Functions only: a class or a value would have to load the module; importing one fails the build.
 * @param {string} path
 * @param {string[]} names
 */
function lazyModule(path, names) {
  const builtin = /** @type {Record<string, unknown>} */ (process.getBuiltinModule(path));
  return names
    .filter((name) => typeof builtin[name] === 'function' && /^[a-z]/.test(name))
    .map((name) => `export const ${name} = (...args) => load().${name}(...args);`)
    .concat(`const load = () => process.getBuiltinModule('${path}');`)
    .join('\n');
}

/** @param {string} name */
function isIdentifier(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default';
}
