import type { Pagination } from '@gen/enforcement/v1/control_pb.js';

interface CursorPage {
  readonly pagination?: Pagination | undefined;
}

/** Options of an infinite query for a list with pages: the cursor of the next page is in the last one. */
export const BY_CURSOR = {
  pageParamKey: 'cursor',
  getNextPageParam: (last: CursorPage) => last.pagination?.nextCursor,
} as const;
