// fromEvent: the next event of an EventEmitter or EventTarget as an operation.
// Owner: the task or caller. Invariants: its listeners are gone when it has settled, however that
// came about; all operations of one signal share one listener on it.
// Not here: streams of events (a channel fed by a listener).
import { AbortError, invalidArgType } from '../../base/errors.ts';
import { Operation, rejectedOperation } from '../../base/operation.ts';
import { ownOperation } from '../../base/operation_owner.ts';
import { attachOptions, checkOptions } from '../../io/operation_options.ts';

/** What fromEvent needs of an EventEmitter. */
export interface EventSource {
  on(name: string | symbol, listener: (...args: unknown[]) => void): unknown;
  removeListener(name: string | symbol, listener: (...args: unknown[]) => void): unknown;
}

export interface FromEventOptions {
  /** Aborting it fails the operation with an AbortError. */
  readonly signal?: AbortSignal | undefined;
}

class EventOperation<A extends unknown[]> extends Operation<A> {
  declare private readonly eventName: string | symbol;
  declare private detach: (() => void) | undefined;

  constructor(source: EventSource | EventTarget, name: string | symbol) {
    super();
    this.eventName = name;
    this.detach = undefined;
    const onEvent = (...args: unknown[]): void => {
      this.end();
      this.fulfill(args as A);
    };
    if (isEmitter(source)) this.listenToEmitter(source, name, onEvent);
    else this.listenToTarget(source, name as string, onEvent);
    ownOperation(this);
  }

  private listenToEmitter(
    emitter: EventSource,
    name: string | symbol,
    onEvent: (...args: unknown[]) => void,
  ): void {
    const onError = (error: unknown): void => {
      this.end();
      this.reject(error);
    };
    emitter.on(name, onEvent);
    if (name !== 'error') emitter.on('error', onError);
    this.detach = () => {
      emitter.removeListener(name, onEvent);
      if (name !== 'error') emitter.removeListener('error', onError);
    };
  }

  private listenToTarget(target: EventTarget, name: string, onEvent: (event: Event) => void): void {
    target.addEventListener(name, onEvent);
    this.detach = () => target.removeEventListener(name, onEvent);
  }

  private end(): void {
    this.detach?.();
    this.detach = undefined;
  }

  override cancel(reason?: unknown): void {
    this.cancelWith(new AbortError(reason));
  }

  /** As cancel(), with the error that it will fail with. @internal */
  cancelWith(error: Error): void {
    if (this.isSettled) return;
    this.end();
    this.reject(error);
  }

  override describeWait(): string {
    return `event ${String(this.eventName)}`;
  }
}

function isEmitter(source: unknown): source is EventSource {
  const { on, removeListener } = source as Partial<EventSource>;
  return typeof on === 'function' && typeof removeListener === 'function';
}

function isTarget(source: unknown): source is EventTarget {
  const { addEventListener, removeEventListener } = source as Partial<EventTarget>;
  return typeof addEventListener === 'function' && typeof removeEventListener === 'function';
}

/**
 * Waits for the next event, as events.once(): gives the arguments of the listener (of an
 * EventTarget: `[event]`), and rejects with what an emitter emits as 'error' meanwhile. It listens
 * from the call on. Listeners are removed in every case.
 * @throws ERR_INVALID_ARG_TYPE
 */
export function fromEvent<A extends unknown[] = unknown[]>(
  source: EventSource | EventTarget,
  name: string | symbol,
  options: FromEventOptions = {},
): Operation<A> {
  const isSource =
    source !== null && typeof source === 'object' && (isEmitter(source) || isTarget(source));
  if (!isSource) throw invalidArgType('source', 'an EventEmitter or an EventTarget', source);
  const isName = typeof name === 'string' || (typeof name === 'symbol' && isEmitter(source));
  if (!isName) throw invalidArgType('name', 'of type string', name);
  if (typeof options !== 'object' || options === null) {
    throw invalidArgType('options', 'of type object', options);
  }
  const given = { signal: options.signal };
  try {
    checkOptions(given);
  } catch (error) {
    if (error instanceof AbortError) return rejectedOperation<A>(error);
    throw error;
  }
  return attachOptions(new EventOperation<A>(source, name), given);
}
