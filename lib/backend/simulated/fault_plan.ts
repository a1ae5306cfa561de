// Fault plan: what the simulation does to each operation, drawn from a seed or taken from a trace.
// Owner: one simulated backend. Invariants: the decision for the n-th entry depends on the seed, n,
// the entry's opcode and length only, never on time or on how other entries went.
// Not here: carrying a decision out (simulated_backend.ts).
import * as abi from '../../abi/layout.ts';
import { errnoOf, findErrno } from '../../base/errno.ts';
import { invalidArgValue, outOfRange } from '../../base/errors.ts';
import { Prng } from '../../base/prng.ts';
import { OPCODES, type OpcodeName, opcodeName } from './opcode_names.ts';
import type { Decision, SimulationTrace } from './simulation_trace.ts';

/** From (included) to (included), virtual nanoseconds. */
export type DelayRangeNs = readonly [number, number];

export interface SimulatedFaults {
  /** How often an operation fails with one of `errors`: 0 (default) to 1. */
  readonly errorChance?: number;
  /** Names of the errors that an opcode may get, default TYPICAL_ERRORS. None: it never fails. */
  readonly errors?: Readonly<Partial<Record<OpcodeName, readonly string[]>>>;
  /** How often a READ is asked for fewer bytes than the entry says: 0 (default) to 1. */
  readonly shortReadChance?: number;
  /** The same of a WRITE. */
  readonly shortWriteChance?: number;
  /** Virtual time from the entry until the operation takes effect; default 1 to 100 us. */
  readonly effectDelayNs?: DelayRangeNs;
  /** Virtual time from the effect until the completion; default 0 to 20 us. */
  readonly completionDelayNs?: DelayRangeNs;
  /** True (default): what happens at the same virtual time happens in an order of the seed. */
  readonly reorder?: boolean;
}

/**
 * What an operating system gives in trouble that no test can make at will. EAGAIN is not in here:
 * it is right only for descriptors opened with O_NONBLOCK.
 */
export const TYPICAL_ERRORS: Readonly<Partial<Record<OpcodeName, readonly string[]>>> = {
  read: ['EIO', 'ENOMEM'],
  write: ['ENOSPC', 'EIO', 'EDQUOT'],
  sync: ['EIO', 'ENOSPC'],
  open: ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO'],
  close: ['EIO'],
  stat: ['ENOMEM', 'EIO'],
  rename: ['ENOSPC', 'EIO'],
  unlink: ['EIO'],
  mkdir: ['ENOSPC', 'EMLINK', 'EIO'],
  link: ['ENOSPC', 'EMLINK', 'EIO'],
  symlink: ['ENOSPC', 'EIO'],
  readlink: ['EIO'],
  truncate: ['EIO'],
  readdir: ['EIO', 'ENOMEM'],
  realpath: ['EIO'],
  copyRange: ['ENOSPC', 'EIO'],
  allocate: ['ENOSPC', 'EIO'],
};

const EFFECT_DELAY_DEFAULT_NS: DelayRangeNs = [1_000, 100_000];
const COMPLETION_DELAY_DEFAULT_NS: DelayRangeNs = [0, 20_000];

export class FaultPlan {
  readonly seed: number;
  readonly #faults: Required<Omit<SimulatedFaults, 'errors'>>;
  readonly #errnosByOpcode: ReadonlyMap<number, readonly number[]>;
  readonly #replay: SimulationTrace | null;
  #sequence = 0;

