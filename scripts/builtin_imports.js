// esbuild plugin: `import { a } from 'node:x'` becomes process.getBuiltinModule('node:x').a.
// Why: linking an ES module against a builtin builds a facade of all its exports, which evaluates
// lazy ones (fs.promises, util.MIMEType, ...): a third of the time of `import 'nephrite/fs'`, see
// DECISIONS.md. Functions are taken at import time, as named imports are. node:worker_threads is
// not loaded before one of its functions is called: loading it costs as much as everything else
// together, and the library calls it at first use, never per operation.
// Invariants: a name that this Node does not have fails the build; unused names are dropped.
// Not here: sources outside lib/ (tests and scripts import builtins the usual way).

const LAZY = 'node:worker_threads';

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
      return { contents: path === LAZY ? lazyModule(names) : eagerModule(path, names) };
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
 * @param {string[]} names
 */
function lazyModule(names) {
  /** @type {Record<string, unknown>} */
  const builtin = process.getBuiltinModule(LAZY);
  return names
    .filter((name) => typeof builtin[name] === 'function' && /^[a-z]/.test(name))
    .map((name) => `export const ${name} = (...args) => load().${name}(...args);`)
    .concat(`const load = () => process.getBuiltinModule('${LAZY}');`)
    .join('\n');
}

/** @param {string} name */
function isIdentifier(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default';
}
