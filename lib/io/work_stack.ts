// Work stack: items that make further items, worked off by a bounded number of async handlers.
// Owner: one call. Invariants: at most `width` handlers run; last in, first out, so that a tree is
// walked depth first and the stack stays small; after a failure no further handler starts, and the
// first failure is reported when the last handler has ended.
// Not here: cancellation (a handler's next step throws it).

/**
 * Works off `first` and all that handlers push. Rejects with the first failure.
 */
export function runWorkStack<I>(
  first: I,
  width: number,
  handle: (item: I, push: (item: I) => void) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stack: I[] = [first];
    let activeCount = 0;
    let failure: { readonly error: unknown } | undefined;
    const push = (item: I): void => {
      stack.push(item);
      startSome();
    };
    const ended = (): void => {
      activeCount--;
      startSome();
    };
    const failed = (error: unknown): void => {
      failure ??= { error };
      stack.length = 0;
      ended();
    };
    function startSome(): void {
      while (activeCount < width && failure === undefined) {
        const item = stack.pop();
        if (item === undefined) break;
        activeCount++;
        handle(item, push).then(ended, failed);
      }
      if (activeCount > 0) return;
      if (failure === undefined) resolve();
      else reject(failure.error);
    }
    startSome();
  });
}

/** Runs `handle` over `items`, at most `width` at a time. Rejects with the first failure. */
export async function forEachBounded<I>(
  items: readonly I[],
  width: number,
  handle: (item: I) => Promise<void>,
): Promise<void> {
  let nextIndex = 0;
  let failure: { readonly error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    while (nextIndex < items.length && failure === undefined) {
      try {
        await handle(items[nextIndex++]);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  if (failure !== undefined) throw failure.error;
}
