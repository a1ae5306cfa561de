// Task bodies: what can be spawned, as types. Owner: none.
// A generator body yields suspensions only, and only `yield*` gives them: that is the type check
// against `yield op` without the star.
import { invalidArgType } from '../base/errors.ts';
import type { Suspension } from '../base/suspension.ts';

/** What a generator body returns: it yields through `yield*` of operations and checkpoints. */
export type TaskGenerator<T> = Generator<Suspension, T, unknown>;

/** A generator function (cancellable where `catch` cannot see it), an async or a plain function. */
export type TaskBody<T, A extends unknown[] = []> =
  | ((...args: A) => TaskGenerator<T>)
  | ((...args: A) => PromiseLike<T>)
  | ((...args: A) => T);

const asyncGeneratorPrototype = Object.getPrototypeOf(async function* () {});

// The same body is spawned again and again; looking at its prototype costs 15 ns.
let lastChecked: unknown;

/** @throws ERR_INVALID_ARG_TYPE, at the call of spawn */
export function checkBody(body: unknown): void {
  if (body === lastChecked) return;
  checkKind(body);
  lastChecked = body;
}

function checkKind(body: unknown): void {
  if (typeof body === 'function') {
    if (Object.getPrototypeOf(body) !== asyncGeneratorPrototype) return;
    throw invalidArgType('body', 'a generator function or an async function', body);
  }
  const isGenerator = Object.prototype.toString.call(body) === '[object Generator]';
  const hint = isGenerator ? ' (pass the generator function, not the generator)' : '';
  throw invalidArgType('body', `a generator function or an async function${hint}`, body);
}
