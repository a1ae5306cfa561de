// Timer wheel: one-shot timers in typed arrays, O(1) to arm and to cancel.
// Six levels of 1024 slots hold 53-bit ticks. A slot is a circular list whose sentinel is a record
// like a timer's; a timer stands at the level of the highest digit in which it differs from
// #nextTick, so what a level holds lies ahead in the block of the level above and the lowest set
// bit of the occupancy words is the next slot, with no search and no wrap-around.
// Owner: one thread. Invariants: never early; FIFO within a tick; a freed record has a new
// generation, so a stale handle cancels nothing; state is whole before a target is called.
// Not here: clocks, what wakes the thread (alarm.ts), Infinity (it is never linked).
import { invariant } from '../base/assert.ts';
import { NephriteError, outOfRange } from '../base/errors.ts';
import { SlotOccupancy } from './slot_occupancy.ts';
import {
  DIGIT,
  DUE,
  FIRST_HIGH_SLOT,
  FIRST_TIMER,
  GENERATION,
  GENERATION_MAX,
  HALF,
  HALF_LEVELS,
  HANDLE_RECORDS,
  HIGH,
  LEVEL_BITS,
  LEVEL_SLOTS,
  LEVELS,
  LOW,
  NEXT_DUE,
  NOT_LINKED,
  OPENED,
  PREV,
  RECORD_SHIFT,
  SLOTS,
  slotOf,
  startTickOf,
  TICK_LIMIT,
} from './wheel_layout.ts';

/** What a timer calls, once. Many timers may share one target. */
export interface TimerTarget {
  timerExpired(handle: number): void;
}

export interface TimerWheelOptions {
  /** Resolution, an integer >= 1; default 1. Deadlines are rounded up to it. */
  tickMs?: number;
  /** The present, in milliseconds on the clock that `arm` and `advance` use; >= 0. */
  nowMs: number;
  /** Timers armed at once; default and largest 2^24. */
  capacityMax?: number;
}

/** What `arm` gives for a deadline that never comes. Cancelling it gives false. */
export const NEVER_HANDLE = -1;

const CAPACITY_MAX = 2 ** 24;
const CAPACITY_MIN = 256;

// Timers that one advance moves to lower levels: bounded like those that it fires.
const MOVES_MIN = 1024;
const MOVES_PER_FIRE = 8;

export class TimerWheel {
  readonly #tickMs: number;
  readonly #capacityMax: number;
  #records: Int32Array;
  /** Apart from the records: firing walks it, and a smaller walk stays in the cache. */
  #nexts: Int32Array;
  #capacity: number;
  /** By record - FIRST_TIMER. */
  #targets: (TimerTarget | undefined)[] = [];
  /** Stack of freed records: a list through the records would make each arm wait for the last. */
  #freed: Int32Array;
  #freedCount = 0;
  /** Records from here on are free too. */
  #fresh = FIRST_TIMER;
  readonly #occupancy = new SlotOccupancy();
  /** First tick that is not due yet, and its halves. */
  #nextTick: number;
  #nextHigh: number;
  #nextLow: number;
  /** Level of the slot in OPENED, 0 when that is empty. */
  #openedLevel = 0;
  #armedCount = 0;
  #isAdvancing = false;

  /** @throws ERR_OUT_OF_RANGE */
  constructor({ tickMs = 1, nowMs, capacityMax = CAPACITY_MAX }: TimerWheelOptions) {
    if (!(Number.isInteger(tickMs) && tickMs >= 1 && tickMs <= HALF)) {
      throw outOfRange('tickMs', `an integer >= 1 and <= ${HALF}`, tickMs);
    }
    if (!(nowMs >= 0 && nowMs < TICK_LIMIT)) throw outOfRange('nowMs', '>= 0 and < 2^53', nowMs);
    if (!(Number.isInteger(capacityMax) && capacityMax >= 1 && capacityMax <= CAPACITY_MAX)) {
      throw outOfRange('capacityMax', `an integer >= 1 and <= ${CAPACITY_MAX}`, capacityMax);
    }
    this.#tickMs = tickMs;
    this.#capacityMax = capacityMax;
    this.#capacity = Math.min(CAPACITY_MIN, capacityMax);
    this.#records = new Int32Array((FIRST_TIMER + this.#capacity) << RECORD_SHIFT);
    this.#nexts = new Int32Array(FIRST_TIMER + this.#capacity);
    this.#freed = new Int32Array(this.#capacity);
    this.#emptyLists();
    this.#nextTick = this.#tickBefore(nowMs) + 1;
    this.#nextHigh = Math.floor(this.#nextTick / HALF);
    this.#nextLow = this.#nextTick - this.#nextHigh * HALF;
  }

