// An actor built above the core (seed 1, 2.3 and S-17): a task, its state, a mailbox and
// supervision, from channel, waitToken and task outcomes alone. The scheduler knows nothing of it.
// Not here: channels and tokens by themselves (test/unit/sync).
import { describe, expect, it } from 'vitest';
import {
  type Channel,
  channel,
  current,
  sleep,
  spawn,
  type Task,
  TaskCancelledError,
  type TaskGenerator,
  type WaitToken,
  waitToken,
} from '../../lib/index.ts';
import { useLab } from './lab.ts';

const lab = useLab();

type Message =
  | { readonly kind: 'add'; readonly amount: number }
  | { readonly kind: 'read'; readonly answer: WaitToken<number> }
  | { readonly kind: 'crash' };

/** Where others send to; survives the incarnations of the actor. */
class Counter {
  readonly mailbox: Channel<Message> = channel<Message>(16);
  readonly incarnations: Task<void>[] = [];

  *run(): TaskGenerator<void> {
    let total = 0;
    for (;;) {
      const received = yield* this.mailbox.receiveOrClosed();
      if (received.done) return;
      const message = received.value;
      if (message.kind === 'crash') throw new Error('crashed');
      if (message.kind === 'add') total += message.amount;
      else message.answer.wake(total);
    }
  }

  /** Asks, as others do: a token in the message, and a wait for it. */
  *read(): TaskGenerator<number> {
    const answer = waitToken<number>();
    yield* this.mailbox.send({ kind: 'read', answer });
    return yield* answer.wait();
  }
}

/** One for one: starts the actor again when it fails, so many times; then it fails itself. */
function* supervise(counter: Counter, restartsMax: number): TaskGenerator<string> {
  for (let restarts = 0; ; restarts++) {
    const actor = spawn(() => counter.run());
    counter.incarnations.push(actor);
    const outcome = yield* actor.settled();
    if (outcome.status === 'success') return 'stopped';
    if (outcome.status === 'failure' && restarts < restartsMax) continue;
    throw new Error(`gave up after ${restarts} restarts`, { cause: actor.outcome });
  }
}

describe('an actor from tasks, channels and tokens', () => {
  it('keeps its state between messages, answers, and stops when its mailbox is closed', async () => {
    const counter = new Counter();
    const supervisor = lab.rt.spawn(supervise, counter, 3);
    const seen = await lab.rt.run(function* () {
      for (let amount = 1; amount <= 100; amount++) {
        yield* counter.mailbox.send({ kind: 'add', amount });
      }
      return yield* counter.read();
    });
    counter.mailbox.close();
    expect([seen, await supervisor.join()]).toEqual([5050, 'stopped']);
    expect(counter.incarnations).toHaveLength(1);
  });

  it('is started again after a failure, with fresh state and the same mailbox', async () => {
    const counter = new Counter();
    const supervisor = lab.rt.spawn(supervise, counter, 3);
    const seen = await lab.rt.run(function* () {
      yield* counter.mailbox.send({ kind: 'add', amount: 7 });
      yield* counter.mailbox.send({ kind: 'crash' });
      // Sent while nobody listens; the next incarnation gets them.
      yield* counter.mailbox.send({ kind: 'add', amount: 2 });
      return yield* counter.read();
    });
    counter.mailbox.close();
    expect([seen, await supervisor.join()]).toEqual([2, 'stopped']);
    expect(counter.incarnations.map((task) => task.outcome?.status)).toEqual([
      'failure',
      'success',
    ]);
    expect(lab.unhandled).toEqual([]);
  });

  it('that fails again and again takes its supervisor with it, with the cause', async () => {
    const counter = new Counter();
    const supervisor = lab.rt.spawn(supervise, counter, 2);
    for (let i = 0; i < 3; i++) await counter.mailbox.send({ kind: 'crash' });
    await expect(supervisor.join()).rejects.toMatchObject({
      message: 'gave up after 2 restarts',
      cause: { status: 'failure', error: { message: 'crashed' } },
    });
    expect(counter.incarnations).toHaveLength(3);
  });

  it('ends with its supervisor: nothing is left to wait for', async () => {
    const counter = new Counter();
    const supervisor = lab.rt.spawn(function* () {
      const actor = spawn(() => counter.run());
      counter.incarnations.push(actor);
      try {
        yield* sleep(100_000);
      } finally {
        actor.cancel(current().name);
        yield* actor.settled();
      }
    });
    await lab.rt.run(() => counter.read());
    supervisor.cancel('enough');
    await expect(supervisor.join()).rejects.toBeInstanceOf(TaskCancelledError);
    expect(counter.incarnations[0].outcome?.status).toBe('cancelled');
  });
});