  /** @throws TypeError, RangeError for values that make no sense, before anything is simulated */
  constructor(seed: number, faults: SimulatedFaults = {}, replay: SimulationTrace | null = null) {
    if (!Number.isSafeInteger(seed)) throw outOfRange('seed', 'a safe integer', seed);
    this.seed = seed;
    this.#faults = {
      errorChance: checkChance('errorChance', faults.errorChance ?? 0),
      shortReadChance: checkChance('shortReadChance', faults.shortReadChance ?? 0),
      shortWriteChance: checkChance('shortWriteChance', faults.shortWriteChance ?? 0),
      effectDelayNs: checkRange('effectDelayNs', faults.effectDelayNs ?? EFFECT_DELAY_DEFAULT_NS),
      completionDelayNs: checkRange(
        'completionDelayNs',
        faults.completionDelayNs ?? COMPLETION_DELAY_DEFAULT_NS,
      ),
      reorder: faults.reorder ?? true,
    };
    this.#errnosByOpcode = resolveErrors(faults.errors ?? TYPICAL_ERRORS);
    this.#replay = replay;
  }

  /** The decision for the next entry. A trace wins over the seed as long as it fits. */
  decide(slot: number, opcode: number, bufferBytes: number): Decision {
    const sequence = this.#sequence++;
    const name = opcodeName(opcode);
    const recorded = this.#replay?.decisions[sequence];
    if (recorded !== undefined && recorded.opcode === name && recorded.slot === slot) {
      return recorded;
    }
    // A generator of its own for each entry, and always the same draws: what one entry is does not
    // shift the fate of those after it.
    const prng = new Prng(this.seed, sequence);
    const failDraw = prng.nextFraction();
    const errorDraw = prng.nextFraction();
    const shortDraw = prng.nextFraction();
    const lengthDraw = prng.nextFraction();
    const effectDelayNs = inRange(this.#faults.effectDelayNs, prng.nextFraction());
    const completionDelayNs = inRange(this.#faults.completionDelayNs, prng.nextFraction());
    const orderKey = prng.nextWord();
    const errnos = this.#errnosByOpcode.get(opcode) ?? [];
    const fails = errnos.length > 0 && failDraw < this.#faults.errorChance;
    const isShort = bufferBytes > 1 && shortDraw < this.#shortChance(opcode);
    return {
      slot,
      opcode: name,
      errno: fails ? errnos[Math.floor(errorDraw * errnos.length)] : 0,
      bytesMax: isShort ? 1 + Math.floor(lengthDraw * (bufferBytes - 1)) : null,
      effectDelayNs,
      completionDelayNs,
      orderKey: this.#faults.reorder ? orderKey : 0,
    };
  }

  #shortChance(opcode: number): number {
    if (opcode === abi.OP_READ) return this.#faults.shortReadChance;
    return opcode === abi.OP_WRITE ? this.#faults.shortWriteChance : 0;
  }
}

function inRange([from, to]: DelayRangeNs, fraction: number): number {
  return from + Math.floor(fraction * (to - from + 1));
}

function checkChance(name: string, value: number): number {
  if (!(value >= 0 && value <= 1)) throw outOfRange(name, '>= 0 && <= 1', value);
  return value;
}

function checkRange(name: string, range: DelayRangeNs): DelayRangeNs {
  const [from, to] = range;
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || to < from) {
    throw invalidArgValue(name, String(range), 'must be [from, to] with 0 <= from <= to');
  }
  return range;
}

function resolveErrors(
  errors: Readonly<Partial<Record<OpcodeName, readonly string[]>>>,
): ReadonlyMap<number, readonly number[]> {
  const resolved = new Map<number, readonly number[]>();
  for (const [opcode, names] of Object.entries(errors)) {
    if (!Object.hasOwn(OPCODES, opcode)) {
      throw invalidArgValue('errors', opcode, `must name operations (${Object.keys(OPCODES)})`);
    }
    // A typical error may have no number on this platform (EDQUOT on some): it is left out.
    const known = names.filter(
      (name) => errors !== TYPICAL_ERRORS || findErrno(name) !== undefined,
    );
    resolved.set(OPCODES[opcode as OpcodeName], known.map(resolveError));
  }
  return resolved;
}

function resolveError(name: string): number {
  // Backends repeat an interrupted call themselves: the contract knows no EINTR.
  if (name === 'EINTR' || findErrno(name) === undefined) {
    throw invalidArgValue('errors', name, 'must be the name of an error that a backend can give');
  }
  return errnoOf(name);
}
