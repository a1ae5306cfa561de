// Names of node:fs/promises that Node itself carries out: there is no operation of ours for them.
// Owner: none. Invariants: each function calls Node's own with what it was given, or is refused
// when the caller's files are restricted: Node's would look where the caller may not. What the
// running Node does not have is undefined, so importing a name never fails where Node is older.
// Which function is whose is listed in docs/fs.md; a test compares that list with this Node.
// Not here: what we carry out (the other files of this folder).
import * as node from 'node:fs/promises';
import { CapabilityError } from '../../base/capability_error.ts';
import { currentFileAuthority, type FileAuthority } from '../authority.ts';

// Types of the Node that the user's @types/node describes.
type Delegated<Name extends string> =
  typeof node extends Record<Name, infer Value> ? Value : undefined;

type AnyFunction = (...given: unknown[]) => unknown;

/** Node's function behind each of ours here. */
export const originals = new WeakMap<object, AnyFunction>();

function refusal(name: string, { allowed }: FileAuthority): CapabilityError {
  const what = `${name} is Node's own and cannot be restricted to roots: not for a restricted task`;
  return new CapabilityError('files', name, allowed, what);
}

/** What gives promises rejects, what gives iterators throws. */
function delegated<Name extends string>(name: Name, isIterator = false): Delegated<Name> {
  const own = (node as Record<string, unknown>)[name];
  if (typeof own !== 'function') return undefined as Delegated<Name>;
  const call = own as AnyFunction;
  const { [name]: checked } = {
    [name](...given: unknown[]): unknown {
      const authority = currentFileAuthority();
      if (authority === undefined) return call(...given);
      const error = refusal(name, authority);
      if (isIterator) throw error;
      return Promise.reject(error);
    },
  };
  Object.defineProperty(checked, 'length', { value: call.length, configurable: true });
  originals.set(checked, call);
  return checked as unknown as Delegated<Name>;
}

export const { constants } = node;
export const cp: typeof node.cp = delegated('cp');
export const lchmod: typeof node.lchmod = delegated('lchmod');
export const opendir: typeof node.opendir = delegated('opendir');
export const statfs: typeof node.statfs = delegated('statfs');
export const watch: typeof node.watch = delegated('watch', true);
/** Node 22 and later. */
export const glob: Delegated<'glob'> = delegated('glob', true);
/** Node 24 and later. */
export const mkdtempDisposable: Delegated<'mkdtempDisposable'> = delegated('mkdtempDisposable');
