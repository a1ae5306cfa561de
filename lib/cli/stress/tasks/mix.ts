// The mix: what leaves of a tree of tasks do, in shares.
// Flow: 'compute=2,read=1' -> [parseMix] -> Mix -> [drawKind]
// Owner: the run, read-only. Invariants: at least one share is above zero.
// Not here: what the kinds do (leaves.ts).
import type { Prng } from '../../../base/prng.ts';
import { badValue } from '../../units.ts';

export const LEAF_KINDS = [
  'compute',
  'sleep',
  'read',
  'channel',
  'cancel',
  'timeout',
  'throw',
  'async',
] as const;

export type LeafKind = (typeof LEAF_KINDS)[number];
export type Mix = Readonly<Partial<Record<LeafKind, number>>>;

const SHARE_MAX = 1000;

export const DEFAULT_MIX: Mix = {
  compute: 6,
  sleep: 3,
  read: 3,
  channel: 2,
  cancel: 2,
  timeout: 1,
  throw: 1,
  async: 1,
};

/** Throws a usage error that says what is allowed. */
export function parseMix(text: string): Mix {
  const mix: Partial<Record<LeafKind, number>> = {};
  for (const part of text.split(',')) {
    const match = /^\s*([a-z]+)\s*=\s*(\d+)\s*$/.exec(part);
    const kind = LEAF_KINDS.find((name) => name === match?.[1]);
    const share = Number(match?.[2]);
    if (kind === undefined || !(share <= SHARE_MAX) || mix[kind] !== undefined) {
      const kinds = LEAF_KINDS.join(', ');
      throw badValue('mix', text, `KIND=N,... with N from 0 to ${SHARE_MAX}; kinds: ${kinds}`);
    }
    mix[kind] = share;
  }
  if (sumOf(mix) === 0) throw badValue('mix', text, 'at least one share above 0');
  return mix;
}

export function describeMix(mix: Mix): string {
  return Object.entries(mix)
    .map(([kind, share]) => `${kind}=${share}`)
    .join(',');
}

export function drawKind(mix: Mix, prng: Prng): LeafKind {
  let at = prng.nextBelow(sumOf(mix));
  for (const kind of LEAF_KINDS) {
    at -= mix[kind] ?? 0;
    if (at < 0) return kind;
  }
  return 'compute';
}

function sumOf(mix: Mix): number {
  return Object.values(mix).reduce((sum, share) => sum + share, 0);
}
