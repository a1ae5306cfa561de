// withTimeout(), withDeadline(): at most so long, on the timer wheel of the running task's engine.
// Owner: the task or caller. Invariants: what is ready costs nothing: no timer, no object; on
// expiry the target's completion is awaited before the TimeoutError; timers are gone when it has
// settled.
// Not here: deadlines of tasks (settings.ts), the `timeout` option of operations (io/).
import { invalidArgType, outOfRange, TimeoutError } from '../../base/errors.ts';
import { FULFILLED, Operation, type OperationWaiter } from '../../base/operation.ts';
import { ownOperation } from '../../base/operation_owner.ts';
import type { TimerPort } from '../../time/timer_port.ts';
import { checkDelay, currentTimers } from '../sleep.ts';
import { spawnOwned } from './body_operation.ts';
import { checkItem, type Item, type ItemValue, operationOf } from './item.ts';

class TimeoutOperation<T> extends Operation<T> implements OperationWaiter {
  declare nextWaiter: OperationWaiter | undefined;
  declare private readonly target: Operation<T>;
  declare private readonly timers: TimerPort;
  declare private readonly timeoutMs: number;
  declare private readonly handle: number;
  declare private isCancelled: boolean;
  declare private expired: TimeoutError | undefined;

  constructor(target: Operation<T>, timers: TimerPort, deadlineMs: number, timeoutMs: number) {
    super();
    this.nextWaiter = undefined;
    this.target = target;
    this.timers = timers;
    this.timeoutMs = timeoutMs;
    this.isCancelled = false;
    this.expired = undefined;
    this.handle = timers.arm(deadlineMs, this);
    ownOperation(this);
    target.subscribe(this);
  }

  timerExpired(): void {
    this.expired = new TimeoutError(this.timeoutMs);
    this.target.cancel(this.expired);
  }

  operationSettled(target: Operation<unknown>): void {
    if (this.expired !== undefined) {
      target.giveBack();
      this.reject(this.expired);
      return;
    }
    if (!this.isCancelled) this.timers.cancel(this.handle);
    if (target.state === FULFILLED) this.fulfill(target.settledValue as T);
    else this.reject(target.settledValue);
  }

  override cancel(reason?: unknown): void {
    if (this.isSettled || this.isCancelled || this.expired !== undefined) return;
    this.isCancelled = true;
    this.timers.cancel(this.handle);
    this.target.cancel(reason);
  }

  override giveBack(): void {
    this.target.giveBack();
  }

  override describeWait(): string {
    return `${this.target.describeWait()} (at most ${this.timeoutMs} ms)`;
  }
}

function limited<T>(item: Item<T>, timers: TimerPort, deadlineMs: number, timeoutMs: number) {
  if (typeof item === 'function') {
    return spawnOwned<T>(item, { deadlineMs }, timeoutMs);
  }
  const operation = operationOf(item);
  if (operation.isSettled) return operation;
  return new TimeoutOperation(operation, timers, deadlineMs, timeoutMs);
}

/**
 * Waits at most `timeoutMs` milliseconds (0 up; Infinity: no limit). `item`: an operation, a task
 * (its join), a promise, or a body, which becomes a child task with that deadline (the minimum of
 * it and the inherited one). When the time is over, the operation or body is cancelled and its end
 * awaited; then it rejects with TimeoutError, and a value that came too late is given back. What is
 * ready is returned as it is.
 * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_ENGINE_NO_TIMER_WHEEL, ERR_ENGINE_LIMIT, what
 * spawn() throws
 */
export function withTimeout<I extends Item<unknown>>(
  timeoutMs: number,
  item: I,
): Operation<ItemValue<I>>;
export function withTimeout(timeoutMs: number, item: Item<unknown>): Operation<unknown> {
  checkDelay('timeoutMs', timeoutMs);
  if (item instanceof Operation && item.isSettled) return item;
  checkItem('item', item);
  const timers = currentTimers();
  if (timeoutMs === Infinity) return operationOf(item);
  return limited(item, timers, timers.clock.nowMs() + timeoutMs, timeoutMs);
}

/**
 * As withTimeout(), until that time of the runtime's clock (`rt.clock.now()`).
 * @throws as withTimeout()
 */
export function withDeadline<I extends Item<unknown>>(
  timeMs: number,
  item: I,
): Operation<ItemValue<I>>;
export function withDeadline(timeMs: number, item: Item<unknown>): Operation<unknown> {
  if (typeof timeMs !== 'number') throw invalidArgType('timeMs', 'of type number', timeMs);
  if (Number.isNaN(timeMs)) throw outOfRange('timeMs', 'a number', timeMs);
  if (item instanceof Operation && item.isSettled) return item;
  checkItem('item', item);
  const timers = currentTimers();
  if (timeMs === Infinity) return operationOf(item);
  const timeoutMs = Math.max(0, Math.round(timeMs - timers.clock.nowMs()));
  return limited(item, timers, timeMs, timeoutMs);
}
