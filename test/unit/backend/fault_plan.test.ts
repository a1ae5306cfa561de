// The fault plan: options that make no sense are refused by name, decisions depend on the seed, the
// place and the entry only.
// Not here: that decisions are carried out (test/conformance/backend_simulated).
import { describe, expect, it } from 'vitest';
import * as abi from '../../../lib/abi/layout.ts';
import { FaultPlan, type SimulatedFaults } from '../../../lib/backend/simulated/fault_plan.ts';
import { OPCODES, opcodeName } from '../../../lib/backend/simulated/opcode_names.ts';
import { DECISIONS_MAX, TraceRecorder } from '../../../lib/backend/simulated/simulation_trace.ts';
import { errnoOf } from '../../../lib/base/errno.ts';

describe('fault plan', () => {
  it.each<[string, SimulatedFaults]>([
    ['errorChance', { errorChance: 1.1 }],
    ['errorChance', { errorChance: Number.NaN }],
    ['shortReadChance', { shortReadChance: -0.1 }],
    ['shortWriteChance', { shortWriteChance: 2 }],
    ['effectDelayNs', { effectDelayNs: [-1, 5] }],
    ['completionDelayNs', { completionDelayNs: [5, 4] }],
    ['completionDelayNs', { completionDelayNs: [0.5, 4] }],
    ['EINTR', { errors: { read: ['EINTR'] } }],
    ['ENOSUCHNAME', { errors: { read: ['ENOSUCHNAME'] } }],
    ['reed', { errors: { reed: ['EIO'] } as SimulatedFaults['errors'] }],
  ])('fault plan: refuses a bad %s', (name, faults) => {
    expect(() => new FaultPlan(1, faults)).toThrow(name);
  });

  it('fault plan: refuses a seed that is not a whole number', () => {
    for (const seed of [0.5, Number.NaN, 2 ** 60]) {
      expect(() => new FaultPlan(seed)).toThrow('seed');
    }
  });

  it('fault plan: the n-th decision does not depend on what came before', () => {
    const faults: SimulatedFaults = { errorChance: 0.5, shortReadChance: 0.5 };
    const [first, second] = [new FaultPlan(9, faults), new FaultPlan(9, faults)];
    for (let n = 0; n < 20; n++) {
      first.decide(n, abi.OP_STAT, 0);
      second.decide(0, abi.OP_WRITE, n * 100);
    }
    expect(first.decide(3, abi.OP_READ, 4096)).toEqual(second.decide(3, abi.OP_READ, 4096));
  });

  it('fault plan: every typical error can be drawn, and nothing else', () => {
    const plan = new FaultPlan(1, { errorChance: 1, errors: { write: ['ENOSPC', 'EIO'] } });
    const drawn = new Set<number>();
    for (let n = 0; n < 100; n++) drawn.add(plan.decide(0, abi.OP_WRITE, 10).errno);
    expect([...drawn].sort()).toEqual([errnoOf('ENOSPC'), errnoOf('EIO')].sort());
    expect(plan.decide(0, abi.OP_READ, 10).errno).toBe(0);
  });

  it('fault plan: short lengths lie between one byte and one less than asked', () => {
    const plan = new FaultPlan(1, { shortReadChance: 1 });
    const lengths = Array.from({ length: 200 }, () => plan.decide(0, abi.OP_READ, 4).bytesMax);
    expect([...new Set(lengths)].sort()).toEqual([1, 2, 3]);
    expect(plan.decide(0, abi.OP_READ, 1).bytesMax).toBeNull();
    expect(plan.decide(0, abi.OP_WRITE, 100).bytesMax).toBeNull();
  });

  it('fault plan: without reorder ties are left to the order of entries', () => {
    const plan = new FaultPlan(1, { reorder: false });
    expect(plan.decide(0, abi.OP_NOP, 0).orderKey).toBe(0);
  });

  it('opcode names: one per opcode of the layout, at its number', () => {
    expect(Object.values(OPCODES)).toEqual(Array.from({ length: abi.OP_COUNT }, (_, n) => n));
    expect(opcodeName(abi.OP_COPY_RANGE)).toBe('copyRange');
  });

  it('trace: keeps a bounded number of decisions and counts the others', () => {
    const plan = new FaultPlan(1);
    const decision = plan.decide(0, abi.OP_NOP, 0);
    const recorder = new TraceRecorder(1);
    for (let n = 0; n < DECISIONS_MAX + 3; n++) recorder.record(decision);
    const trace = recorder.snapshot();
    expect([trace.decisions.length, trace.droppedCount]).toEqual([DECISIONS_MAX, 3]);
  });
});
