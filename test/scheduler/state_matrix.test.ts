// State matrix: each state of a task x each thing that can happen to it, twice each: what the call
// says, which state follows, one outcome and no second one, and a runtime that ends with nothing.
// Method: one body that stands in the wanted state until finish() lets it go on; the table
// `statusOf` says what becomes of it. Not here: the rules of cancellation by name, async bodies.
import { describe, expect, it } from 'vitest';
import { checkpoint, spawn, TaskCancelledError, waitToken } from '../../lib/index.ts';
import type { Outcome } from '../../lib/task/outcome.ts';
import { uncancellable } from '../../lib/task/structured/uncancellable.ts';
import type { Task } from '../../lib/task/task.ts';
import type { TaskGenerator } from '../../lib/task/task_body.ts';
import { armedTimers, expectIdle, type Lab, OutcomeWatch, tick, until, useLab } from './lab.ts';

const STATES = [
  'runnable-unstarted',
  'runnable-preempted',
  'runnable-woken',
  'running',
  'waiting',
  'waiting-masked',
  'unwinding',
  'completed',
] as const;
type StateCase = (typeof STATES)[number];

const EVENTS = ['wake', 'cancel', 'deadline', 'join', 'settled', 'throw', 'spawn'] as const;
type EventCase = (typeof EVENTS)[number];

const SCHEDULING_STATE: Record<StateCase, string> = {
  'runnable-unstarted': 'runnable',
  'runnable-preempted': 'runnable',
  'runnable-woken': 'runnable',
  running: 'running',
  waiting: 'waiting',
  'waiting-masked': 'waiting',
  unwinding: 'waiting',
  completed: 'completed',
};

// Long enough to bring a task into its state first, on a busy machine too.
const DEADLINE_MS = 250;
const lab = useLab();

/** A task that is brought into a state, and everything that can be done to it. */
class Subject {
  readonly gate = waitToken<string>();
  readonly cleanup = waitToken();
  readonly error = new Error('thrown by the body');
  readonly controller = new AbortController();
  readonly answers: unknown[] = [];
  readonly deadlineMs: number;
  readonly task: Task<string>;
  readonly watch: OutcomeWatch;
  isEntered = false;
  isReleased = false;
  hook: (() => void) | undefined = undefined;
  spawnCount = 0;
  children: Task<number>[] = [];
  seen: unknown = 'nothing';
  readonly #lab: Lab;
  readonly #state: StateCase;

  constructor(owner: Lab, state: StateCase, event: EventCase) {
    this.#lab = owner;
    this.#state = state;
    const { rt } = owner;
    rt.engines.register({ engineId: 'hasty', reductionLimit: 1, timerWheelConfig: {} });
    this.deadlineMs = rt.clock.now() + DEADLINE_MS;
    const deadline = event === 'deadline' ? this.deadlineMs : undefined;
    const { signal } = this.controller;
    const settings = { name: 'subject', engine: 'hasty', deadline, signal };
    this.task = rt.with(settings).spawn(() => this.#body());
    this.watch = new OutcomeWatch(this.task);
  }

  *#body(): TaskGenerator<string> {
    this.isEntered = true;
    if (this.#state === 'runnable-preempted') while (!this.isReleased) yield* checkpoint();
    this.hook?.();
    try {
      this.seen = yield* this.#wait();
    } finally {
      if (this.#state === 'unwinding') {
        this.#spawnChildren();
        yield* this.cleanup.wait();
      }
    }
    this.#spawnChildren();
    return 'value';
  }

  *#wait(): TaskGenerator<string> {
    if (this.#state === 'waiting-masked') return yield* uncancellable(this.gate.wait());
    return yield* this.gate.wait();
  }

  #spawnChildren(): void {
    for (; this.spawnCount > 0; this.spawnCount--) {
      this.children.push(
        spawn(function* () {
          yield* checkpoint();
          return 1;
        }),
      );
    }
  }

