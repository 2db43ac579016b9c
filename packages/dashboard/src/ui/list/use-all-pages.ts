import { useEffect } from 'react';
import type { MorePages } from './load-more.js';

/** Loads all pages of a short list where it is needed whole, for example to be put in order. */
export function useAllPages(
  { hasNextPage, isFetchingNextPage, fetchNextPage }: MorePages,
  isNeeded: boolean,
): void {
  useEffect(() => {
    if (isNeeded && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [isNeeded, hasNextPage, isFetchingNextPage, fetchNextPage]);
}
