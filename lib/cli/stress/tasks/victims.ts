// Victims: tasks that would never end by themselves, and how they are cancelled. Each stands at
// another kind of suspension, and is cancelled before its first step, at it, or some time later.
// Owner: the leaf that spawns them. Invariants: cancelled once with a reason of its own; `finally`
// (which waits itself) runs once if the body was entered, never if not.
// Not here: other leaves (leaves.ts).
import {
  channel,
  checkpoint,
  sleep,
  spawn,
  type TaskGenerator,
  uncancellable,
  waitToken,
} from '../../../index.ts';
import type { LeafWorld } from './leaves.ts';

const HOUR_MS = 3600e3;
const WHOLE_BUDGET = 1e6;

type Wait = (world: LeafWorld, word: number) => TaskGenerator<void>;

/** Where a victim stands; none of them returns. */
const WAITS: readonly Wait[] = [
  function* sleeping() {
    yield* sleep(HOUR_MS);
  },
  function* receiving() {
    yield* channel<void>(1).receive();
  },
  function* waiting() {
    yield* waitToken().wait();
  },
  function* computing() {
    for (;;) yield* checkpoint(WHOLE_BUDGET);
  },
  function* reading({ file }, word) {
    for (let i = word; ; i++) yield* file.read(i);
  },
  function* joining({ ledger }) {
    const sinceMs = performance.now();
    const child = spawn(function* () {
      yield* sleep(HOUR_MS);
    });
    ledger.expect(child, 'victim', 'cancelled', sinceMs);
    try {
      yield* child.join();
    } finally {
      child.cancel();
      yield* child.settled();
    }
  },
  function* shielded() {
    yield* uncancellable(sleep(0.5));
    yield* sleep(HOUR_MS);
  },
];

interface Steps {
  entered: number;
  left: number;
}

function* victim(
  wait: Wait,
  world: LeafWorld,
  word: number,
  steps: Steps,
): TaskGenerator<undefined> {
  steps.entered++;
  try {
    yield* wait(world, word);
    return undefined;
  } finally {
    yield* sleep(0);
    steps.left++;
  }
}

/** Spawns a victim, cancels it, and checks what it came to. */
export function* cancelVictim(world: LeafWorld, word: number): TaskGenerator<void> {
  const { ledger } = world;
  const wait = WAITS[word % WAITS.length];
  if (wait === undefined) return;
  const steps: Steps = { entered: 0, left: 0 };
  const sinceMs = performance.now();
  const task = spawn(victim, wait, world, word, steps);
  ledger.expect(task, 'victim', 'cancelled', sinceMs);
  const delay = (word >>> 8) % 3;
  if (delay === 1) yield* checkpoint(WHOLE_BUDGET);
  if (delay === 2) yield* sleep(((word >>> 16) % 20) / 10);
  const reason = { word };
  const wasFirst = task.cancel(reason);
  const isRepeated = task.cancel('again');
  ledger.values.check(wasFirst && !isRepeated, () => `${wait.name}: cancel() twice`);
  const outcome = yield* task.settled();
  const isReason = outcome.status === 'cancelled' && outcome.reason === reason;
  ledger.values.check(isReason, () => `${wait.name}: another reason`);
  const isClean = steps.left === steps.entered && (delay > 0 || steps.entered === 0);
  ledger.cleanups.check(
    isClean,
    () => `${wait.name}: entered ${steps.entered}, left ${steps.left}`,
  );
}
