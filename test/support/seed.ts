// The seed of random tests: NEPHRITE_SEED replays a run, else the clock gives a new one.
// Owner: none. Invariants: the same for the whole process; whoever draws from it says it in the
// failure (fast-check does, others through `describeSeed`).
// Not here: generators (lib/base/prng.ts, fast-check).

const SEED_LIMIT = 2 ** 31;

export const SEED = Number(process.env.NEPHRITE_SEED || Date.now() % SEED_LIMIT);

/** For test titles and assertion messages. */
export const describeSeed = `NEPHRITE_SEED=${SEED}`;