  /** Brings the task into its state; 'running' only while `hook` runs. */
  async reach(event: EventCase): Promise<void> {
    const { task } = this;
    if (this.#state === 'runnable-unstarted') return;
    if (this.#state === 'running') {
      await new Promise<void>((resolve, reject) => {
        this.hook = () => {
          try {
            expect(task.state).toBe('running');
            this.happen(event);
            this.happen(event);
            expect(task.state).toBe('running');
          } catch (error) {
            if (error !== this.error) reject(error);
            else throw error;
          } finally {
            resolve();
          }
        };
      });
      return;
    }
    await until(() => this.isEntered);
    if (this.#state === 'runnable-preempted') return;
    await until(() => task.state === 'waiting');
    if (this.#state === 'runnable-woken') this.gate.wake('woken');
    if (this.#state === 'completed') {
      this.gate.wake('woken');
      await task.settled();
    }
    if (this.#state === 'unwinding') {
      if (event === 'spawn') this.spawnCount = 2;
      task.cancel('first');
      await until(() => task.waitCondition?.startsWith('token') === true);
    }
  }

  /** Does it once. */
  happen(event: EventCase): void {
    const { task, gate, answers } = this;
    if (event === 'wake') answers.push(gate.wake('again'));
    else if (event === 'cancel') answers.push(task.cancel(`cancel ${answers.length}`));
    else if (event === 'deadline') this.#passDeadline();
    else if (event === 'throw') this.#throw();
    else if (event === 'spawn') this.#spawn();
    else this.#join(event);
  }

  #passDeadline(): void {
    const { rt } = this.#lab;
    // Busy: the state must not change before the time has come.
    while (rt.clock.now() < this.deadlineMs + 2);
    this.answers.push('passed');
  }

  #throw(): void {
    if (this.#state === 'running') throw this.error;
    const token = this.#state === 'unwinding' ? this.cleanup : this.gate;
    this.answers.push(token.fail(this.error));
  }

  #spawn(): void {
    if (this.#state === 'running') this.children.push(spawn(() => 1));
    else if (this.#state !== 'unwinding') this.spawnCount++;
  }

  #join(event: 'join' | 'settled'): void {
    try {
      const operation: PromiseLike<unknown> = this.task[event]();
      const at = this.answers.push('pending') - 1;
      operation.then(
        (value) => {
          this.answers[at] = value;
        },
        (error: unknown) => {
          this.answers[at] = error;
        },
      );
    } catch (error) {
      this.answers.push((error as { code?: string }).code);
    }
  }

  /** Lets the body go on to its end. */
  finish(): void {
    this.isReleased = true;
    this.gate.wake('finish');
    this.cleanup.wake();
  }
}

/** What becomes of the task. */
function expectedStatus(state: StateCase, event: EventCase): Outcome<unknown>['status'] {
  if (state === 'completed') return 'success';
  if (event === 'cancel' || event === 'deadline') return 'cancelled';
  if (event === 'throw') return state === 'runnable-woken' ? 'success' : 'failure';
  return state === 'unwinding' ? 'cancelled' : 'success';
}

function expectOutcome(subject: Subject, state: StateCase, event: EventCase): void {
  const { outcome } = subject.task;
  const reasons: Record<string, unknown> = { cancel: 'cancel 0', deadline: 'TimeoutError' };
  const status = expectedStatus(state, event);
  expect(outcome?.status).toBe(status);
  if (outcome?.status === 'cancelled') {
    const { reason } = outcome;
    const name = reason instanceof Error ? reason.name : reason;
    expect(name).toBe(state === 'unwinding' ? 'first' : reasons[event]);
  }
  if (outcome?.status === 'success') expect(outcome.value).toBe('value');
  if (outcome?.status !== 'failure') return;
  if (state !== 'unwinding') {
    expect(outcome.error).toBe(subject.error);
    return;
  }
  const suppressed = outcome.error as { error: unknown; suppressed: unknown };
  expect(suppressed.error).toBe(subject.error);
  expect(suppressed.suppressed).toBeInstanceOf(TaskCancelledError);
}

/** What the two calls said. */
function expectAnswers(subject: Subject, state: StateCase, event: EventCase): void {
  const { answers, task } = subject;
  if (event === 'cancel') {
    const isLate = state === 'completed' || state === 'unwinding';
    expect(answers).toEqual(isLate ? [false, false] : [true, false]);
  }
  if (event === 'wake') {
    const isLate = state === 'completed' || state === 'runnable-woken';
    expect(answers).toEqual(isLate ? [false, false] : [true, false]);
  }
  if (event === 'throw' && state !== 'running') {
    const isLate = state === 'completed' || state === 'runnable-woken';
    expect(answers).toEqual(isLate ? [false, false] : [true, false]);
  }
  if (event === 'join' || event === 'settled') {
    if (state === 'running') expect(answers).toEqual(['ERR_JOIN_CYCLE', 'ERR_JOIN_CYCLE']);
    else if (event === 'settled') expect(answers).toEqual([task.outcome, task.outcome]);
    else if (state !== 'unwinding') expect(answers).toEqual(['value', 'value']);
    else for (const answer of answers) expect(answer).toBeInstanceOf(TaskCancelledError);
  }
}

function expectCounts(lab_: Lab, subject: Subject, state: StateCase): void {
  const { rt } = lab_;
  const isLive = state !== 'completed';
  expect(rt.dump().map(({ name }) => name)).toEqual(isLive ? ['subject'] : []);
  expect(subject.task.state).toBe(SCHEDULING_STATE[state]);
  expect(rt.metrics()).toMatchObject({
    runnableTasks: state.startsWith('runnable') ? 1 : 0,
    waitingTasks: isLive && !state.startsWith('runnable') ? 1 : 0,
  });
}

describe.each(STATES)('a task that is %s', (state) => {
  it.each(EVENTS)('meets %s, twice', async (event) => {
    const subject = new Subject(lab, state, event);
    await subject.reach(event);
    if (state !== 'running') {
      expectCounts(lab, subject, state);
      subject.happen(event);
      subject.happen(event);
    }
    // What can start at once, has; then the rest.
    if (event !== 'deadline') subject.finish();
    else {
      await until(() => state === 'completed' || subject.task.cancellationRequested);
      subject.controller.abort(new Error('later'));
    }
    subject.finish();
    await until(() => subject.task.state === 'completed');
    await tick();
    expectOutcome(subject, state, event);
    expectAnswers(subject, state, event);
    expect(subject.watch.told, 'told once').toEqual([subject.task.outcome]);
    const isStopped = event === 'cancel' || event === 'deadline';
    expect(subject.isEntered).toBe(!(state === 'runnable-unstarted' && isStopped));
    if (event === 'spawn' && state !== 'completed') {
      expect(subject.children.length).toBe(2);
      for (const child of subject.children) expect(await child.join()).toBe(1);
    }
    if (state === 'runnable-woken') expect(subject.seen, 'delivered').toBe('woken');
    subject.task.cancel('after the end');
    expect(subject.watch.told.length).toBe(1);
    expect(lab.unhandled).toEqual([]);
    await expectIdle(lab.rt);
    expect(armedTimers(lab.rt)).toBe(0);
  });
});
