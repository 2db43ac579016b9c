export interface MorePages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
}

interface LoadMoreProps extends MorePages {
  readonly shown: number;
  /** A text says that it is not exact. */
  readonly total: number | string;
}

/** What loads the next rows; undefined if there are none, or they are being loaded. For the end of a table. */
export function nextPageOf({ hasNextPage, isFetchingNextPage, fetchNextPage }: MorePages) {
  return hasNextPage && !isFetchingNextPage ? fetchNextPage : undefined;
}

/** The number of rows, and a button for the next ones. */
export function LoadMore({ hasNextPage, isFetchingNextPage, fetchNextPage, shown, total }: LoadMoreProps) {
  return (
    <div className="load-more">
      <span className="muted" role="status">
        {shown.toLocaleString()} of {typeof total === 'string' ? total : total.toLocaleString()}
      </span>
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : 'Load more'}
        </button>
      )}
    </div>
  );
}
