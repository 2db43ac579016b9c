/** Arguments of one statement. Databases have limits for them, and each number of arguments is a statement of its own. */
const PORTION = 500;

/** The portions of a list, each but the last of this size. */
export function* portionsOf<T>(items: readonly T[], size: number): Generator<T[], void> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/** Calls `work` for portions of a list, one after another, and returns all results in order. */
export async function inPortions<T, R>(
  items: readonly T[],
  work: (portion: T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = [];
  for (const portion of portionsOf(items, PORTION)) results.push(...(await work(portion)));
  return results;
}
