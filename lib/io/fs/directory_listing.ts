// Directory listing: all entries of one directory or of the tree below it, whole or in batches.
// Owner: the operation. Invariants: at most TREE_WIDTH directories are open at a time; a
// directory's entries are sorted by their bytes when they are collected; a link to a directory is
// followed when names alone are wanted, as Node does it, but not round a loop.
// Not here: records (directory_reader.ts), shapes (entry_shapes.ts), sorting of a stream: there is
// none.
import type { CompositeScope } from '../composite.ts';
import { runWorkStack } from '../work_stack.ts';
import { withDescriptor } from './descriptors.ts';
import {
  DIRECTORY_FLAGS,
  type DirectoryEntry,
  joinEntry,
  KIND_DIRECTORY,
  KIND_LINK,
  lookUp,
  readEntries,
  resolveKinds,
} from './directory_reader.ts';
import type { EntryShaper } from './entry_shapes.ts';

const TREE_WIDTH = 8;

/** What is listed and how. */
export interface Listing<E> {
  /** As the caller gave it. */
  readonly path: string | Buffer;
  /** The same in latin1. */
  readonly root: string;
  readonly isRecursive: boolean;
  readonly hasTypes: boolean;
  readonly shape: EntryShaper<E>;
}

interface Directory {
  /** latin1, relative to the root, '' is the root. */
  readonly relative: string;
  /** Directories that links led to on the way here. */
  readonly followed: readonly string[];
}

const ROOT: Directory = { relative: '', followed: [] };

/** Reads one directory, batch by batch, until `take` gives false. Gives false then. */
function readDirectory<E>(
  scope: CompositeScope,
  listing: Listing<E>,
  directory: Directory,
  take: (entries: DirectoryEntry[]) => Promise<boolean>,
): Promise<boolean> {
  const { path, root, isRecursive, hasTypes } = listing;
  const latin1 = directory.relative === '' ? root : joinEntry(root, directory.relative);
  const own = directory.relative === '' ? path : Buffer.from(latin1, 'latin1');
  return withDescriptor(scope, own, DIRECTORY_FLAGS, 'scandir', async (fd) => {
    for (;;) {
      const { entries, isEnd } = await readEntries(scope, fd, own);
      if (isRecursive || hasTypes) await resolveKinds(scope, latin1, entries);
      if (!(await take(entries))) return false;
      if (isEnd) return true;
    }
  });
}

async function subdirectories<E>(
  scope: CompositeScope,
  listing: Listing<E>,
  directory: Directory,
  entries: readonly DirectoryEntry[],
): Promise<Directory[]> {
  const found: Directory[] = [];
  const { followed } = directory;
  for (const { name, kind } of entries) {
    const relative = joinEntry(directory.relative, name);
    if (kind === KIND_DIRECTORY) found.push({ relative, followed });
    if (kind !== KIND_LINK || listing.hasTypes) continue;
    const target = await lookUp(scope, joinEntry(listing.root, relative), true);
    if (target.kind !== KIND_DIRECTORY || followed.includes(target.identity)) continue;
    found.push({ relative, followed: [...followed, target.identity] });
  }
  return found;
}

interface TreeNode {
  readonly directory: Directory;
  entries: DirectoryEntry[];
  children: TreeNode[];
}

/** All entries; of a tree the outer directories come first. */
export async function collect<E>(scope: CompositeScope, listing: Listing<E>): Promise<E[]> {
  const tree: TreeNode = { directory: ROOT, entries: [], children: [] };
  await runWorkStack(tree, TREE_WIDTH, async (node, push) => {
    const { directory, entries } = node;
    await readDirectory(scope, listing, directory, async (batch) => {
      for (const entry of batch) entries.push(entry);
      return true;
    });
    entries.sort(byName);
    if (!listing.isRecursive) return;
    for (const child of await subdirectories(scope, listing, directory, entries)) {
      const childNode = { directory: child, entries: [], children: [] };
      node.children.push(childNode);
      push(childNode);
    }
  });
  const nodes = [tree];
  const shaped: E[][] = [];
  for (let index = 0; index < nodes.length; index++) {
    const { directory, entries, children } = nodes[index];
    shaped.push(listing.shape(entries, directory.relative));
    for (const child of children) nodes.push(child);
  }
  return shaped.length === 1 ? shaped[0] : shaped.flat();
}

// Names are unique in a directory.
function byName(left: DirectoryEntry, right: DirectoryEntry): number {
  return left.name < right.name ? -1 : 1;
}

/** Gives the entries to `offer` as they are read, depth first, until it gives false. */
export async function stream<E>(
  scope: CompositeScope,
  listing: Listing<E>,
  offer: (entries: E[]) => Promise<boolean>,
): Promise<void> {
  const pending: Directory[] = [ROOT];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    const current = directory;
    const found: Directory[] = [];
    const isWanted = await readDirectory(scope, listing, current, async (entries) => {
      if (listing.isRecursive) {
        for (const child of await subdirectories(scope, listing, current, entries)) {
          found.push(child);
        }
      }
      return offer(listing.shape(entries, current.relative));
    });
    if (!isWanted) return;
    for (let child = found.pop(); child !== undefined; child = found.pop()) pending.push(child);
  }
}
