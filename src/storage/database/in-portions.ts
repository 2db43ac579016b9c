/** Arguments of one statement. Databases have limits for them, and each number of arguments is a statement of its own. */
const PORTION = 500;

/** Calls `work` for portions of a list, one after another, and returns all results in order. */
export async function inPortions<T, R>(
  items: readonly T[],
  work: (portion: T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += PORTION) {
    results.push(...(await work(items.slice(at, at + PORTION))));
  }
  return results;
}
