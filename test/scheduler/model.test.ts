// Model of tasks: random programs of spawn, join, sleep, checkpoint, cancel, throw, send and
// receive, run on the real runtime and on the test runtime, against a reference that knows the
// rules only: which outcome follows from the program and from who was cancelled, and what must
// happen before what. fast-check shrinks what fails and prints the seed. Not here: orders beyond
// those (fairness).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Channel,
  channel,
  checkpoint,
  current,
  Runtime,
  sleep,
  spawn,
  type Task,
  TaskCancelledError,
} from '../../lib/index.ts';
import type { Outcome } from '../../lib/task/outcome.ts';
import type { TaskGenerator } from '../../lib/task/task_body.ts';
import { createTestRuntime } from '../../lib/testing.ts';
import { describeSeed, SEED } from '../support/seed.ts';
import { armedTimers, tick } from './lab.ts';

type Step =
  | { readonly do: 'sleep' | 'checkpoint' | 'ready' | 'throw' | 'cancelSelf' }
  | { readonly do: 'spawn'; readonly program: Program }
  | { readonly do: 'join' | 'settled' | 'cancel'; readonly child: number }
  | { readonly do: 'send' | 'receive'; readonly channel: number };
interface Program {
  readonly steps: readonly Step[];
}

const CHANNELS = 2;
const { program: programs } = fc.letrec<{ program: Program; step: Step }>((tie) => ({
  program: fc.record({ steps: fc.array(tie('step'), { maxLength: 8 }) }),
  step: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<Step>({ do: 'checkpoint' }, { do: 'sleep' }, { do: 'ready' }),
    fc.constantFrom<Step>({ do: 'sleep' }, { do: 'throw' }, { do: 'cancelSelf' }),
    fc.record({
      do: fc.constantFrom('join' as const, 'settled' as const, 'cancel' as const),
      child: fc.nat(3),
    }),
    fc.record({
      do: fc.constantFrom('send' as const, 'receive' as const),
      channel: fc.nat(CHANNELS - 1),
    }),
    fc.record({ do: fc.constant('spawn' as const), program: tie('program') }),
  ),
}));

class OwnError extends Error {}

/** What was seen of one task. */
interface Seen {
  readonly program: Program;
  readonly children: Seen[];
  task: Task<unknown> | undefined;
  readonly spawnedAt: number;
  startedAt: number;
  /** Steps that were finished. */
  done: number;
  endedAt: number;
  finallyRuns: number;
  /** A cancel() that said true. */
  isCancelled: boolean;
  /** The channel was closed under it. */
  isClosedOut: boolean;
  error: OwnError | undefined;
  told: number;
}

class Run {
  readonly rt: Runtime;
  readonly all: Seen[] = [];
  readonly channels: Channel<number>[];
  readonly sent: number[][];
  readonly received: number[][];
  readonly broken: string[] = [];
  #time = 0;
  #lastMessage = 0;

  constructor(rt: Runtime) {
    this.rt = rt;
    this.channels = Array.from({ length: CHANNELS }, (_, index) => channel<number>(index));
    this.sent = this.channels.map(() => []);
    this.received = this.channels.map(() => []);
  }

  start(program: Program, how: typeof spawn): Seen {
    const seen: Seen = {
      program,
      children: [],
      task: undefined,
      spawnedAt: this.#time++,
      startedAt: -1,
      done: 0,
      endedAt: -1,
      finallyRuns: 0,
      isCancelled: false,
      isClosedOut: false,
      error: undefined,
      told: 0,
    };
    this.all.push(seen);
    const task = how(() => this.#body(seen));
    seen.task = task;
    task.settled().then(() => seen.told++);
    return seen;
  }

  *#body(seen: Seen): TaskGenerator<string> {
    seen.startedAt = this.#time++;
    try {
      for (const step of seen.program.steps) {
        yield* this.#step(seen, step);
        seen.done++;
      }
      return 'value';
    } finally {
      seen.finallyRuns++;
      yield* sleep(0);
      seen.endedAt = this.#time++;
    }
  }

