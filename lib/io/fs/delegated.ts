// Names of node:fs/promises that Node itself carries out: there is no operation of ours for them.
// Owner: none. Invariants: the functions are Node's own objects; what the running Node does not
// have is undefined, so importing a name never fails where Node is older.
// Which function is whose is listed in docs/fs.md; a test compares that list with this Node.
// Not here: what we carry out (the other files of this folder).
import * as node from 'node:fs/promises';

// Types of the Node that the user's @types/node describes.
type Delegated<Name extends string> =
  typeof node extends Record<Name, infer Value> ? Value : undefined;

function delegated<Name extends string>(name: Name): Delegated<Name> {
  return (node as Record<string, unknown>)[name] as Delegated<Name>;
}

export const { constants, cp, lchmod, opendir, statfs, watch } = node;
/** Node 22 and later. */
export const glob: Delegated<'glob'> = delegated('glob');
/** Node 24 and later. */
export const mkdtempDisposable: Delegated<'mkdtempDisposable'> = delegated('mkdtempDisposable');
