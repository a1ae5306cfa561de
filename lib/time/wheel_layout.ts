// Layout of the timer wheel: ticks as digits, lists, records, handles.
// A tick is high * 2^30 + low; each half has three digits of ten bits, so a level's arithmetic is
// on 32-bit integers; the high half ends with the 3 bits that are left of 53.
// Owner: none, stateless. Not here: what is done with it (timer_wheel.ts, slot_occupancy.ts).

export const LEVEL_BITS = 10;
export const LEVEL_SLOTS = 1 << LEVEL_BITS;
export const DIGIT = LEVEL_SLOTS - 1;
export const LEVELS = 6;
/** Levels of one half. */
export const HALF_LEVELS = 3;
export const HALF = 2 ** (HALF_LEVELS * LEVEL_BITS);
export const TICK_LIMIT = Number.MAX_SAFE_INTEGER;
export const SLOTS = (LEVELS - 1) * LEVEL_SLOTS + 8;
/** From here on a slot's timers differ in the high half. */
export const FIRST_HIGH_SLOT = HALF_LEVELS * LEVEL_SLOTS;

// Lists beside the slots: due in this advance, due in the next one, and the slot that is being
// spread over the levels below it.
export const DUE = SLOTS;
export const NEXT_DUE = SLOTS + 1;
export const OPENED = SLOTS + 2;
/** Records below are the sentinels of the lists. */
export const FIRST_TIMER = SLOTS + 24;

// A record in 16 bytes, so that arming, cancelling and firing touch one cache line of it.
export const RECORD_SHIFT = 2;
export const PREV = 0;
export const LOW = 1;
export const HIGH = 2;
export const GENERATION = 3;
export const NOT_LINKED = -1;

// A handle is generation * 2^25 + record, below 2^53.
export const HANDLE_RECORDS = 2 ** 25;
export const GENERATION_MAX = 2 ** 28 - 1;

/** First slot of the level at which a tick stands, `high` and `low` being where the wheel is. */
export function slotOf(tickHigh: number, tickLow: number, high: number, low: number): number {
  if (tickHigh === high) {
    const differing = tickLow ^ low;
    if (differing < LEVEL_SLOTS) return tickLow & DIGIT;
    if (differing < 1 << 20) return LEVEL_SLOTS + ((tickLow >>> 10) & DIGIT);
    return 2 * LEVEL_SLOTS + (tickLow >>> 20);
  }
  const differing = tickHigh ^ high;
  if (differing < LEVEL_SLOTS) return 3 * LEVEL_SLOTS + (tickHigh & DIGIT);
  if (differing < 1 << 20) return 4 * LEVEL_SLOTS + ((tickHigh >>> 10) & DIGIT);
  return 5 * LEVEL_SLOTS + (tickHigh >>> 20);
}

/** The tick at which `slot` begins, seen from where the wheel is. */
export function startTickOf(slot: number, high: number, low: number): number {
  const level = slot >> LEVEL_BITS;
  const digit = slot & DIGIT;
  if (level < HALF_LEVELS) return high * HALF + withDigit(low, level, digit);
  return withDigit(high, level - HALF_LEVELS, digit) * HALF;
}

/** `half` with `digit` at `level` and zeros below. */
function withDigit(half: number, level: number, digit: number): number {
  if (level === HALF_LEVELS - 1) return digit << (2 * LEVEL_BITS);
  const shift = (level + 1) * LEVEL_BITS;
  return ((half >>> shift) << shift) | (digit << (level * LEVEL_BITS));
}
