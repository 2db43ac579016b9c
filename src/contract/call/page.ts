/** Which page of a list is asked for. */
export interface PageAsked<Cursor> {
  /** Only what is after it in the order of the list; null for the first page. */
  readonly cursor: Cursor | null;
  /** Most rows of the page, at least 1. */
  readonly limit: number;
}

/** One page of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Number of rows that pass the filters, on all pages. */
  readonly total: number;
  readonly hasMore: boolean;
}

/** The page of the rows after a cursor, of which one more than `limit` is found if there are more. */
export function pageOf<Row>(found: readonly Row[], limit: number, total: number): Page<Row> {
  return { rows: found.slice(0, limit), total, hasMore: found.length > limit };
}

/** The member `pagination` of a reply with a page. The cursor of the next one is made of the last row: its id, if not told. */
export function paginationOf(page: Page<{ readonly id: number }>, limit: number): Pagination;
export function paginationOf<Row>(page: Page<Row>, limit: number, cursorOf: (row: Row) => string): Pagination;
export function paginationOf<Row>(
  { rows, total, hasMore }: Page<Row>,
  limit: number,
  cursorOf = (row: Row) => String((row as { readonly id: number }).id),
): Pagination {
  const last = rows.at(-1);
  const next = hasMore && last !== undefined ? cursorOf(last) : null;
  return { limit, total, next_cursor: next, has_more: hasMore };
}

/** Where a page stands in its list, as replies tell it. */
export interface Pagination {
  readonly limit: number;
  readonly total: number;
  /** Null on the last page. */
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}
