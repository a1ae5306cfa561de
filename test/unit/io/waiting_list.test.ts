// The waiting list against an array: order, removal from any place, a start that refuses, that
// settles, or that submits again. Not here: when operations wait (io_thread.test.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IoOperation } from '../../../lib/io/io_operation.ts';
import type { IoThread } from '../../../lib/io/io_thread.ts';
import { WaitingList } from '../../../lib/io/waiting_list.ts';
import { SEED } from '../../support/seed.ts';

class Waiter extends IoOperation<void> {
  readonly name: number;
  constructor(name: number) {
    // The list never looks at the thread.
    super(undefined as unknown as IoThread);
    this.name = name;
  }
  encode(): void {}
  completed(): void {}
}

const names = (list: WaitingList): number[] => {
  const found: number[] = [];
  const taken: Waiter[] = [];
  for (let head = list.shift(); head !== undefined; head = list.shift()) taken.push(head as Waiter);
  for (const waiter of taken) {
    found.push(waiter.name);
    list.push(waiter);
  }
  return found;
};

describe('waiting list', () => {
  it('random pushes, removals and drains agree with an array', () => {
    const step = fc.oneof(
      fc.constant({ push: true }),
      fc.constant({ unshift: true }),
      fc.record({ remove: fc.nat() }),
      fc.record({ drain: fc.nat({ max: 5 }) }),
      fc.record({ removeAll: fc.integer({ min: 2, max: 5 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const list = new WaitingList();
        const model: Waiter[] = [];
        let serial = 0;
        for (const action of steps) {
          if ('push' in action) {
            model.push(new Waiter(serial++));
            list.push(model.at(-1) as Waiter);
          } else if ('unshift' in action) {
            model.unshift(new Waiter(serial++));
            list.unshift(model[0] as Waiter);
          } else if ('remove' in action) {
            const [removed] = model.splice(action.remove % Math.max(model.length, 1), 1);
            if (removed !== undefined) list.remove(removed);
          } else if ('removeAll' in action) {
            const matches = (waiter: IoOperation<unknown>): boolean =>
              (waiter as Waiter).name % action.removeAll === 0;
            const expected = model.filter(matches);
            const removed = list.removeAll(matches) as Waiter[];
            expect(removed.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
            for (const waiter of expected) model.splice(model.indexOf(waiter), 1);
          } else {
            let left = action.drain;
            list.drain(() => left-- > 0);
            model.splice(0, action.drain);
          }
          expect(list.isEmpty).toBe(model.length === 0);
          expect(names(list)).toEqual(model.map(({ name }) => name));
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('drain: one that is refused keeps its place, one that starts may wait again at once', () => {
    const list = new WaitingList();
    const all = [0, 1, 2, 3].map((name) => new Waiter(name));
    for (const waiter of all) list.push(waiter);
    const started: number[] = [];
    list.drain((waiter) => {
      const { name } = waiter as Waiter;
      if (name === 2) return false;
      started.push(name);
      if (name === 0) list.push(waiter);
      return true;
    });
    expect(started).toEqual([0, 1]);
    expect(names(list)).toEqual([2, 3, 0]);
  });

  it('an operation waits in one list only', () => {
    const waiter = new Waiter(1);
    new WaitingList().push(waiter);
    expect(() => new WaitingList().push(waiter)).toThrow(/waits once/);
  });
});
