// What leaves of a tree do: one body per kind of the mix, each checking what it can see.
// Flow: plan -> [leafBody] -> value, or the error it must throw
// Owner: the run. Invariants: a leaf ends by itself within milliseconds; what it spawns is in the
// ledger and has ended before the leaf ends. Not here: victims of cancellation (victims.ts).
import { mix32 } from '../../../base/prng.ts';
import {
  channel,
  checkpoint,
  sleep,
  spawn,
  type TaskGenerator,
  TimeoutError,
  withTimeout,
} from '../../../index.ts';
import { BLOCK_BYTES, type BlockFile } from './block_file.ts';
import type { Ledger, Status } from './ledger.ts';
import type { LeafKind } from './mix.ts';
import type { Plan } from './plan.ts';
import { cancelVictim } from './victims.ts';

/** What leaves share. */
export interface LeafWorld {
  readonly ledger: Ledger;
  readonly file: BlockFile;
}

/** Thrown by leaves on purpose. */
export class PlannedError extends Error {
  readonly word: number;

  constructor(word: number) {
    super(`planned ${word}`);
    this.word = word;
  }
}

const HOUR_MS = 3600e3;
const SLICES_MAX = 8;
const ROUNDS_PER_SLICE = 200;

export function statusOf(kind: LeafKind | undefined): Status {
  return kind === 'throw' ? 'failure' : 'success';
}

type Leaf = (world: LeafWorld, plan: Plan) => TaskGenerator<number>;

const LEAVES: Readonly<Record<Exclude<LeafKind, 'async'>, Leaf>> = {
  *compute({ ledger }, { word }) {
    const slices = 1 + (word % SLICES_MAX);
    let value = word;
    for (let slice = 0; slice < slices; slice++) {
      value = mixed(value, ROUNDS_PER_SLICE);
      yield* checkpoint();
    }
    // What a task knows survives being put aside.
    const isRight = value === mixed(word, slices * ROUNDS_PER_SLICE);
    ledger.values.check(isRight, () => `compute: ${slices} slices`);
    return word;
  },

  *sleep(_world, { word }) {
    yield* sleep((word % 50) / 10);
    return word;
  },

  *read({ ledger, file }, { word }) {
    const isRight = yield* file.read(word);
    ledger.bytes.check(isRight, () => `block of ${word}`);
    ledger.recorder.bytes += BLOCK_BYTES;
    return word;
  },

  *channel({ ledger }, { word }) {
    const count = 1 + (word % 16);
    const values = channel<number>((word >>> 8) % 4);
    const sinceMs = performance.now();
    const producer = spawn(function* () {
      for (let i = 0; i < count; i++) yield* values.send(mix32(word + i));
      values.close();
    });
    ledger.expect(producer, 'producer', 'success', sinceMs);
    const consumer = spawn(function* () {
      for (let i = 0; i < count; i++) {
        const value = yield* values.receive();
        ledger.values.check(value === mix32(word + i), () => `channel: value ${i} of ${count}`);
      }
    });
    ledger.expect(consumer, 'consumer', 'success', sinceMs);
    yield* consumer.join();
    yield* producer.join();
    return word;
  },

  *cancel(world, { word }) {
    yield* cancelVictim(world, word);
    return word;
  },

  *timeout({ ledger }, { word }) {
    const limitMs = (word % 30) / 10;
    const sinceMs = performance.now();
    let caught: unknown;
    try {
      yield* withTimeout(limitMs, sleep(HOUR_MS));
    } catch (error) {
      caught = error;
    }
    ledger.values.check(caught instanceof TimeoutError, () => `timeout: ${String(caught)}`);
    const isDue = performance.now() - sinceMs >= limitMs;
    ledger.values.check(isDue, () => `a timeout of ${limitMs} ms came early`);
    return word;
  },

  *throw(_world, { word }) {
    yield* checkpoint();
    throw new PlannedError(word);
  },
};

function mixed(word: number, rounds: number): number {
  let value = word;
  for (let i = 0; i < rounds; i++) value = mix32(value);
  return value;
}

async function asyncLeaf(_world: LeafWorld, { word }: Plan): Promise<number> {
  await sleep((word % 20) / 10);
  await checkpoint();
  return word;
}

/** The body of a leaf of this kind. */
export function leafBody(
  kind: LeafKind,
): (world: LeafWorld, plan: Plan) => TaskGenerator<number> | Promise<number> {
  return kind === 'async' ? asyncLeaf : LEAVES[kind];
}
