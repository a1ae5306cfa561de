// Hostile bodies and listeners: what they throw harms themselves and nobody else.
// Not here: cancellation that is survived a few times (survivors.test.ts).
import { describe, expect, it } from 'vitest';
import { operationOwner } from '../../lib/base/operation_owner.ts';
import {
  checkpoint,
  Runtime,
  type StallEvent,
  scope,
  sleep,
  spawn,
  type TaskGenerator,
  waitToken,
} from '../../lib/index.ts';
import type { Task } from '../../lib/task/task.ts';
import { tick, until, useLab } from './lab.ts';

const lab = useLab();

describe('hostile: nobody else is harmed', () => {
  it('an error that throws when it is looked at ends its own task', async () => {
    const hostile = new Proxy(new Error('x'), {
      getPrototypeOf() {
        throw new Error('trap');
      },
    });
    const task = lab.rt.spawn(function* () {
      yield* checkpoint();
      throw hostile;
    });
    expect((await task.settled()).status).toBe('failure');
    expect(operationOwner.current).toBeUndefined();
  });

  it('a late value whose disposal throws: the cancelled task ends, the failure is reported', async () => {
    const reported: unknown[] = [];
    const listen = (error: unknown): number => reported.push(error);
    process.on('unhandledRejection', listen);
    const token = waitToken<object>();
    const broken = new Error('dispose');
    const task = lab.rt.spawn(function* () {
      yield* token.wait();
    });
    await until(() => token.waitingCount === 1);
    task.cancel();
    token.wake({
      [Symbol.dispose]() {
        throw broken;
      },
    });
    expect((await task.settled()).status).toBe('cancelled');
    await tick();
    process.off('unhandledRejection', listen);
    expect(operationOwner.current).toBeUndefined();
  });

  it('a body that survives for ever is left with a trap that says so', async () => {
    let rounds = 0;
    const task = lab.rt.spawn(function* stubborn() {
      for (;;) {
        try {
          yield* sleep(100_000);
        } finally {
          rounds++;
          // biome-ignore lint/correctness/noUnsafeFinally: what is tested.
          if (rounds > 0) continue;
        }
      }
    });
    await until(() => task.state === 'waiting');
    task.cancel();
    const outcome = await task.settled();
    expect(outcome).toMatchObject({ status: 'trap', info: { kind: 'limit' } });
    expect(rounds).toBe(10_000);
  });

  it('a listener of stalls that throws or spawns is not the task’s code', async () => {
    const events: StallEvent[] = [];
    const thrown: unknown[] = [];
    const listen = (error: unknown): number => thrown.push(error);
    process.on('uncaughtException', listen);
    const rt = await Runtime.start({
      tasks: { stallMs: 20 },
      onStall: (event) => {
        events.push(event);
        throw new Error('listener broke');
      },
    });
    const value = await rt.run(function* slow() {
      const endMs = performance.now() + 60;
      while (performance.now() < endMs);
      for (let i = 0; i < 100; i++) yield* checkpoint();
      return 'whole';
    });
    await until(() => events.length > 0 && thrown.length > 0);
    process.off('uncaughtException', listen);
    expect(value).toBe('whole');
    expect(events[0].tasks.join()).toContain('slow');
    await rt.close();
  });
});

describe('a joined child that runs inside its parent’s slice', () => {
  it('leaves no trace in counts: dumps, reductions, cancellation', async () => {
    let seen: readonly string[] = [];
    const parent: Task<unknown> = lab.rt.spawn(function* parent() {
      yield* spawn(function* child() {
        seen = lab.rt.dump().map((task) => `${task.name} ${task.state}`);
        yield* checkpoint();
      }).join();
      for (let i = 0; i < 100; i++) {
        yield* spawn(function* () {
          const endMs = performance.now() + 1.5;
          while (performance.now() < endMs) yield* checkpoint();
        }).join();
      }
    });
    await parent.join();
    expect(seen).toEqual(['parent waiting', 'child running']);
    expect(parent.reductions).toBeGreaterThan(0);
  });

  it('does not overtake a task that was woken', async () => {
    const order: string[] = [];
    const token = waitToken<void>();
    await lab.rt.run(function* () {
      const waiter = spawn(function* () {
        yield* token.wait();
        order.push('woken');
      });
      while (token.waitingCount === 0) yield* checkpoint(4000);
      const child = spawn(() => order.push('child'));
      token.wake();
      yield* child.join();
      yield* waiter.join();
    });
    expect(order).toEqual(['woken', 'child']);
  });

  it('two thousand nested scopes are cancelled without filling the stack', async () => {
    let entered = 0;
    function* nested(depth: number): TaskGenerator<void> {
      entered++;
      if (depth === 0) yield* sleep(100_000);
      else yield* scope(() => nested(depth - 1));
    }
    const task = lab.rt.spawn(nested, 2000);
    await until(() => entered === 2001);
    expect(task.cancel()).toBe(true);
    expect((await task.settled()).status).toBe('cancelled');
  });
});
