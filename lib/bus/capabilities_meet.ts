// What two capabilities both allow: for a task that spawns on another runtime, whose rights are
// bounded by its own and by that runtime's. Owner: a cache by the two.
// Invariants: never more than either; address patterns that merely overlap, and roots that have
// lost their name, are left out. Not here: narrowing to what is wanted (capabilities.ts).
import { type GrantedRoot, isBelow, isStillThere } from '../io/file_roots.ts';
import { coversAddress } from './addresses.ts';
import { ALL_CAPABILITIES, type Capabilities, type FileRoot, narrow } from './capabilities.ts';

const met = new WeakMap<Capabilities, WeakMap<Capabilities, Capabilities>>();

export function meet(first: Capabilities, second: Capabilities): Capabilities {
  if (first === second || second === ALL_CAPABILITIES) return first;
  if (first === ALL_CAPABILITIES) return second;
  let ofFirst = met.get(first);
  if (ofFirst === undefined) {
    ofFirst = new WeakMap();
    met.set(first, ofFirst);
  }
  let both = ofFirst.get(second);
  if (both === undefined) {
    both = narrow(first, {
      spawn: first.spawn && second.spawn,
      cancelOthers: first.cancelOthers && second.cancelOthers,
      configure: first.configure && second.configure,
      lendWorkers: first.lendWorkers && second.lendWorkers,
      files: meetFiles(first.files, second.files),
      connect: meetAddresses(first.connect, second.connect),
      listen: meetAddresses(first.listen, second.listen),
    });
    ofFirst.set(second, both);
  }
  return both;
}

type Addresses = 'all' | readonly string[];

function meetAddresses(first: Addresses, second: Addresses): Addresses {
  if (first === 'all') return second;
  if (second === 'all') return first;
  const isIn = (list: readonly string[]) => (address: string) =>
    list.some((pattern) => coversAddress(pattern, address));
  return [...new Set([...first.filter(isIn(second)), ...second.filter(isIn(first))])];
}

type Files = 'all' | readonly GrantedRoot[];

function meetFiles(first: Files, second: Files): 'all' | readonly FileRoot[] {
  // The same list, not a copy: roots stay those that were granted.
  if (first === second || second === 'all') return first;
  if (first === 'all') return second.filter(isStillThere);
  const roots = new Map<string, FileRoot>();
  for (const one of first.filter(isStillThere)) {
    for (const other of second.filter(isStillThere)) {
      const isInner = isBelow(one.path, other.path);
      if (!isInner && !isBelow(other.path, one.path)) continue;
      const { path } = isInner ? one : other;
      const write = one.write && other.write;
      roots.set(`${write} ${path}`, { path, write });
    }
  }
  return [...roots.values()];
}
