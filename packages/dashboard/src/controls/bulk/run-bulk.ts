/** What became of one item of a bulk action. */
export type BulkResult<T> =
  | { readonly item: T; readonly kind: 'done' }
  | { readonly item: T; readonly kind: 'failed'; readonly error: unknown }
  /** The action was stopped before its turn. */
  | { readonly item: T; readonly kind: 'not started' };

interface BulkOptions<T> {
  readonly items: readonly T[];
  readonly act: (item: T) => Promise<unknown>;
  /** Starts no further items when it is aborted. Those that run are awaited. */
  readonly signal: AbortSignal;
  /** Called after each item with the number of finished ones. */
  readonly onProgress?: (finished: number) => void;
  /** Items that run at once. */
  readonly atOnce?: number;
}

/** Acts on each item, whether others fail or not. The results are in the order of the items, one for each. */
export async function runBulk<T>(options: BulkOptions<T>): Promise<BulkResult<T>[]> {
  const { items, act, signal, onProgress, atOnce = 4 } = options;
  const results = items.map((item): BulkResult<T> => ({ item, kind: 'not started' }));
  const waiting = items.entries();
  let finished = 0;
  const work = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (signal.aborted) return;
      results[index] = await act(item).then(
        () => ({ item, kind: 'done' }) as const,
        (error: unknown) => ({ item, kind: 'failed', error }) as const,
      );
      finished += 1;
      onProgress?.(finished);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return results;
}