  /** Timers that have neither fired nor been cancelled; those that never fire do not count. */
  get armedCount(): number {
    return this.#armedCount;
  }

  /**
   * Arms a timer for `deadlineMs`, absolute, on the clock of `advance`. A deadline that has passed
   * is due at the next advance; Infinity, or 2^53 ticks and more, never comes: NEVER_HANDLE.
   * @throws ERR_OUT_OF_RANGE for NaN; ERR_ENGINE_LIMIT when `capacityMax` timers are armed
   */
  arm(deadlineMs: number, target: TimerTarget): number {
    const tick = this.#tickMs === 1 ? Math.ceil(deadlineMs) : this.#tickAfter(deadlineMs);
    if (!(tick < TICK_LIMIT)) return neverHandle(deadlineMs);
    const record = this.#freedCount === 0 ? this.#freshRecord() : this.#freed[--this.#freedCount];
    this.#targets[record - FIRST_TIMER] = target;
    this.#armedCount++;
    const records = this.#records;
    const at = record << RECORD_SHIFT;
    let list = NEXT_DUE;
    if (tick >= this.#nextTick) {
      const high = (tick / HALF) | 0;
      const low = (tick - high * HALF) | 0;
      records[at + LOW] = low;
      records[at + HIGH] = high;
      list = this.#listOf(high, low);
    }
    this.#append(list, record);
    return records[at + GENERATION] * HANDLE_RECORDS + record;
  }