  *#step(seen: Seen, step: Step): TaskGenerator<void> {
    if (step.do === 'sleep') yield* sleep(0);
    else if (step.do === 'checkpoint') yield* checkpoint(5000);
    else if (step.do === 'ready') yield* spawn(() => 1).join();
    else if (step.do === 'cancelSelf') seen.isCancelled ||= current().cancel();
    else if (step.do === 'spawn') seen.children.push(this.start(step.program, spawn));
    else if (step.do === 'throw') {
      seen.error = new OwnError('own');
      throw seen.error;
    } else if ('channel' in step) yield* this.#pass(seen, step);
    else if ('child' in step) yield* this.#family(seen, step);
  }

  *#family(seen: Seen, step: Step & { readonly child: number }): TaskGenerator<void> {
    const child = seen.children.at(step.child);
    if (child?.task === undefined) return;
    if (step.do === 'cancel') {
      if (child.task.cancel(child.spawnedAt)) child.isCancelled = true;
      return;
    }
    if (step.do === 'join') yield* child.task.join();
    else yield* child.task.settled();
    if (child.startedAt >= 0 && child.finallyRuns === 0) this.broken.push('joined before its end');
  }

  *#pass(seen: Seen, step: Step & { readonly channel: number }): TaskGenerator<void> {
    const { channel: index } = step;
    try {
      if (step.do === 'send') {
        const message = ++this.#lastMessage;
        this.sent[index].push(message);
        yield* this.channels[index].send(message);
      } else {
        const message = yield* this.channels[index].receive();
        if (!this.sent[index].includes(message)) this.broken.push('received before it was sent');
        this.received[index].push(message);
      }
    } catch (error) {
      seen.isClosedOut = true;
      throw error;
    }
  }

  /** Until nothing is left. Who waits for a message that will never come is told so. */
  async finish(): Promise<void> {
    for (let stuckTurns = 0, turns = 0; this.rt.dump().length > 0; turns++) {
      await tick();
      const isStuck = this.rt.metrics().runnableTasks === 0 && armedTimers(this.rt) === 0;
      stuckTurns = isStuck ? stuckTurns + 1 : 0;
      if (stuckTurns > 3) for (const one of this.channels) one.close();
      if (turns > 20_000) throw new Error(`stuck: ${JSON.stringify(this.rt.dump())}`);
    }
    await tick();
  }
}

/** The reference: what the outcome may be. */
function allowed(seen: Seen): Outcome<unknown>['status'][] {
  const step = seen.program.steps[seen.done];
  const joined = step?.do === 'join' ? seen.children.at(step.child) : undefined;
  const isThrown = seen.error !== undefined || seen.isClosedOut;
  const isJoinFailed = joined?.task?.outcome !== undefined && !isSuccess(joined);
  if (!seen.isCancelled) return isThrown || isJoinFailed ? ['failure'] : ['success'];
  // A throw before the request is delivered is a failure, unless `finally` waits on the way: there
  // the request is delivered, and a return takes the place of the throw.
  return isThrown || isJoinFailed ? ['failure', 'cancelled'] : ['cancelled'];
}

const isSuccess = (seen: Seen): boolean => seen.task?.outcome?.status === 'success';

function check(run: Run): void {
  expect(run.broken).toEqual([]);
  for (const seen of run.all) {
    const { task } = seen;
    const outcome = task?.outcome;
    expect(allowed(seen)).toContain(outcome?.status);
    expect(seen.told, 'told once').toBe(1);
    const isStarted = seen.startedAt >= 0;
    expect(seen.finallyRuns, '`finally` once').toBe(isStarted ? 1 : 0);
    if (isStarted) expect(seen.startedAt).toBeGreaterThan(seen.spawnedAt);
    const isCut = seen.done < seen.program.steps.length;
    const isCutInside = isCut && !allowed(seen).includes('failure');
    // A request that is not delivered before `finally` is entered is delivered at its first wait.
    if (isStarted && (isCutInside || !seen.isCancelled)) {
      expect(seen.endedAt, '`finally` to its end').toBeGreaterThan(seen.startedAt);
    }
    if (outcome?.status === 'success') expect(seen.done).toBe(seen.program.steps.length);
    if (outcome?.status === 'failure') checkFailure(seen, outcome.error);
    expect(task?.cancellationRequested).toBe(seen.isCancelled);
    expect(task?.cancel()).toBe(false);
  }
  for (const [index, received] of run.received.entries()) {
    const sent = run.sent[index];
    expect(received.every((message) => sent.includes(message))).toBe(true);
    expect(new Set(received).size, 'no message twice').toBe(received.length);
  }
}

function checkFailure(seen: Seen, error: unknown): void {
  if (seen.error !== undefined) {
    expect(error).toBe(seen.error);
    return;
  }
  const step = seen.program.steps[seen.done];
  const joined = step?.do === 'join' ? seen.children.at(step.child) : undefined;
  const outcome = joined?.task?.outcome;
  if (outcome?.status === 'failure') expect(error).toBe(outcome.error);
  if (outcome?.status === 'cancelled') expect(error).toBeInstanceOf(TaskCancelledError);
}

async function runOn(rt: Runtime, program: Program): Promise<void> {
  rt.onUnhandled(() => {});
  const run = new Run(rt);
  run.start(program, rt.spawn.bind(rt));
  await run.finish();
  check(run);
  expect(rt.metrics()).toMatchObject({ runnableTasks: 0, waitingTasks: 0 });
  expect(armedTimers(rt)).toBe(0);
  await rt.close();
}

describe(`tasks against a model (${describeSeed})`, () => {
  it('on the real runtime', async () => {
    const property = fc.asyncProperty(programs, async (program) => {
      await runOn(await Runtime.start(), program);
    });
    await fc.assert(property, { seed: SEED, numRuns: 300 });
  }, 60_000);

  it('on the test runtime, in an order of the seed', async () => {
    const property = fc.asyncProperty(programs, fc.nat(), async (program, seed) => {
      await runOn(createTestRuntime({ seed, autoAdvance: true }), program);
    });
    await fc.assert(property, { seed: SEED, numRuns: 300 });
  }, 60_000);
});
