import type { Pagination } from '@gen/enforcement/v1/control_pb.js';
import { keepPreviousData } from '@tanstack/react-query';

interface CursorPage {
  readonly pagination?: Pagination | undefined;
}

/** Part of a request for a list with pages: the first of them. */
export const FIRST_PAGE = { cursor: undefined, limit: 50 } as const;

/** Options of an infinite query for a list with pages: the cursor of the next page is in the last one. */
export const BY_CURSOR = {
  pageParamKey: 'cursor',
  getNextPageParam: (last: CursorPage) => last.pagination?.nextCursor,
} as const;

/** The same for a list with filters: it stays until that with other filters is there. */
export const FILTERED_BY_CURSOR = { ...BY_CURSOR, placeholderData: keepPreviousData } as const;
