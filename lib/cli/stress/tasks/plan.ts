// Plans of trees: who spawns whom and what leaves do, drawn before the tree runs, so that the order
// in which tasks happen to run cannot change it.
// Flow: seed + tree number -> [drawTree] -> Plan -> tree.ts
// Owner: the tree. Invariants: the same seed and number give the same plan.
// Not here: what the kinds do (leaves.ts).
import { Prng } from '../../../base/prng.ts';
import { drawKind, type LeafKind, type Mix } from './mix.ts';

export interface Plan {
  /** undefined: an inner task. */
  readonly kind: LeafKind | undefined;
  /** 32 random bits for the leaf. */
  readonly word: number;
  readonly children: readonly Plan[];
}

export interface TreeShape {
  readonly seed: number;
  readonly mix: Mix;
  readonly levels: number;
  readonly fanout: number;
}

export function drawTree(shape: TreeShape, number: number): Plan {
  return draw(shape, new Prng(shape.seed, number), shape.levels);
}

function draw(shape: TreeShape, prng: Prng, levels: number): Plan {
  const word = prng.nextWord();
  if (levels === 0) return { kind: drawKind(shape.mix, prng), word, children: [] };
  const count = 1 + prng.nextBelow(shape.fanout);
  const children = Array.from({ length: count }, () => draw(shape, prng, levels - 1));
  return { kind: undefined, word, children };
}

/** What a task of this plan returns: a fold over its subtree. */
export function subtreeValue({ word, children }: Plan): number {
  return children.reduce((sum, child) => (sum + subtreeValue(child)) >>> 0, word);
}