  /** Gives whether the timer was armed: false once it has fired or was cancelled. */
  cancel(handle: number): boolean {
    // The low bits of a number of up to 2^53; 0 for what is none.
    const record = handle & (HANDLE_RECORDS - 1);
    if (record < FIRST_TIMER || record >= this.#fresh) return false;
    const records = this.#records;
    const at = record << RECORD_SHIFT;
    if (records[at + GENERATION] * HANDLE_RECORDS + record !== handle) return false;
    if (records[at + PREV] === NOT_LINKED) return false;
    const next = this.#nexts[record];
    const prev = records[at + PREV];
    this.#nexts[prev] = next;
    records[(next << RECORD_SHIFT) + PREV] = prev;
    // Only a sentinel is its own neighbour on both sides.
    if (next === prev) this.#markEmpty(next);
    this.#free(record);
    return true;
  }

  /**
   * Fires what is due at `nowMs`, at most `fireCountMax`, in the order of their ticks and, within
   * one, in the order of arming. What a target arms for a tick that has begun waits for the next
   * call. Gives the number fired. More is due when `nextDeadlineMs() <= nowMs`, which may be so
   * also below `fireCountMax`: the timers that one call moves between levels are bounded too.
   * When a target throws, the others stay due. A call from inside a target does nothing.
   */
  advance(nowMs: number, fireCountMax: number): number {
    invariant(nowMs >= 0, 'the clock of a timer wheel is a number >= 0', nowMs);
    if (this.#isAdvancing) return 0;
    const endTick = Math.min(this.#tickBefore(nowMs), TICK_LIMIT - 2);
    let moveCount = MOVES_MIN + MOVES_PER_FIRE * fireCountMax;
    let firedCount = 0;
    this.#isAdvancing = true;
    try {
      this.#splice(NEXT_DUE, DUE);
      for (;;) {
        while (this.#nexts[DUE] !== DUE) {
          if (firedCount >= fireCountMax) return firedCount;
          firedCount++;
          this.#fireFirst();
        }
        if (this.#openedLevel !== 0) {
          moveCount = this.#spreadOpened(moveCount);
          if (this.#openedLevel !== 0) return firedCount;
        }
        const slot = this.#occupancy.first();
        const startTick = slot < 0 ? Infinity : startTickOf(slot, this.#nextHigh, this.#nextLow);
        if (startTick > endTick) break;
        if (slot < LEVEL_SLOTS) {
          this.#splice(slot, DUE);
          this.#moveTo(startTick + 1);
        } else {
          this.#moveTo(startTick);
        }
      }
      if (endTick >= this.#nextTick) this.#moveTo(endTick + 1);
      if (this.#openedLevel !== 0) this.#spreadOpened(moveCount);
    } finally {
      this.#isAdvancing = false;
    }
    return firedCount;
  }

  /**
   * When to call `advance` next: never later than the first deadline, earlier only if that is more
   * than a level away and shares its slot. Infinity when nothing is armed.
   */
  nextDeadlineMs(): number {
    const nexts = this.#nexts;
    const records = this.#records;
    const hasDue = nexts[DUE] !== DUE || nexts[NEXT_DUE] !== NEXT_DUE;
    if (hasDue) return (this.#nextTick - 1) * this.#tickMs;
    if (this.#openedLevel !== 0) return this.#nextTick * this.#tickMs;
    const slot = this.#occupancy.first();
    if (slot < 0) return Infinity;
    const only = nexts[slot];
    if (slot >= LEVEL_SLOTS && records[(slot << RECORD_SHIFT) + PREV] === only) {
      const isFar = slot >= FIRST_HIGH_SLOT;
      const high = isFar ? records[(only << RECORD_SHIFT) + HIGH] : this.#nextHigh;
      return (high * HALF + records[(only << RECORD_SHIFT) + LOW]) * this.#tickMs;
    }
    return startTickOf(slot, this.#nextHigh, this.#nextLow) * this.#tickMs;
  }

  /** Cancels all. */
  clear(): void {
    this.#emptyLists();
    this.#occupancy.clear();
    this.#openedLevel = 0;
    for (let record = FIRST_TIMER; record < this.#fresh; record++) {
      if (this.#records[(record << RECORD_SHIFT) + PREV] !== NOT_LINKED) this.#free(record);
    }
  }

  #emptyLists(): void {
    for (let list = 0; list < FIRST_TIMER; list++) {
      this.#nexts[list] = list;
      this.#records[(list << RECORD_SHIFT) + PREV] = list;
    }
  }

  // The neighbours of a multiple differ from it by more than half a unit in the last place of the
  // quotient, so neither is rounded to it; only what is next to 0 is.
  #tickAfter(timeMs: number): number {
    const tick = Math.ceil(timeMs / this.#tickMs);
    return tick === 0 && timeMs > 0 ? 1 : tick;
  }

  #tickBefore(timeMs: number): number {
    return Math.floor(timeMs / this.#tickMs);
  }

  #listOf(high: number, low: number): number {
    const slot = slotOf(high, low, this.#nextHigh, this.#nextLow);
    // Behind those of the slot that is being spread, or it would overtake them.
    return slot >> LEVEL_BITS < this.#openedLevel ? OPENED : slot;
  }

  #append(list: number, record: number): void {
    const nexts = this.#nexts;
    const records = this.#records;
    const at = record << RECORD_SHIFT;
    const last = records[(list << RECORD_SHIFT) + PREV];
    nexts[record] = list;
    records[at + PREV] = last;
    nexts[last] = record;
    records[(list << RECORD_SHIFT) + PREV] = record;
    if (last === list && list < SLOTS) this.#occupancy.add(list);
  }

  #markEmpty(list: number): void {
    if (list < SLOTS) this.#occupancy.delete(list);
    else if (list === OPENED) this.#openedLevel = 0;
  }

  /** Moves all of `from` to the end of `to`. */
  #splice(from: number, to: number): void {
    const nexts = this.#nexts;
    const records = this.#records;
    const fromAt = from << RECORD_SHIFT;
    const toAt = to << RECORD_SHIFT;
    const first = nexts[from];
    if (first === from) return;
    const last = records[fromAt + PREV];
    const before = records[toAt + PREV];
    nexts[before] = first;
    records[(first << RECORD_SHIFT) + PREV] = before;
    nexts[last] = to;
    records[toAt + PREV] = last;
    nexts[from] = from;
    records[fromAt + PREV] = from;
    this.#markEmpty(from);
  }

  #fireFirst(): void {
    const nexts = this.#nexts;
    const records = this.#records;
    const record = nexts[DUE];
    const at = record << RECORD_SHIFT;
    const next = nexts[record];
    nexts[DUE] = next;
    records[(next << RECORD_SHIFT) + PREV] = DUE;
    const handle = records[at + GENERATION] * HANDLE_RECORDS + record;
    const target = this.#targets[record - FIRST_TIMER];
    this.#free(record);
    target?.timerExpired(handle);
  }

  /** Puts the timers of the opened slot where they belong now; gives the moves that are left. */
  #spreadOpened(moveCountMax: number): number {
    const nexts = this.#nexts;
    const records = this.#records;
    const level = this.#openedLevel;
    // While they are moved they are not behind themselves.
    this.#openedLevel = 0;
    let moveCount = moveCountMax;
    let record = nexts[OPENED];
    for (; record !== OPENED && moveCount > 0; moveCount--) {
      const next = nexts[record];
      const high = level < HALF_LEVELS ? this.#nextHigh : records[(record << RECORD_SHIFT) + HIGH];
      const list = this.#listOf(high, records[(record << RECORD_SHIFT) + LOW]);
      this.#append(list, record);
      record = next;
    }
    nexts[OPENED] = record;
    records[(record << RECORD_SHIFT) + PREV] = OPENED;
    if (record !== OPENED) this.#openedLevel = level;
    return moveCount;
  }

  /** All before `tick` has been taken from its slots. Opens the slot that begins there, if any. */
  #moveTo(tick: number): void {
    this.#nextTick = tick;
    this.#nextHigh = Math.floor(tick / HALF);
    this.#nextLow = tick - this.#nextHigh * HALF;
    if ((this.#nextLow & DIGIT) !== 0) return;
    // At most one level has it: those below hold nothing of a block that has just begun.
    for (let level = 1; level < LEVELS; level++) {
      const half = level < HALF_LEVELS ? this.#nextLow : this.#nextHigh;
      const digit = (half >>> ((level % HALF_LEVELS) * LEVEL_BITS)) & DIGIT;
      const slot = level * LEVEL_SLOTS + digit;
      if (this.#nexts[slot] !== slot) {
        this.#splice(slot, OPENED);
        this.#openedLevel = level;
        return;
      }
      if (digit !== 0) return;
    }
  }

  #freshRecord(): number {
    for (;;) {
      if (this.#fresh - FIRST_TIMER === this.#capacity) this.#grow();
      const record = this.#fresh++;
      // A record that has used up its generations is never given out again.
      if (this.#records[(record << RECORD_SHIFT) + GENERATION] < GENERATION_MAX) return record;
    }
  }

  #grow(): void {
    if (this.#capacity === this.#capacityMax) {
      const what = `timers: at most ${this.#capacityMax} may be armed at once`;
      throw new NephriteError('ERR_ENGINE_LIMIT', what);
    }
    this.#capacity = Math.min(this.#capacity * 2, this.#capacityMax);
    const records = new Int32Array((FIRST_TIMER + this.#capacity) << RECORD_SHIFT);
    records.set(this.#records);
    this.#records = records;
    const nexts = new Int32Array(FIRST_TIMER + this.#capacity);
    nexts.set(this.#nexts);
    this.#nexts = nexts;
    const freed = new Int32Array(this.#capacity);
    freed.set(this.#freed);
    this.#freed = freed;
  }

  #free(record: number): void {
    const records = this.#records;
    const at = record << RECORD_SHIFT;
    this.#targets[record - FIRST_TIMER] = undefined;
    records[at + PREV] = NOT_LINKED;
    const generation = records[at + GENERATION] + 1;
    records[at + GENERATION] = generation;
    if (--this.#armedCount === 0) {
      // From the start again: freed at random, records would be given out at random too.
      this.#freedCount = 0;
      this.#fresh = FIRST_TIMER;
    } else if (generation < GENERATION_MAX) {
      this.#freed[this.#freedCount++] = record;
    }
  }
}

function neverHandle(deadlineMs: number): number {
  if (Number.isNaN(deadlineMs)) throw outOfRange('deadlineMs', 'a number', deadlineMs);
  return NEVER_HANDLE;
}
