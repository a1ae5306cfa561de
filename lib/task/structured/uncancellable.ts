// uncancellable(): a section that a cancellation does not reach; it comes at the first suspension
// after it. Masks the running task, in which the section runs: no task is made.
// Owner: the running task. Invariants: masks nest; each is removed on every way out, once.
// Not here: when a cancellation is delivered (scheduler/dispatch.ts).
import { invalidArgType, NephriteError } from '../../base/errors.ts';
import { FULFILLED, Operation, type OperationWaiter } from '../../base/operation.ts';
import type { Suspension } from '../../base/suspension.ts';
import { cancelOwned } from '../async_body.ts';
import { currentAsyncTask, running } from '../current.ts';
import { isThenable, PromiseOperation } from '../interop/from_promise.ts';
import { isCancellable, MASK_UNIT } from '../state.ts';
import type { Task } from '../task.ts';
import { checkBody, type TaskBody, type TaskGenerator } from '../task_body.ts';

/** What `yield*` and `await` wait for. */
export interface Uncancellable<T> extends PromiseLike<T> {
  [Symbol.iterator](): Iterator<Suspension, T, unknown>;
}

const generatorFunctionPrototype = Object.getPrototypeOf(function* () {});

// In a generator body: driven by its `yield*`, from its first step on.
class MaskedSection<T> implements Uncancellable<T> {
  readonly #item: Operation<T> | TaskBody<T>;

  constructor(item: Operation<T> | TaskBody<T>) {
    this.#item = item;
  }

  *[Symbol.iterator](): TaskGenerator<T> {
    const { task } = running;
    if (task === undefined) {
      throw new NephriteError('ERR_NOT_IN_TASK', '`yield* uncancellable(...)` outside a task');
    }
    task.word += MASK_UNIT;
    try {
      const item = this.#item;
      const given = item instanceof Operation ? item : item();
      if (given instanceof Operation) return yield* given as Operation<T>;
      if (isGenerator<T>(given)) return yield* given;
      if (isThenable(given)) return yield* new PromiseOperation(given as PromiseLike<T>);
      return given as T;
    } finally {
      task.word -= MASK_UNIT;
    }
  }

  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): PromiseLike<A | B> {
    return startMasked(this.#item).then(onFulfilled, onRejected);
  }
}

function isGenerator<T>(value: unknown): value is TaskGenerator<T> {
  return Object.prototype.toString.call(value) === '[object Generator]';
}

// In an async body, and in ordinary code, where there is nothing to mask.
class MaskedOperation<T> extends Operation<T> implements OperationWaiter {
  declare nextWaiter: OperationWaiter | undefined;
  declare private task: Task | undefined;

  constructor(task: Task | undefined) {
    super();
    this.nextWaiter = undefined;
    this.task = task;
    if (task !== undefined) task.word += MASK_UNIT;
  }

  operationSettled(source: Operation<unknown>): void {
    if (source.state === FULFILLED) this.succeed(source.settledValue as T);
    else this.fail(source.settledValue);
  }

  // Told while still masked: the outcome of the section reaches the body, the cancellation waits.
  succeed(value: T): void {
    this.fulfill(value);
    this.unmask();
  }

  fail(error: unknown): void {
    this.reject(error);
    this.unmask();
  }

  private unmask(): void {
    const { task } = this;
    if (task === undefined) return;
    this.task = undefined;
    task.word -= MASK_UNIT;
    // What else the body waits for was not asked to stop when the request came.
    if (isCancellable(task.word)) cancelOwned(task, task.extras?.cancelReason);
  }

  override describeWait(): string {
    return 'uncancellable section';
  }
}

function startMasked<T>(item: Operation<T> | TaskBody<T>): MaskedOperation<T> {
  const section = new MaskedOperation<T>(currentAsyncTask());
  let given: unknown;
  try {
    given = item instanceof Operation ? item : item();
  } catch (error) {
    section.fail(error);
    return section;
  }
  if (given instanceof Operation) given.subscribe(section);
  else if (isThenable(given)) {
    given.then(
      (value) => section.succeed(value as T),
      (error: unknown) => section.fail(error),
    );
  } else section.succeed(given as T);
  return section;
}

/**
 * Runs a body, or waits for an operation, where cancellation does not reach it: a request is
 * remembered and takes effect at the first suspension after the section. In a generator body
 * `yield* uncancellable(function* () {...})`, in an async body `await uncancellable(async () => …)`
 * (all that the body has going on is masked meanwhile). Outside tasks there is nothing to mask.
 * Time limits around it wait for its end.
 * @throws ERR_INVALID_ARG_TYPE; also for a generator function outside generator bodies, which
 * nobody there could drive
 */
export function uncancellable<T>(body: () => TaskGenerator<T>): Uncancellable<T>;
export function uncancellable<T>(body: PromiseLike<T> & Operation<T>): Uncancellable<T>;
export function uncancellable<T>(body: () => PromiseLike<T>): Uncancellable<T>;
export function uncancellable<T>(body: () => T): Uncancellable<T>;
export function uncancellable<T>(item: Operation<T> | TaskBody<T>): Uncancellable<T> {
  if (!(item instanceof Operation)) checkBody(item);
  if (running.task !== undefined) return new MaskedSection<T>(item);
  if (Object.getPrototypeOf(item) === generatorFunctionPrototype) {
    throw invalidArgType('body', 'an operation or an async function (not in a generator)', item);
  }
  return startMasked<T>(item);
}
