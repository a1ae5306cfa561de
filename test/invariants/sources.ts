// Sources: what an invariant says of the code itself, looked up in it. Owner: none.
// Invariants: comments are left out, so that a word in prose breaks nothing.
// Not here: style and layering in general (test/tidy).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/root.ts';

export interface Source {
  /** Below lib/. */
  readonly path: string;
  readonly text: string;
}

/** Every source below lib/`folder`, without its comments. */
export function sourcesOf(folder: string): Source[] {
  const base = join(ROOT, 'lib');
  const names = readdirSync(join(base, folder), { recursive: true }) as string[];
  const sources = names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
  if (sources.length === 0) throw new Error(`nothing in lib/${folder}`);
  return sources.map((path) => {
    const text = readFileSync(join(base, path), 'utf8');
    return { path, text: text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '') };
  });
}

/** What it imports or exports from. */
export function importsOf(text: string): string[] {
  return [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, from]) => from);
}
