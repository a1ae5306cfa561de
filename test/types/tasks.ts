// Types of tasks: what must compile, and what must not (each @ts-expect-error fails the type check
// when the line under it compiles). Nothing here runs.
// Not here: behaviour (test/scheduler, test/unit/task).
import {
  all,
  checkpoint,
  type Outcome,
  Runtime,
  race,
  sleep,
  spawn,
  type TaskGenerator,
  withTimeout,
} from '../../lib/index.ts';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_isSame: Equal<A, B>): void => {};

function* typed(text: string): TaskGenerator<number> {
  yield* checkpoint();
  yield* sleep(1);
  const child = spawn(function* () {
    yield* sleep(1);
    return 'child';
  });
  const value = yield* child.join();
  same<typeof value, string>(true);
  const pair = yield* all([child.join(), sleep(1)]);
  same<(typeof pair)[0], string>(true);
  const first = yield* race([child.join(), withTimeout(5, typed(text) as never as typeof child)]);
  void first;
  return value.length + text.length;
}

export async function compiles(): Promise<void> {
  const rt = await Runtime.start();
  const task = rt.spawn(typed, 'text');
  same<Awaited<ReturnType<typeof task.join>>, number>(true);
  const outcome: Outcome<number> = await task.settled();
  if (outcome.status === 'success') same<typeof outcome.value, number>(true);
  rt.spawn(async (count: number) => count, 1);

  // A bare yield of an operation: the star is missing.
  rt.spawn(function* (): TaskGenerator<void> {
    // @ts-expect-error
    yield sleep(1);
  });
  // @ts-expect-error arguments are those of the body
  rt.spawn(typed, 5);
  // @ts-expect-error a generator is no body: pass the function
  rt.spawn(typed('text'));
  // @ts-expect-error a task is not thenable
  task.then(() => {});
}
