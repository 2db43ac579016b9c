/** Items processed without a break: a few milliseconds of work, before others get their turn. */
const SLICE = 64;

/**
 * Processes every item and returns the results in the same order. A long list is processed in slices: between
 * slices the event loop serves other calls, and if `signal` is aborted by then it rejects with the reason.
 * Items of one slice may wait at the same time; the next slice waits for all of them. `work` must not fail.
 */
export function inSlices<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result | Promise<Result>,
  signal: () => AbortSignal,
): Result[] | Promise<Result[]> {
  if (items.length <= SLICE) return slice(items, work);
  return allSlices(items, work, signal());
}

async function allSlices<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result | Promise<Result>,
  signal: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += SLICE) {
    if (start > 0) await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    results.push(...(await slice(items.slice(start, start + SLICE), work)));
  }
  return results;
}

function slice<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result | Promise<Result>,
): Result[] | Promise<Result[]> {
  const results: (Result | Promise<Result>)[] = [];
  let waits = false;
  for (const item of items) {
    const result = work(item);
    if (result instanceof Promise) waits = true;
    results.push(result);
  }
  return waits ? Promise.all(results) : (results as Result[]);
}
