// Operation as a Promise: every case runs on a real Promise and on an Operation, settled before and
// after the case subscribes, and must give the same outcome and the same order of calls.
// Not here: the wait protocol (operation_wait.test.ts), failures nobody observes
// (operation_unobserved.test.ts).
import { AsyncLocalStorage } from 'node:async_hooks';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualOperation, Operation } from '../../../lib/base/operation.ts';
import { SEED } from '../../support/seed.ts';

interface Source {
  readonly waitable: Promise<number>;
  readonly resolve: (value: number) => void;
  readonly reject: (error: unknown) => void;
}
type Log = (event: string) => void;
type Case = (source: Source, log: Log) => unknown;

function promiseSource(): Source {
  let resolve: Source['resolve'] = () => {};
  let reject: Source['reject'] = () => {};
  const waitable = new Promise<number>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { waitable, resolve, reject };
}

function operationSource(): Source {
  const operation = new ManualOperation<number>();
  return {
    waitable: operation,
    resolve: (value) => operation.resolveWith(value),
    reject: (error) => operation.rejectWith(error),
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What a waitable came to, and what was logged on the way. */
async function outcomeOf(
  make: () => Source,
  run: Case,
  settle: (source: Source) => void,
  isEarly: boolean,
): Promise<unknown> {
  const source = make();
  const events: string[] = [];
  if (isEarly) settle(source);
  const result = run(source, (event) => events.push(event)) as PromiseLike<unknown>;
  if (!isEarly) {
    await turn();
    settle(source);
  }
  const outcome = await Promise.resolve(result).then(
    (value) => ({ value }),
    (error: unknown) => ({ error: String(error) }),
  );
  await turn();
  return { outcome, events };
}

const thrown = new Error('thrown');
// A thenable of somebody else: the least a type can say of it.
const foreign = (thenable: object): PromiseLike<string> => thenable as PromiseLike<string>;
const CASES: Readonly<Record<string, Case>> = {
  'then without handlers passes the outcome on': ({ waitable }) => waitable.then(),
  'then with null handlers passes the outcome on': ({ waitable }) => waitable.then(null, null),
  'then with handlers that are no functions passes it on': ({ waitable }) =>
    waitable.then(5 as unknown as null, 'x' as unknown as null),
  'then maps a value': ({ waitable }) => waitable.then((value) => value * 2),
  'then: onRejected gives a value': ({ waitable }) =>
    waitable.then(undefined, (error: unknown) => `saved ${String(error)}`),
  'then: only one handler is called, with one argument': ({ waitable }, log) =>
    waitable.then(
      (...given) => log(`fulfilled ${given.length}`),
      (...given) => log(`rejected ${given.length}`),
    ),
  catch: ({ waitable }) => waitable.catch((error: unknown) => String(error)),
  'catch does not see its own throw': ({ waitable }) =>
    waitable.catch(() => {
      throw thrown;
    }),
  'a throw in then becomes a failure': ({ waitable }) =>
    waitable
      .then(() => {
        throw thrown;
      })
      .catch((error: unknown) => String(error)),
  'finally passes the outcome on, without an argument': ({ waitable }, log) =>
    waitable.finally((...given: unknown[]) => log(`finally ${given.length}`)),
  'finally ignores what it returns': ({ waitable }) =>
    waitable.finally((() => 99) as unknown as () => void),
  'finally waits for what it returns': ({ waitable }, log) =>
    waitable
      .finally((async () => {
        await turn();
        log('cleaned up');
      }) as () => void)
      .finally(() => log('after')),
  'a throw in finally wins': ({ waitable }) =>
    waitable.finally(() => {
      throw thrown;
    }),
  'a failure returned from finally wins': ({ waitable }) =>
    waitable.finally((() => Promise.reject(thrown)) as () => void),
  'finally with no function': ({ waitable }) => waitable.finally(null),
  'adopts a promise': ({ waitable }) => waitable.then(() => Promise.resolve('inner')),
  'adopts a rejected promise': ({ waitable }) => waitable.then(() => Promise.reject(thrown)),
  'adopts a thenable': ({ waitable }) =>
    waitable.then(() =>
      foreign({ then: (resolve: (value: string) => void) => resolve('foreign') }),
    ),
  'adopts a thenable that calls twice and throws': ({ waitable }) =>
    waitable.then(() =>
      foreign({
        then(resolve: (value: string) => void, reject: (error: unknown) => void) {
          resolve('first');
          resolve('second');
          reject(thrown);
          throw thrown;
        },
      }),
    ),
  'adopts nested thenables to the end': ({ waitable }) =>
    waitable.then(() => Promise.resolve().then(() => operationSource2('deep'))),
  'a then getter that throws becomes a failure': ({ waitable }) =>
    waitable.then(() => ({
      get then(): never {
        throw thrown;
      },
    })),
  'an object whose then is no function is a value': ({ waitable }) =>
    waitable.then(() => ({ then: 5 })),
  'a function with then is a thenable': ({ waitable }) =>
    waitable.then(() =>
      foreign(
        Object.assign(() => {}, { then: (resolve: (value: string) => void) => resolve('fn') }),
      ),
    ),
  'null, undefined, 0 and "" are values': ({ waitable }) =>
    Promise.all([
      waitable.then(() => null),
      waitable.then(() => undefined),
      waitable.then(() => 0),
      waitable.then(() => ''),
    ]),
  'handlers run in the order they were given': ({ waitable }, log) => {
    for (const name of ['a', 'b', 'c']) {
      waitable.then(
        () => log(name),
        () => log(name),
      );
    }
    return waitable;
  },
  'links of two chains take turns': ({ waitable }, log) => {
    const chain = (name: string): Promise<unknown> => {
      let link: Promise<unknown> = waitable.catch(() => {});
      for (let depth = 0; depth < 3; depth++) link = link.then(() => log(`${name}${depth}`));
      return link;
    };
    return Promise.all([chain('a'), chain('b')]);
  },
  'then after settlement is not called at once': ({ waitable }, log) => {
    const derived = waitable.then(
      () => log('handler'),
      () => log('handler'),
    );
    log('returned');
    return derived;
  },
  'await in an async function': async ({ waitable }, log) => {
    try {
      log(`got ${await waitable}`);
    } catch (error) {
      log(`caught ${String(error)}`);
    } finally {
      log('finally');
    }
  },
  'return from an async function': async ({ waitable }) => waitable,
  'for await over an array of it': async ({ waitable }, log) => {
    for await (const value of [waitable, waitable]) log(String(value));
  },
  'Promise.resolve': ({ waitable }) => Promise.resolve(waitable),
  'Promise.all': ({ waitable }) => Promise.all([1, waitable, Promise.resolve(3)]),
  'Promise.allSettled': ({ waitable }) =>
    Promise.allSettled([waitable, Promise.reject(thrown)]).then((all) =>
      all.map(({ status }) => status),
    ),
  'Promise.race': ({ waitable }) => Promise.race([waitable, new Promise(() => {})]),
  'Promise.any': ({ waitable }) =>
    Promise.any([Promise.reject(thrown), waitable]).catch((error: Error) => error.constructor.name),
  'a new Promise resolved with it': ({ waitable }) => new Promise((resolve) => resolve(waitable)),
};

function operationSource2(value: string): Operation<string> {
  const operation = new ManualOperation<string>();
  setImmediate(() => operation.resolveWith(value));
  return operation;
}

const SETTLEMENTS: Readonly<Record<string, (source: Source) => void>> = {
  fulfilled: ({ resolve }) => resolve(21),
  rejected: ({ reject }) => reject(new Error('failed')),
};

describe('operation: does what a promise does', () => {
  for (const [title, run] of Object.entries(CASES)) {
    for (const [settlement, settle] of Object.entries(SETTLEMENTS)) {
      it.each([
        ['before', true],
        ['after', false],
      ] as const)(`${title} (${settlement} %s)`, async (_when, isEarly) => {
        const expected = await outcomeOf(promiseSource, run, settle, isEarly);
        expect(await outcomeOf(operationSource, run, settle, isEarly)).toEqual(expected);
      });
    }
  }

  it('then, catch and finally give operations, which are waitable in turn', async () => {
    const { waitable, resolve } = operationSource();
    const links = [waitable.then(), waitable.catch(), waitable.finally(), waitable.finally(null)];
    for (const link of links) expect(link).toBeInstanceOf(Operation);
    resolve(1);
    expect(await Promise.all(links)).toEqual([1, 1, 1, 1]);
    expect(Object.prototype.toString.call(waitable)).toBe('[object Operation]');
  });

  it('a chain that leads back to itself fails instead of waiting for ever', async () => {
    const { waitable, resolve } = operationSource();
    const link: Promise<unknown> = waitable.then(() => link);
    resolve(1);
    await expect(link).rejects.toThrow(TypeError);
  });

  it('a chain of 100,000 links settles without filling the stack', async () => {
    const { waitable, resolve } = operationSource();
    let link = waitable;
    for (let depth = 0; depth < 100_000; depth++) link = link.then((value) => value + 1);
    resolve(0);
    expect(await link).toBe(100_000);
  });

  it('20,000 waiters of one operation are called in order', async () => {
    const { waitable, resolve } = operationSource();
    const order: number[] = [];
    const all = Array.from({ length: 20_000 }, (_, index) =>
      waitable.then(() => order.push(index)),
    );
    resolve(0);
    await Promise.all(all);
    expect(order).toEqual(Array.from({ length: 20_000 }, (_, index) => index));
  });

  it('a handler that throws keeps nobody else from being called', async () => {
    const { waitable, resolve } = operationSource();
    const first = waitable.then(() => {
      throw thrown;
    });
    const second = waitable.then((value) => value);
    resolve(4);
    await expect(first).rejects.toBe(thrown);
    expect(await second).toBe(4);
  });

  /** Settles outside the context in which `use` has waited; gives what its handler saw. */
  async function contextSeen(
    use: (waitable: Promise<number>, see: () => void) => unknown,
  ): Promise<unknown> {
    const store = new AsyncLocalStorage<string>();
    const { waitable, resolve } = operationSource();
    let seen: unknown = 'not called';
    store.run('mine', () => {
      void use(waitable, () => {
        seen = store.getStore();
      });
    });
    await turn();
    store.run("the pump's", () => resolve(1));
    await turn();
    return seen;
  }

  it.each<[string, (waitable: Promise<number>, see: () => void) => unknown]>([
    [
      'await',
      async (waitable, see) => {
        await waitable;
        see();
      },
    ],
    ['then', (waitable, see) => waitable.then(see)],
    ['catch', (waitable, see) => waitable.then(() => Promise.reject()).catch(see)],
    ['finally', (waitable, see) => waitable.finally(see)],
    ['Promise.all', (waitable, see) => Promise.all([waitable]).then(see, see)],
  ])('%s goes on in the asynchronous context of its caller', async (_name, use) => {
    expect(await contextSeen(use)).toBe('mine');
  });

  // To tell a user's two handlers from those of `await` costs every await 110 ns.
  it.fails('then with two handlers goes on in the context of its caller', async () => {
    expect(await contextSeen((waitable, see) => waitable.then(see, see))).toBe('mine');
  });

  it('settles exactly once: a second settlement is a broken invariant', () => {
    const operation = new ManualOperation<number>();
    operation.resolveWith(1);
    expect(() => operation.resolveWith(2)).toThrow(/settles once/);
    expect(() => operation.rejectWith(thrown)).toThrow(/settles once/);
    expect(operation.settledValue).toBe(1);
  });

  // Random chains: each step maps, throws, saves, adopts or cleans up.
  it('random chains come to what they come to on promises', async () => {
    const steps: Readonly<
      Record<string, (link: Promise<unknown>, index: number) => Promise<unknown>>
    > = {
      map: (link, index) => link.then((value) => `${String(value)}.${index}`),
      throwing: (link, index) =>
        link.then(() => {
          throw new Error(`t${index}`);
        }),
      save: (link, index) => link.catch((error: Error) => `${error.message}!${index}`),
      both: (link) =>
        link.then(
          (value) => Promise.reject(new Error(`from ${String(value)}`)),
          (error: Error) => Promise.resolve(`saved ${error.message}`),
        ),
      clean: (link) => link.finally(() => turn() as unknown as undefined),
      async: (link) => (async () => `(${String(await link)})`)(),
    };
    const names = fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(names, fc.boolean(), fc.boolean(), async (chain, isFailed, isEarly) => {
        const run: Case = ({ waitable }) =>
          chain.reduce<Promise<unknown>>(
            (link, name, index) => steps[name]?.(link, index) ?? link,
            waitable,
          );
        const settle = SETTLEMENTS[isFailed ? 'rejected' : 'fulfilled'];
        if (settle === undefined) throw new Error('no such settlement');
        const expected = await outcomeOf(promiseSource, run, settle, isEarly);
        expect(await outcomeOf(operationSource, run, settle, isEarly)).toEqual(expected);
      }),
      { seed: SEED, numRuns: 60 },
    );
  });
});
